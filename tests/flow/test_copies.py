"""Pages that are byte for byte the same: each names the first, and the sum is right."""

import json
from pathlib import Path
from typing import Any

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.exports import export
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl
from support.a_site import Pages, answer, page, redirect, site_in_thread

NAMES = ("a", "b", "c", "d", "e", "f", "gone", "moved")
SAME = "<title>One</title><p>the same words</p>"
PAGES: Pages = {
    "/": page("".join(f"<a href=/{name}>{name}</a>" for name in NAMES)),
    "/a": page(SAME),
    "/b": page(SAME),
    "/c": page(SAME),
    "/d": page("<p>other words"),
    "/e": answer(b"", headers={"content-type": "text/html"}),
    "/f": answer(b"", headers={"content-type": "text/html"}),
    "/gone": page(SAME, "404 Not Found"),
    "/moved": redirect("/b"),
}


def copies_in(collection: Path, tmp_path: Path) -> dict[str, str | None]:
    path = tmp_path / "pages.jsonl"
    with CollectionReader.open(collection) as reader:
        export(reader, "pages", path)
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["url"]: row["duplicate_of"] for row in rows if row["duplicate_of"]}


def counted(collection: Path) -> int:
    with CollectionReader.open(collection) as reader:
        return reader.counts().duplicates


def test_every_copy_names_the_page_that_was_fetched_first(tmp_path: Path, collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        summary = crawl(collection, [site.url()], politeness__per_host=1)

        found = copies_in(collection, tmp_path)

        assert found == {site.url("/b"): site.url("/a"), site.url("/c"): site.url("/a")}
    assert summary.duplicates == counted(collection) == 2


def test_going_on_counts_copies_of_pages_that_were_there_before(
    tmp_path: Path, collection: Path
) -> None:
    with site_in_thread(PAGES) as site:
        first = crawl(collection, [site.url()], limits__max_pages=2, politeness__per_host=1)
        then = crawl(collection, [site.url()], politeness__per_host=1)

    assert (first.duplicates, then.duplicates) == (0, 2)
    assert len(copies_in(collection, tmp_path)) == 2


def test_a_state_that_is_made_again_has_the_same_copies(tmp_path: Path, collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()], politeness__per_host=1)
    before = copies_in(collection, tmp_path)

    rebuild(CollectionPaths(collection), "state", SystemClock(), lambda _: None)

    assert copies_in(collection, tmp_path) == before
    assert counted(collection) == 2
