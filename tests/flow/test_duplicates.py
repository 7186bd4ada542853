"""Duplicates of a crawled site, in every mode: named, kept through takedown, rebuild and change."""

from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.duplicates.pointers import all_pointers
from gossamer.frontier.meta_keys import DUPLICATES_KEY
from gossamer.frontier.store import StateTable, walk
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.exports import batches
from gossamer.upkeep.forget import forget
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import Site, page, site_in_thread

WORDS = "It is a page with many words, which stay the same; only a few of them change. "
TEXT = "".join(f"<p>{number * 7919 % 10_007} {WORDS}</p>" for number in range(40))


def visited(count: int, text: str = TEXT) -> str:
    return f"<title>T</title>{text}<p>You are visitor number {count}.</p>"


FRAMES = page("<title>F</title><frameset cols='1,2'><frame src=/a><frame src=/b></frameset>")
SITE = {
    "/": page(
        "".join(f"<a href=/{name}>{name}</a> " for name in ("a", "b", "c", "d", "e", "f", "g"))
    ),
    "/a": page(visited(1)),
    "/b": page(visited(1)),
    "/c": page(visited(2)),
    "/d": page(visited(1).replace("many words", "much else", 3)),
    "/e": page(f"<title>E</title>{TEXT[::-1]}"),
    "/f": FRAMES,
    "/g": FRAMES,
}
ONE_AFTER_THE_OTHER = {"politeness__per_host": 1}
EXPECTED = {
    "none": {},
    "exact": {"/b": "/a"},
    "near": {"/b": "/a", "/c": "/a"},
    "html95": {"/b": "/a", "/c": "/a", "/d": "/a"},
}


def duplicates(collection: Path) -> dict[str, str]:
    """The paths of duplicates with the path of the page that each points to, by the export."""
    with CollectionReader.open(collection) as reader:
        rows = [row for batch in batches(reader, "pages") for row in batch.to_pylist()]
    paths = {row["url"]: row["duplicate_of"] for row in rows if row["duplicate_of"]}
    return {f"/{url.rsplit('/', 1)[1]}": f"/{of.rsplit('/', 1)[1]}" for url, of in paths.items()}


def crawled(collection: Path, site: Site, mode: str) -> int:
    options = {**ONE_AFTER_THE_OTHER, "duplicates__mode": mode}
    return crawl(collection, [site.url()], **options).duplicates


def test_each_mode_names_the_duplicates_and_a_rebuild_gives_the_same(collection: Path) -> None:
    with site_in_thread(SITE) as site:
        for mode in ("exact", "near", "html95", "none", "html95"):
            assert crawled(collection, site, mode) == len(EXPECTED[mode])
            assert duplicates(collection) == EXPECTED[mode]
            assert list(verify(collection)) == []

    with CollectionReader.open(collection) as reader:
        before = list(all_pointers(reader.store))
        sketches = list(walk(reader.store, StateTable.SKETCH))
    rebuild(CollectionPaths(collection), "all", SystemClock(), lambda _: None)
    with CollectionReader.open(collection) as reader:
        assert list(all_pointers(reader.store)) == before
        assert list(walk(reader.store, StateTable.SKETCH)) == sketches
    assert list(verify(collection)) == []


@pytest.mark.parametrize("mode", ["exact", "near", "html95"])
def test_when_the_first_page_is_forgotten_the_next_one_is_the_first(
    collection: Path, mode: str
) -> None:
    with site_in_thread(SITE) as site:
        crawled(collection, site, mode)
        forget(CollectionPaths(collection), [site.url("/a")], SystemClock(), lambda _: None)
        assert list(verify(collection)) == []
        crawled(collection, site, mode)

    expected = {path: "/b" for path in EXPECTED[mode] if path != "/b"}
    assert duplicates(collection) == expected
    assert list(verify(collection)) == []


def test_why_names_the_first_page_and_counts_the_others(collection: Path) -> None:
    with site_in_thread(SITE) as site:
        crawled(collection, site, "near")
    with CollectionReader.open(collection) as reader:
        assert reader.story(site.url("/c")).duplicates.of == site.url("/a")
        assert reader.story(site.url("/a")).duplicates.copies == 2
        assert reader.story(site.url("/e")).duplicates == ("", 0.0, 0)


def test_a_collection_without_the_tables_gets_them_at_the_next_start(collection: Path) -> None:
    with site_in_thread(SITE) as site:
        crawled(collection, site, "exact")
        store = open_to_write(CollectionPaths(collection), 16)
        rows = {
            table: {key: None for key, _ in walk(store, table)}
            for table in (StateTable.SKETCH, StateTable.DUPLICATE)
        }
        store.write({**rows, StateTable.META: {DUPLICATES_KEY: None, b"copies": b"1 2 3"}})
        store.close()
        assert duplicates(collection) == {"/b": "/a", "/g": "/f"}  # as earlier versions had it
        crawled(collection, site, "exact")

    assert duplicates(collection)["/b"] == "/a"
    assert list(verify(collection)) == []


def test_verify_finds_a_damaged_table(collection: Path) -> None:
    with site_in_thread(SITE) as site:
        crawled(collection, site, "exact")
    store = open_to_write(CollectionPaths(collection), 16)
    key, _ = next(all_pointers(store))
    store.write({StateTable.DUPLICATE: {key: None}})
    store.close()

    problems = [problem.what for problem in verify(collection)]
    assert any("does not point to it" in what for what in problems)
    assert any("the table has 0" in what for what in problems)
