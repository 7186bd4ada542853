"""`gossamer search`: what is shown, to people and to programs, and what is wrong with a query."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from search.small_collection import build, entry
from support.killing import typed


@pytest.fixture
def home(tmp_path: Path) -> Path:
    pages = [
        entry("rose", "The rose garden is open.", title="Roses"),
        entry("tulip", "A tulip \x1b[31m garden\x07.", title="Tulips\x1b[2J"),
    ]
    return build(tmp_path, pages)


def test_json_has_the_documented_form(home: Path) -> None:
    ended = typed("search", "-c", home, "--json", "rose garden")

    found = json.loads(ended.out)
    assert ended.code == 0
    assert (found["schema"], found["total"], len(found["hits"])) == (1, 2, 2)
    assert found["took_ms"] > 0
    assert set(found["hits"][0]) == {"url", "title", "snippet", "score", "fetched_at", "copies"}
    assert found["hits"][0]["url"] == "http://a.example/rose"
    assert found["hits"][0]["snippet"] == "The rose garden is open."


def test_hits_are_good_to_read_and_harmless_to_a_terminal(home: Path) -> None:
    ended = typed("search", "-c", home, "tulip", "garden")

    assert ended.out.startswith("1. Tulips [2J\n   http://a.example/tulip\n   A tulip  [31m garden")
    assert "\x1b" not in ended.out
    assert "\x07" not in ended.out
    assert ended.err.startswith("2 pages in ")


def test_what_programs_read_is_utf_8_whatever_the_locale_is(tmp_path: Path) -> None:
    home = build(tmp_path, [entry("amt", "Grüße vom Amt", title="Ämter")])
    poor = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "gossamer", "search", "-c", str(home), "Amt"]

    shown = subprocess.run(words, env=poor, capture_output=True, check=True).stdout
    told = subprocess.run([*words, "--json"], env=poor, capture_output=True, check=True).stdout

    assert shown.decode().startswith("1. Ämter\n")
    assert json.loads(told)["hits"][0]["title"] == "Ämter"


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-"])
def test_streams_that_the_shell_closed_lead_nowhere(home: Path, closed: str) -> None:
    words = shlex.join([sys.executable, "-m", "gossamer", "search", "-c", str(home), "tulip"])

    ended = subprocess.run(["sh", "-c", f"exec {words} {closed}"], capture_output=True, check=False)

    assert ended.returncode == 0
    assert ended.stdout.startswith(b"1. Tulips") == (closed != "1>&-")
    assert ended.stderr.startswith(b"1 page in ") == (closed != "2>&-")


def test_a_damaged_index_is_told_in_one_sentence(home: Path) -> None:
    for path in home.glob("index/g*/words/*.idx"):
        path.write_bytes(b"junk\n")
    words = [sys.executable, "-m", "gossamer", "search", "-c", str(home), "rose"]

    ended = subprocess.run(words, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("gossamer: ")
    assert "gossamer rebuild index" in ended.stderr


def test_flags_choose_among_the_hits(home: Path) -> None:
    def total(*flags: str) -> int:
        ended = typed("search", "-c", home, "--json", "garden", *flags)
        return int(json.loads(ended.out)["total"])

    assert total("--site", "a.example", "--type", "html", "--lang", "en", "--since", "2026") == 2
    assert total("--site", "b.example") == total("--since", "2026-02") == 0


def test_limit_and_offset_page_through(home: Path) -> None:
    pages = [
        typed("search", "-c", home, "--limit", "1", "--offset", str(n), "garden").out
        for n in range(3)
    ]

    assert [page[:2] for page in pages] == ["1.", "2.", ""]


def test_explain_says_what_a_score_is_made_of(home: Path) -> None:
    shown = typed("search", "-c", home, "--explain", "roses").out
    parts = json.loads(typed("search", "-c", home, "--explain", "--json", "roses").out)

    assert "score 1." in shown
    assert ": words 1, body " in shown
    assert set(parts["hits"][0]["parts"]) >= {"words", "body", "title", "anchors", "link rank"}


def test_nothing_found_suggests_what_was_meant(home: Path) -> None:
    ended = typed("search", "-c", home, "gardne")

    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines()[1] == "Did you mean: garden"


def test_how_a_query_was_read_is_one_line_on_stderr_and_a_field_in_json(home: Path) -> None:
    ended = typed("search", "-c", home, 'rose "garden')
    told = json.loads(typed("search", "-c", home, "--json", 'rose "garden').out)
    plain = json.loads(typed("search", "-c", home, "--json", "rose garden").out)

    hint = 'A quotation mark (") is not closed. Read as: rose garden'
    assert ended.code == 0
    assert ended.out.startswith("1. Roses")
    assert ended.err.splitlines()[1:] == [f"Hint: {hint}"]
    assert told["hint"] == hint
    assert "hint" not in plain


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["--settings"], 0, "Read as: settings"),
        (["noteOn(int,", "int)"], 0, 'Read as: "noteon int" int'),
        (["title:", "rose"], 0, "Read as: title rose"),
        (["OR"], 0, "Read as: or"),
        (["\\"], 0, "no word to search for"),
        ([""], 0, "no word to search for"),
        (["garden", "type:pdff"], 0, "Types in this collection: html, text/html."),
        (["garden", "--type", "pdff"], 0, "Types in this collection: html, text/html."),
        (["garden", "lang:english"], 0, "Languages in this collection: en."),
        (["garden", "site:b.example"], 0, "Sites in this collection: a.example."),
        (["garden", "since:yesterday"], 0, "fetched from 2026-01-01 to 2026-01-01."),
        (["garden", "--limt", "1"], 0, "Did you mean --limit?"),
        (["garden", "--limit"], 2, "requires an argument"),
    ],
)
def test_an_ordinary_query_is_no_error(home: Path, words: list[str], code: int, hint: str) -> None:
    ended = typed("search", "-c", home, *words)

    assert ended.code == code
    assert hint in ended.err
    assert "Traceback" not in ended.err


def test_a_word_with_a_dash_is_excluded_and_never_a_flag(home: Path) -> None:
    def titles(*words: str | Path) -> str:
        ended = typed("search", "--json", *words)
        return " ".join(hit["title"] for hit in json.loads(ended.out)["hits"])

    assert titles("-c", home, "garden", "-rose") == "Tulips\x1b[2J"
    assert titles("-c", home, "garden", "-cats", "-rose").startswith("Tulips")
    assert titles("garden", f"-c{home}", "-tulip") == "Roses"
    assert titles("--limit=1", f"--collection={home}", "--", "garden", "-tulip") == "Roses"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--limit", "0"], "limit is 0"),
        (["--sort", "size"], "relevance or date"),
        (["--since", "soon"], "since takes a day"),
        (["--per-site", "-1"], "at least 0"),
    ],
)
def test_a_flag_that_cannot_be_used_is_told(home: Path, flags: list[str], words: str) -> None:
    ended = typed("search", "-c", home, *flags, "rose")

    assert ended.code == 2
    assert words in ended.err


def test_without_a_collection_it_is_said_how_to_start_one(tmp_path: Path) -> None:
    ended = typed("search", "-c", tmp_path / "none", "rose")

    assert ended.code == 1
    assert "gossamer crawl" in ended.err
