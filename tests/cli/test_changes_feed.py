"""`gossamer changes --feed` and `--query` as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gossamer.frontier.visits.change_rows import ChangeRow
from gossamer.records import ChangeKind
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed
from support.seen_changes import write_changes

ATOM = "{http://www.w3.org/2005/Atom}"
SEEN_US = 1_767_225_600_000_000


@pytest.fixture
def changed(collection: Path) -> Path:
    pages = {
        "/": page("<title>Home</title><p>The <b>rose</b> garden.</p><a href=/b>b</a>"),
        "/b": page("<title>B &lt;i&gt; &amp; more</title><p>A tulip field.</p>"),
    }
    with site_in_thread(pages) as site:
        crawl(collection, [site.url()])
        root = site.url()
    write_changes(
        collection,
        [
            (SEEN_US, root, ChangeRow(ChangeKind.CHANGED, 1, 200, 200, 2, 1)),
            (SEEN_US + 1_000_000, f"{root}b", ChangeRow(ChangeKind.NEW, status=200)),
        ],
    )
    return collection


@pytest.mark.parametrize("name", ["out.atom", "out.xml"])
def test_a_feed_is_written_as_atom(changed: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("an old feed")

    ended = typed("changes", "-c", changed, "--feed", file)

    assert (ended.code, ended.out) == (0, "")
    assert f"2 changes written to {file}" in ended.err
    root = ET.fromstring(file.read_bytes())
    titles = [entry.findtext(f"{ATOM}title") for entry in root.findall(f"{ATOM}entry")]
    assert titles == ["New: B <i> & more", "Changed: Home"]
    assert [one.name for one in tmp_path.iterdir() if "new" in one.name] == []


def test_a_feed_of_a_query_has_its_pages_alone(changed: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.json"

    ended = typed("changes", "-c", changed, "--feed", file, "--query", "tulip")

    assert ended.code == 0
    found = json.loads(file.read_bytes())
    assert [item["tags"] for item in found["items"]] == [["new"]]
    assert "tulip" in found["title"]


def test_a_query_chooses_changes_to_print(changed: Path) -> None:
    ended = typed("changes", "-c", changed, "--query", "rose", "--json")

    assert [json.loads(line)["kind"] for line in ended.out.splitlines()] == ["changed"]


def test_filters_hold_for_a_feed(changed: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.json"

    assert typed("changes", "-c", changed, "--feed", file, "--kind", "gone").code == 0
    assert json.loads(file.read_bytes())["items"] == []
    assert typed("changes", "-c", changed, "--feed", file, "--limit", "1").code == 0
    assert len(json.loads(file.read_bytes())["items"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--feed", "feed.csv"), ".atom"),
        (("--feed", "/nonexistent/feed.atom"), "cannot write"),
        (("--feed", "a.atom", "--json"), "--json"),
    ],
)
def test_a_feed_that_cannot_be_written_is_told(
    changed: Path, words: tuple[str, ...], said: str
) -> None:
    ended = typed("changes", "-c", changed, *words)

    assert ended.code == 2
    assert said in ended.err
