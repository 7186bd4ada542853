"""`gossamer compare`: two collections, or two moments of one."""

from __future__ import annotations

import csv
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.comparison import Comparison, Side
from support.a_crawl import crawl
from support.a_revisit import revisit
from support.a_site import answer, page, redirect, site_in_thread
from support.killing import typed

LINKS = "".join(f"<a href=/{name}>{name}</a> " for name in "abcde")
GONE = answer(b"<p>nothing here", status="404 Not Found")
OLD: dict[str, Any] = {
    "/": page(f"<title>Home</title><p>Visitors: 17</p>{LINKS}"),
    "/a": page("<title>A</title><p>The shop is open on Monday.</p>"),
    "/b": page("<title>B</title><p>It goes away.</p>"),
    "/c": page("<title>C</title><p>It redirects soon.</p>"),
    "/d": page("<title>D</title><p>It stays.</p>"),
    "/e": GONE,
}
NEW: dict[str, Any] = {
    "/": page(f"<title>Home</title><p>Visitors: 99</p>{LINKS}"),
    "/a": page('<title>=A2()</title><p>The shop is closed on Monday. <a href="/n">new</a></p>'),
    "/b": GONE,
    "/c": redirect("/a"),
    "/e": answer(b"<p>forbidden", status="403 Forbidden"),
    "/n": page("<title>N</title><p>A new page.</p>"),
}


class Both:
    """Two crawls of a site, and one collection that visited it twice."""

    def __init__(self, folder: Path) -> None:
        self.old, self.new, self.both = (folder / name for name in ("old", "new", "both"))
        pages = dict(OLD)
        with site_in_thread(pages) as site:
            self.root = site.url()
            crawl(self.old, [site.url()])
            crawl(self.both, [site.url()])
            with CollectionReader.open(self.both) as reader:
                self.between = max(row.at_us for row in reader.url_rows())
            pages.update(NEW)
            crawl(self.new, [site.url()])
            revisit(self.both)

    def url(self, path: str) -> str:
        return f"{self.root}{path.removeprefix('/')}"

    def expected(self) -> dict[str, set[str]]:
        return {
            "new": {self.url("/n")},
            "gone": {self.url("/b")},
            "moved": {self.url("/c")},
            "changed": {self.url("/a")},
            "status": {self.url("/e")},
        }

    def moments(self) -> tuple[str, str]:
        from gossamer.base.clock import exact_iso_of

        return exact_iso_of(self.between), "now"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("compare"))


def compared(*words: str | Path) -> dict[str, Any]:
    ended = typed("compare", "--json", *words)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def urls_of(found: dict[str, Any], both: Both) -> dict[str, set[str]]:
    return {kind: {one["url"] for one in found[kind]} for kind in both.expected()}


def test_two_collections_differ_by_url(both: Both) -> None:
    found = compared(both.old, both.new)

    assert urls_of(found, both) == both.expected()
    assert found["counts"]["same"] == 1
    assert found["counts"]["noise"] == 1  # the home page and its counter
    assert (found["counts"]["pages_before"], found["counts"]["pages_after"]) == (5, 4)


def test_two_moments_of_one_collection_differ_in_the_same_way(both: Both) -> None:
    found = compared(*both.moments(), "-c", both.both)

    assert urls_of(found, both) == both.expected()
    assert found["counts"] == compared(both.old, both.new)["counts"]


def test_a_difference_says_what_changed(both: Both) -> None:
    (changed,) = compared(both.old, both.new)["changed"]

    assert (changed["words_added"], changed["words_removed"]) == (2, 1)
    assert (changed["links_added"], changed["links_removed"]) == (1, 0)
    assert (changed["title_before"], changed["title"]) == ("A", "=A2()")
    (moved,) = compared(both.old, both.new)["moved"]
    assert moved["target"] == both.url("/a")
    (status,) = compared(both.old, both.new)["status"]
    assert (status["status_before"], status["status"]) == (404, 403)


def test_backwards_new_pages_are_gone(both: Both) -> None:
    found = compared(both.new, both.old)

    assert {one["url"] for one in found["gone"]} == {both.url("/n")}
    assert {one["url"] for one in found["new"]} == {both.url("/b"), both.url("/c")}


def test_a_collection_does_not_differ_from_itself(both: Both) -> None:
    counts = compared(both.old, both.old)["counts"]

    assert sum(counts[kind] for kind in both.expected()) == 0
    assert counts["same"] == 5


def test_by_digest_alone_noise_counts(both: Both) -> None:
    found = compared(both.old, both.new, "--quick")

    assert {one["url"] for one in found["changed"]} == {both.url("/a"), both.root}


def test_people_read_counts_and_lists(both: Both) -> None:
    ended = typed("compare", both.old, both.new, "--limit", "1")

    assert "Changed pages: 1" in ended.out
    assert f'  {both.url("/a")}  +2 -1 words, +1 link, title was "A"' in ended.out
    assert "5 pages before, 4 after; 1 unchanged; 1 with changes of noise only" in ended.out


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".html"])
def test_all_differences_go_to_a_file(both: Both, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"out{suffix}"

    assert typed("compare", both.old, both.new, "--limit", "1", "-o", file).code == 0

    text = file.read_text(encoding="utf-8")
    if suffix == ".csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert len(rows) == 5
        assert "'=A2()" in {row["title"] for row in rows}
    elif suffix == ".jsonl":
        assert len([json.loads(line) for line in text.splitlines()]) == 5
    else:
        assert text.count("<tr><td") == 5
        assert "<script" not in text


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("nowhere", "now", "neither a collection nor a time"),
        ("OLD", "7d", "compare two collections or two times"),
    ],
)
def test_what_is_neither_is_named(both: Both, a: str, b: str, message: str) -> None:
    ended = typed("compare", both.old if a == "OLD" else a, b, "-c", both.both)

    assert ended.code == 2
    assert message in ended.err


def test_memory_does_not_grow_with_the_differences(both: Both) -> None:
    with CollectionReader.open(both.old) as old, CollectionReader.open(both.new) as new:
        list(Comparison(Side(old), Side(new)).differences())  # imports and caches
        tracemalloc.start()
        for _ in range(20):
            for _ in Comparison(Side(old), Side(new)).differences():
                pass
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 3_000_000
