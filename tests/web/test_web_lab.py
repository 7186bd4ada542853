"""Results of experiments on the web page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.lab.experiment import Experiment, LabPlot, LabTable
from gossamer.lab.output.files import write_experiment
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from web.a_browser import Browser, Served, served

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def tried(tmp_path: Path) -> Iterator[Served]:
    with site_in_thread({"/": page("x")}) as site:
        crawl(tmp_path / "c", [site.url()])
    made = served(tmp_path / "c")
    yield made
    made.context.collections.close()


def result(name: str = "best") -> Experiment:
    table = LabTable("Areas", ("order", "area"), [[name, 0.75]])
    plot = LabPlot("Mass", "pages", "rank", {name: [(0.0, 0.0), (1.0, 1.0)]})
    return Experiment("order", f"Orders {name}", {}, "sha256:ab", {}, [table], [plot])


def test_without_results_the_page_says_how_to_make_one(tried: Served) -> None:
    assert "gossamer lab order" in Browser(tried).get("/lab").text


def test_results_are_listed_and_drawn(tried: Served, tmp_path: Path) -> None:
    write_experiment(result(), tmp_path / "c" / "lab" / "orders.json")
    write_experiment(result("second"), tmp_path / "c" / "lab" / "zwei.json")

    first, second = (Browser(tried).get("/lab", **words).text for words in ({}, {"result": "zwei"}))

    assert "<polyline" in first
    assert "0.750" in first
    assert "zwei" in first
    assert "Orders second" in second


def test_texts_of_a_result_are_shown_as_text(tried: Served, tmp_path: Path) -> None:
    write_experiment(result(EVIL), tmp_path / "c" / "lab" / "orders.json")

    shown = Browser(tried).get("/lab").text

    assert EVIL not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"experiment": 3}', b"\xff\xfe"])
def test_a_file_that_is_no_result_is_refused(
    tried: Served, tmp_path: Path, content: bytes
) -> None:  # fmt: skip
    (tmp_path / "c" / "lab").mkdir()
    (tmp_path / "c" / "lab" / "bad.json").write_bytes(content)

    answered = Browser(tried).get("/lab", result="bad")

    assert answered.status_code == 400
    assert "cannot be read" in answered.text


@pytest.mark.parametrize("name", ["../../etc/passwd", "none", "..", "a/b"])
def test_only_results_of_the_collection_can_be_named(tried: Served, name: str) -> None:
    assert Browser(tried).get("/lab", result=name).status_code == 400
