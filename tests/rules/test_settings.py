"""Every setting explains itself, and a wrong one is named in a way that helps."""

from dataclasses import fields
from typing import Any

import pytest

from gossamer.errors import SettingsError
from gossamer.settings import (
    KEYS,
    SECTIONS,
    Politeness,
    Section,
    Settings,
    check_value,
    describe,
    key_of,
    name_of_type,
    parse_value,
    type_of,
    values_of,
    with_values,
)
from support.rows import each_row

NUMBERS = [key for key in KEYS if describe(key)[0] in (int, float)]


@each_row("key", KEYS)
def test_every_setting_says_what_it_is_for(key: str) -> None:
    kind, default, told = describe(key)

    assert told.endswith("."), key
    assert told[0].isupper(), key
    assert name_of_type(kind)
    assert with_values(Settings(), {key: default}) == Settings()


@each_row("section", SECTIONS)
def test_every_default_is_a_value_that_is_allowed(section: type[Section]) -> None:
    for f in fields(section):  # type: ignore[arg-type]  # every section is a dataclass
        check_value(key_of(section, f), f.default, f, type_of(section, f))


@each_row("section", SECTIONS)
def test_every_section_names_its_table_and_says_what_it_holds(section: type[Section]) -> None:
    table, _, told = (section.__doc__ or "").partition(" ")

    assert table == f"[{section.__name__.lower()}]"
    assert told.endswith(".")


@each_row("section", SECTIONS)
def test_a_name_that_ends_in_a_unit_is_a_number(section: type[Section]) -> None:
    for f in fields(section):  # type: ignore[arg-type]  # every section is a dataclass
        if f.name.endswith(("_s", "_bytes", "_mb", "_chars")):
            assert isinstance(f.default, int | float), f.name


@each_row("key", NUMBERS)
def test_every_number_has_a_lower_limit_that_is_kept(key: str) -> None:
    with pytest.raises(SettingsError) as refused:
        with_values(Settings(), {key: -(10**12)})

    assert str(refused.value).startswith(f"{key} is -1000000000000, but it must be at least ")


def test_a_bad_value_is_named_with_its_key_and_limit() -> None:
    with pytest.raises(
        SettingsError, match=r"^politeness\.host_delay_s is -1\.0, but it must be at least 0$"
    ):
        Politeness(host_delay_s=-1.0)
    with pytest.raises(SettingsError, match=r"fetch\.max_redirects is 51, .* at most 50"):
        with_values(Settings(), {"fetch.max_redirects": 51})


@each_row(
    ("key", "value"),
    [
        ("politeness.host_delay_s", "1"),
        ("politeness.host_delay_s", True),
        ("politeness.host_delay_s", float("nan")),
        ("politeness.per_host", 1.5),
        ("politeness.per_host", None),
        ("frontier.avoid_unsafe", 1),
        ("frontier.order", "sideways"),
        ("fetch.ports", ("80",)),
        ("scope.include", "*"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_key(key: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=rf"^{key} is "):
        with_values(Settings(), {key: value})


@each_row(
    ("wrong", "meant"),
    [
        ("politeness.host_delay", "politeness.host_delay_s"),
        ("politness.host_delay_s", "politeness.host_delay_s"),
        ("limits.max_page", "limits.max_pages"),
        ("frontier.ordr", "frontier.order"),
    ],
)
def test_an_unknown_key_names_the_nearest_real_one(wrong: str, meant: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{wrong} is not a setting; did you mean {meant}\?$"):
        with_values(Settings(), {wrong: 1})


def test_a_key_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(SettingsError, match=r"^xyzzy is not a setting$"):
        with_values(Settings(), {"xyzzy": 1})


@each_row("key", KEYS)
def test_a_default_written_as_text_is_read_back(key: str) -> None:
    default = values_of(Settings())[key]
    written = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)

    assert parse_value(key, written) == default


@each_row("key", NUMBERS)
def test_text_that_is_no_number_is_refused_with_its_key(key: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{key} is 'many', but it must be a"):
        parse_value(key, "many")
