"""With `--json` a failure is an object, too: scripts read one thing, whatever happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.killing import typed
from support.rows import each_row

HERE = "http://127.0.0.1:8/"


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


FAILURES: dict[str, tuple[list[str], int, str]] = {
    "no collection": (["status", "--json"], 1, "no collection"),
    "no running crawl": (["pause", "-c", "nowhere", "--json"], 1, "no collection"),
    "a setting out of range": (["crawl", "--depth", "-7", HERE, "--json"], 2, "--depth"),
    "an unknown flag": (["crawl", "--dpeth", "2", HERE, "--json"], 2, "--depth"),
    "no number": (["top", "--limit", "many", "--json"], 2, "--limit"),
    "a host that nobody knows": (["crawl", "http://x.invalid/", "--json"], 3, "x.invalid"),
    "no contact": (["crawl", "http://93.184.216.34/", "--json"], 2, "--user-agent-contact"),
    "a verb without --json": (["clear", "--json"], 2, "--json"),
    "no such page": (["page", HERE, "--json"], 1, "no collection"),
}


@each_row("name", FAILURES)
def test_a_failure_is_one_object_on_stdout_and_a_sentence_on_stderr(name: str) -> None:
    words, code, says = FAILURES[name]

    ended = typed(*words)

    found: dict[str, Any] = json.loads(ended.out)
    assert ended.code == code
    assert found["schema"] == 1
    assert found["exit_code"] == code
    assert says in found["error"]
    assert "\n" not in found["error"]
    assert found["error"] in ended.err
    assert "Traceback" not in ended.err


def test_without_the_flag_stdout_stays_empty() -> None:
    assert typed("status").out == ""
    assert typed("search", "--", "--json").out == ""  # a word to search for
