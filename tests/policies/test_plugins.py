"""Plug-ins by entry points: found by name, loaded when asked for, and never a traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gossamer.errors import PluginError, SettingsError
from gossamer.plugins import EXPORT, ORDER, load_plugin, plugin_names
from gossamer.policies.classifier import ClassifierInput, classifier_named
from gossamer.policies.named_order import order_named
from gossamer.policies.order import BreadthFirst, Candidate
from gossamer.settings import Settings, with_values
from support.plugins import example_installed, installed, on_path, write_metadata

ORDER_CODE = """
class Order:
    uses_link_counts = False
    is_newest_first = False
    revision = 0
    def score(self, candidate):
        {body}
"""


def test_the_example_is_found_by_the_names_of_its_plug_ins(tmp_path: Path) -> None:
    assert "short" not in plugin_names(ORDER)

    with example_installed(tmp_path):
        assert "short" in plugin_names(ORDER)
        order = order_named("short")

        assert order.score(Candidate("http://a.example/", 7)) == len("http://a.example/")


def test_nothing_is_imported_until_a_plug_in_is_asked_for(tmp_path: Path) -> None:
    code = "raise RuntimeError('imported')"

    with installed(tmp_path, "a-loud-package", {ORDER: {"loud": "a_loud_package:Order"}}, code):
        assert "loud" in plugin_names(ORDER)
        assert isinstance(order_named("breadth"), BreadthFirst)
        assert "a_loud_package" not in sys.modules


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = (", "SyntaxError"),
        ("Other = 1", "has no attribute 'Order'"),
        ("Order = 1", "'int' object is not callable"),
        ("def Order():\n    raise ValueError('two\\nlines')", "ValueError: two lines"),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_is_one_sentence_with_its_package(
    tmp_path: Path, code: str, told: str
) -> None:
    with (
        installed(tmp_path, "a-bad-package", {ORDER: {"bad": "a_bad_package:Order"}}, code),
        pytest.raises(PluginError) as fault,
    ):
        order_named("bad")

    said = str(fault.value)
    assert said.startswith("the order 'bad' of a-bad-package 1.0 cannot be loaded (")
    assert told in said
    assert said.endswith("; update or uninstall it")
    assert "\n" not in said


def test_a_plug_in_of_the_wrong_type_is_told_what_it_lacks(tmp_path: Path) -> None:
    code = "class Order:\n    revision = 0\n    is_newest_first = False\n"
    groups = {ORDER: {"half": "a_half_package:Order"}}

    with (
        installed(tmp_path, "a-half-package", groups, code),
        pytest.raises(
            PluginError,
            match=r"'half' of a-half-package 1\.0 is incomplete: it has no score, uses_link_counts",
        ),
    ):
        order_named("half")


def test_a_name_that_two_packages_offer_is_refused_with_both(tmp_path: Path) -> None:
    groups = {ORDER: {"same": "nowhere:Order"}}
    write_metadata(tmp_path, "package-one", groups)
    write_metadata(tmp_path, "package-two", groups, "2.5")

    with (
        on_path(tmp_path),
        pytest.raises(PluginError, match=r"offered by package-one 1\.0 and package-two 2\.5;"),
    ):
        order_named("same")


def test_a_name_that_nobody_offers_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with (
        example_installed(tmp_path),
        pytest.raises(PluginError, match=r"no export format is called 'x'; installed are: .*urls"),
    ):
        load_plugin(EXPORT, "x", ())


@pytest.mark.parametrize(
    ("body", "told"),
    [("return candidate.no_such_fact", "no_such_fact"), ("return 'first'", "invalid literal")],
)
def test_an_order_that_fails_is_named_with_the_url(tmp_path: Path, body: str, told: str) -> None:
    groups = {ORDER: {"frail": "a_frail_package:Order"}}

    with installed(tmp_path, "a-frail-package", groups, ORDER_CODE.format(body=body)):
        order = order_named("frail")
        with pytest.raises(PluginError, match=told) as fault:
            order.score(Candidate("http://a.example/x", 0))

    assert "of a-frail-package 1.0 failed to score http://a.example/x" in str(fault.value)


def test_a_setting_takes_the_name_of_an_installed_order_and_no_other(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="or the name of an installed plug-in"):
        with_values(Settings(), {"frontier.order": "short"})

    with example_installed(tmp_path):
        assert with_values(Settings(), {"frontier.order": "short"}).frontier.order == "short"


def test_a_classifier_labels_a_page_with_numbers_from_0_to_1(tmp_path: Path) -> None:
    with example_installed(tmp_path):
        classifier = classifier_named("long")

        assert classifier.classify(ClassifierInput("http://a.example/", text="x" * 5_000)) == {
            "long": 0.5
        }
        assert classifier.classify(ClassifierInput("http://a.example/")) == {"long": 0.0}


def test_a_classifier_that_fails_is_named_with_the_page(tmp_path: Path) -> None:
    code = "class C:\n    def classify(self, page):\n        return {'label': 'much'}\n"
    groups = {"gossamer.classifier": {"odd": "an_odd_package:C"}}

    with (
        installed(tmp_path, "an-odd-package", groups, code),
        pytest.raises(PluginError, match=r"'odd' of an-odd-package 1\.0 failed to classify http"),
    ):
        classifier_named("odd").classify(ClassifierInput("http://a.example/"))
