"""What strangers wrote, on a terminal."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from gossamer.cli import main
from gossamer.cli.show.printable import printable
from support.a_crawl import crawl
from support.a_site import page, robots, site_in_thread
from support.rows import each_row

ESCAPE = "\x1b[31m"


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr("sys.argv", ["gossamer", *words])
    with pytest.raises(SystemExit):
        main.run()


@each_row(
    ("written", "shown"),
    [
        ("plain ümlaut 漢字", "plain ümlaut 漢字"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        (f"{ESCAPE}red", "\\x1b[31mred"),
        ("\r\x07\x7f\x9b", "\\r\\x07\\x7f\\x9b"),
        ("turned \u202eround", "turned \\u202eround"),
        ("a\xa0b\u3000c", "a b c"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_nothing_moves_a_cursor_or_turns_writing_round(written: str, shown: str) -> None:
    assert printable(written) == shown


def test_names_within_an_archive_do_not_reach_the_terminal_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as packed:
        packed.writestr("datapackage.json", "{}")
        packed.writestr(f"archive/{ESCAPE}.warc", b"no record")

    run(monkeypatch, "import", "-c", str(tmp_path / "study"), str(tmp_path / "a.wacz"))

    told = capsys.readouterr().err
    assert ESCAPE not in told
    assert "\\x1b[31m.warc" in told


def test_rules_of_a_host_do_not_reach_the_terminal_as_they_are(
    collection: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = robots(f"User-agent: *\nDisallow: /b{ESCAPE}")
    with site_in_thread({"/robots.txt": rules, "/": page("<a href='/b%1B[31m'>x</a>")}) as site:
        crawl(collection, [site.url()])
        run(monkeypatch, "why", "-c", str(collection), site.url("/b%1B[31m"))

    told = capsys.readouterr().out
    assert ESCAPE not in told
    assert "Disallow: /b\\x1b[31m" in told
