"""`gossamer config`: every fault of a file in a line of its own, and what editors need."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gossamer.settings import KEYS, Settings, values_of
from support.killing import typed


def test_each_fault_has_its_line_its_key_and_the_nearest_one(tmp_path: Path) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_text(
        "[fetch]\nconections = 3\ntypes = ['hmtl']\n\n[politnes]\nhost_delay_s = 1\n"
        "[scope]\ndepth = -7\nkind = 'world'\n"
    )

    ended = typed("config", "check", file)

    assert (ended.code, ended.out) == (2, "")
    lines = ended.err.splitlines()
    expected = [
        (2, "fetch.conections is not a setting; did you mean fetch.connections?"),
        (6, "politnes.host_delay_s is not a setting; did you mean politeness.host_delay_s?"),
        (8, "scope.depth is -7, but it must be at least -1"),
        (9, "scope.kind is 'world', but it must be one of page"),
        (3, "fetch.types names 'hmtl'"),
    ]
    assert len(lines) == len(expected)
    for line, (number, said) in zip(lines, expected, strict=True):
        assert line.startswith(f"gossamer: {file}, line {number}: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [\n", "Invalid value"),
        ("[scope]\ninclude = ['re:(']\n", "not a regular expression"),
        ("[fetch]\nlogins_file = '/nowhere'\n", "cannot be read"),
        ("[fetch]\nheaders = 'Authorization: geheim'\n", "a list of texts"),
        ("fetch = 3\n", "is a section"),
    ],
)
def test_other_faults_are_named_too(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)

    ended = typed("config", "check", file)

    assert ended.code == 2
    assert said in ended.err
    assert str(file) in ended.err
    assert "geheim" not in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_right_file_is_right(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text("[fetch]\nconnections = 3\n")

    assert typed("config", "check", file).err == f"{file} is valid.\n"


def test_the_schema_has_every_setting_with_its_default_and_limits() -> None:
    found = json.loads(typed("config", "schema").out)

    sections = found["properties"]
    for key, default in values_of(Settings()).items():
        section, name = key.split(".")
        told = sections[section]["properties"][name]
        assert told["default"] == json.loads(json.dumps(default))
        assert told["description"]
        assert "enum" in told or told["type"] in (
            "string", "integer", "number", "boolean", "array"
        )  # fmt: skip
    assert sum(len(each["properties"]) for each in sections.values()) == len(KEYS)
    depth = sections["scope"]["properties"]["depth"]
    assert (depth["type"], depth["minimum"]) == ("integer", -1)
    assert found["additionalProperties"] is False


def test_secrets_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_FETCH_HEADERS", "Authorization: geheim")
    monkeypatch.setenv("GOSSAMER_FETCH_PROXY", "http://me:geheim@p.example")

    for more in ((), ("--json",), ("--origin",)):
        shown = typed("config", "show", "-c", tmp_path / "none", *more).out
        assert "Authorization: (not kept)" in shown
        assert "geheim" not in shown
