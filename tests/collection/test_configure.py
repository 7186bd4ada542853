"""Where settings come from, which of them wins, and what is said of those that are wrong."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.collection.configure import (
    check_file,
    configure,
    difference,
    read_file,
    remember_contact,
)
from gossamer.errors import SettingsError, UsageError
from gossamer.settings import KEYS, Settings, describe, values_of, with_values

KEY = "fetch.connections"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory of its own, with a collection in it."""
    (tmp_path / "study").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def connections(here: Path, flag: int | None = None, env: dict[str, str] | None = None) -> object:
    flags = {} if flag is None else {KEY: flag}
    found = configure(
        here / "study", flags, {"GOSSAMER_CONFIG": str(here / "user.toml"), **(env or {})}
    )
    return found.settings.fetch.connections, found.origin.get(KEY)


def test_each_source_wins_over_those_below_it(here: Path) -> None:
    below = [connections(here)]
    (here / "user.toml").write_text("[fetch]\nconnections = 1\n")
    below.append(connections(here))
    (here / "pyproject.toml").write_text("[tool.gossamer.fetch]\nconnections = 2\n")
    below.append(connections(here))
    (here / "gossamer.toml").write_text("[fetch]\nconnections = 3\n")
    below.append(connections(here))
    (here / "study" / "gossamer.toml").write_text("[fetch]\nconnections = 4\n")
    below.append(connections(here))
    env = {"GOSSAMER_FETCH_CONNECTIONS": "5"}
    below.append(connections(here, env=env))
    below.append(connections(here, 6, env))

    assert below == [
        (256, None),
        (1, str(here / "user.toml")),
        (2, "pyproject.toml"),
        (3, "gossamer.toml"),
        (4, str(here / "study" / "gossamer.toml")),
        (5, "GOSSAMER_FETCH_CONNECTIONS"),
        (6, "command line"),
    ]


def test_a_stored_crawl_stands_above_the_defaults_and_below_all_else(here: Path) -> None:
    stored = with_values(Settings(), {KEY: 9, "scope.depth": 2})
    (here / "gossamer.toml").write_text("[fetch]\nconnections = 3\n")

    found = configure(here / "study", {}, {"GOSSAMER_CONFIG": str(here / "none")}, base=stored)

    assert (found.settings.fetch.connections, found.settings.scope.depth) == (3, 2)
    assert found.origin == {KEY: "gossamer.toml", "scope.depth": "the stored crawl"}


def test_a_pyproject_of_another_project_is_left_alone(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.other]\nconnections = 2\n")

    assert connections(here) == (256, None)


@pytest.mark.parametrize(
    ("text", "line", "key", "nearest"),
    [
        ("[politeness]\n\nhost_delay = 1\n", 3, "politeness.host_delay", "politeness.host_delay_s"),
        ("[politnes]\nhost_delay_s = 1\n", 2, "politnes.host_delay_s", "politeness.host_delay_s"),
        ("politeness.host_dely_s = 1\n", 1, "politeness.host_dely_s", "politeness.host_delay_s"),
        ("# x\nhost_delay_s = 1\n", 2, "host_delay_s", "politeness.host_delay_s"),
        ("[scope]\ndepth = 1\n[fetch]\ndepth = 2\n", 4, "fetch.depth", ""),
        ("[fetch]\n'conections' = 2\n", 2, "fetch.conections", "fetch.connections"),
        ("\n[ fetch ]\nmax = 2\n", 3, "fetch.max", "fetch.max"),
        ("[fetchs]\n", 1, "fetchs", "fetch"),
        ("[fetch]\n[fetch.ports]\na = 1\n[fetch.x]\nb = 1", 4, "fetch.x", ""),
    ],
)
def test_an_unknown_key_is_named_with_file_line_and_nearest_key(
    tmp_path: Path, text: str, line: int, key: str, nearest: str
) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text(text)

    with pytest.raises(SettingsError) as told:
        check_file(file)

    message = str(told.value)
    assert message.startswith(f"{file}, line {line}: {key} is not a setting"), message
    assert not nearest or f"did you mean {nearest}" in message
    assert told.value.exit_code == 2


def test_a_key_of_the_same_name_in_another_table_of_a_pyproject_is_not_meant(
    tmp_path: Path,
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(
        "fetch = 1\n[tool.other.fetch]\nconections = 1\n[tool.gossamer.fetch]\nconections = 3\n"
    )

    with pytest.raises(SettingsError, match=r"line 5: fetch\.conections"):
        read_file(file)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[fetch]\nconnections = 'many'\n", 2, "must be a whole number"),
        ("[fetch]\n\nconnections = 0\n", 3, "must be at least 1"),
        ("[fetch]\nconnections = 5000\n", 2, "must be at most 4096"),
        ("[fetch]\nconnections = true\n", 2, "must be a whole number"),
        ("[fetch]\nheaders = 'X: y'\n", 2, "must be a list of texts"),
        ("[fetch]\nports = ['80']\n", 2, "must be a list of numbers"),
        ("[scope]\nkind = 'planet'\n", 2, "one of page, prefix, host"),
        ("[node]\ngraph = 'yes'\n", 2, "must be true or false"),
        ("fetch = { connections = 0 }\n", 1, "at least 1"),
        ("[politeness]\nhost_delay_s = nan\n", 2, "finite"),
        ("[politeness]\nhost_delay_s = 2026-01-01\n", 2, "must be a number"),
        ("fetch = 3\n", 1, "write [fetch]"),
        ("x = 1\n", 1, "is not a setting"),
        ("[[fetch]]\nconnections = 3\n", 1, "write [fetch]"),
    ],
)
def test_a_wrong_value_is_named_with_its_line_and_what_is_wanted(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text(text)

    with pytest.raises(SettingsError) as told:
        check_file(file)

    assert f"{file}, line {line}: " in str(told.value)
    assert problem in str(told.value)


def test_a_wrong_value_is_named_when_a_crawl_is_configured_too(here: Path) -> None:
    (here / "gossamer.toml").write_text("[fetch]\nconnections = 0\n")

    with pytest.raises(SettingsError, match=r"gossamer.toml, line 2: fetch.connections is 0"):
        connections(here)


@pytest.mark.parametrize("text", ["[fetch\n", "[fetch]\nconnections = \n", "a = 1\na = 2\n", "\0"])
def test_what_is_no_toml_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text(text)

    with pytest.raises(UsageError, match=r"gossamer.toml: .*line \d") as told:
        read_file(file)

    assert not isinstance(told.value, SettingsError)


def test_what_is_no_text_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_bytes(b"\xff\xfe[")

    with pytest.raises(UsageError, match="cannot read"):
        read_file(file)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_bytes(b"\xef\xbb\xbf[fetch]\nconnections = 7\n")

    assert read_file(file) == {KEY: 7}


def test_lists_become_settings(tmp_path: Path) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text("[fetch]\nports = [80, 443]\ntypes = ['html', 'pdf']\n")

    settings = with_values(Settings(), read_file(file))

    assert (settings.fetch.ports, settings.fetch.types) == ((80, 443), ("html", "pdf"))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("GOSSAMER_FETCH_CONNECTIONS", "many", "must be a whole number"),
        ("GOSSAMER_FETCH_CONNECTIONS", "0", "must be at least 1"),
        ("GOSSAMER_NODE_GRAPH", "maybe", "must be true or false"),
        ("GOSSAMER_FETCH_PORTS", "80,http", "must be a list of numbers"),
        ("GOSSAMER_FETCH_CONECTIONS", "3", "did you mean GOSSAMER_FETCH_CONNECTIONS"),
    ],
)
def test_a_wrong_variable_is_named(here: Path, name: str, value: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem) as told:
        connections(here, env={name: value})

    assert name in str(told.value)


def test_variables_have_the_types_of_their_settings(here: Path) -> None:
    env = {
        "GOSSAMER_FETCH_PORTS": "80, 443",
        "GOSSAMER_NODE_GRAPH": "no",
        "GOSSAMER_POLITENESS_HOST_DELAY_S": "2",
        "GOSSAMER_SCOPE_KIND": "site",
        "GOSSAMER_COLLECTION": "elsewhere",
        "GOSSAMER_CONFIG": str(here / "none"),
    }

    settings = configure(here / "study", {}, env).settings

    assert settings.fetch.ports == (80, 443)
    assert settings.node.graph is False
    assert settings.politeness.host_delay_s == 2.0
    assert settings.scope.kind == "site"


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_can_be_given_in_a_file(tmp_path: Path, key: str) -> None:
    section, name = key.split(".")
    default = describe(key)[1]
    file = tmp_path / "gossamer.toml"
    value = list(default) if isinstance(default, tuple) else default
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    file.write_text(f"[{section}]\n{name} = {text}\n")

    assert with_values(Settings(), read_file(file)) == Settings()


@pytest.mark.parametrize(
    "before",
    [
        "",
        "[politeness]\nhost_delay_s = 2.0\n",
        "[fetch]\nconnections = 3\n",
        "[fetch]\ncontact = ''  # none yet\nconnections = 3\n",
        "# mine\n[fetch]  # asking\n[scope]\ndepth = 1\n",
        "fetch.connections = 3\nfetch.contact = 'x'\n",
    ],
)
def test_a_contact_is_remembered_and_the_rest_kept(tmp_path: Path, before: str) -> None:
    file = tmp_path / "deep" / "user.toml"
    file.parent.mkdir()
    file.write_text(before)
    expected = tomllib.loads(before)
    expected.setdefault("fetch", {})["contact"] = 'A "B" <a@b.example>\\'

    path = remember_contact('A "B" <a@b.example>\\', {"GOSSAMER_CONFIG": str(file)})

    assert tomllib.loads(path.read_text()) == expected
    check_file(path)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=30))
def test_any_contact_can_be_remembered(contact: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = remember_contact(contact, {"GOSSAMER_CONFIG": f"{folder}/user.toml"})

        assert read_file(path) == {"fetch.contact": contact}


def test_a_difference_names_both_values() -> None:
    other = with_values(Settings(), {KEY: 3})

    assert difference(Settings(), other) == {KEY: (256, 3)}
    assert difference(other, other) == {}
    assert set(values_of(other)) == set(KEYS)


@pytest.mark.parametrize("name", ["command", "webhook"])
def test_a_collection_brings_no_command_and_no_webhook_along(here: Path, name: str) -> None:
    env = {"GOSSAMER_CONFIG": str(here / "user.toml")}
    text = f'[watch]\n{name} = "https://a.example/"\n'
    (here / "gossamer.toml").write_text(text)
    (here / "user.toml").write_text(text)
    assert getattr(configure(here / "study", {}, env).settings.watch, name)

    (here / "study" / "gossamer.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        configure(here / "study", {}, env)

    assert f"watch.{name} cannot be set in the file of a collection" in str(caught.value)
    assert str(here / "user.toml") in str(caught.value)
