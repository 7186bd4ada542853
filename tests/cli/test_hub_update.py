"""`gossamer hub keys`, `offer` and `enlist` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.killing import typed
from support.updates import small_file


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "hub"
    monkeypatch.setenv("GOSSAMER_HUB", str(path))
    return path


def test_keys_are_made_and_a_version_is_offered(hub: Path, tmp_path: Path) -> None:
    root, file = tmp_path / "root.pem", small_file(tmp_path, "1.1")

    made = typed("hub", "keys", "init", root)
    offered = typed("hub", "offer", file, "--json")
    shown = typed("hub", "offer", "--show")
    again = typed("hub", "offer", file)
    turned = typed("hub", "keys", "rotate", root, "--online")

    assert (made.code, offered.code, shown.code, turned.code) == (0, 0, 0, 0)
    assert f"The root key is in {root}. Take it away" in made.err
    assert json.loads(offered.out)["version"] == "1.1"
    assert shown.err.startswith("Version 1.1 for Python 3.")
    assert again.code == 2
    assert "version 1.1 is on offer, and units do not go back" in again.err
    assert "Version 2 of the root is published" in turned.err


def test_without_keys_nothing_can_be_offered(hub: Path, tmp_path: Path) -> None:
    ended = typed("hub", "offer", small_file(tmp_path, "1.1"))

    assert ended.code == 2
    assert "make them with `gossamer hub keys init FILE`" in ended.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bundle", "--platform", "vax"], "'vax' is not a known platform"),
        (["bundle", "--python", "three"], "'three' is not a version of Python"),
        (["bundle", "--version", "new"], "'new' is not a version; write up to four numbers"),
        (["enlist", "-oProxyCommand=x", "--code", "c"], "No such option"),
        (["enlist", "a b"], "'a b' is not the name of a machine"),
        (["enlist", "host", "--user", "-x"], "'-x' is not the name of a user"),
        (["keys", "rotate", "nothing.pem"], "the hub has no keys yet"),
    ],
)
def test_wrong_words_give_one_sentence(hub: Path, words: list[str], sentence: str) -> None:
    ended = typed("hub", *words)

    assert ended.code == 2
    assert sentence in ended.err
    assert ended.err.count("\n") == 1
