"""What is derived can be made again from archive and log, and is the same."""

import shutil
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import NoCollection, StoreError, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import backlinks
from gossamer.transfer.exports import batches
from gossamer.upkeep.forget import forget
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import page, redirect, robots, site_in_thread

PAGES = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private"),
    "/": page("<a href=/a>one</a> <a href=/private/x>no</a> <a href=//elsewhere.example/>out</a>"),
    "/a": page("<title>A</title><a href=/b>two</a> <a href='http://[bad'>bad</a> <a href=/gone>"),
    "/b": redirect("/c"),
    "/c": page("<a href=/>home</a> <a href=/file.bin>file</a>"),
    "/file.bin": page("x", headers={"content-type": "application/octet-stream"}),
}


def rows_of(path: Path, what: str) -> list[dict[str, object]]:
    with CollectionReader.open(path) as reader:
        rows = [row for batch in batches(reader, what) for row in batch.to_pylist()]
    return sorted(rows, key=str)


@pytest.fixture(scope="module")
def crawled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rebuild") / "collection"
    with site_in_thread(PAGES) as site:
        crawl(folder, [site.url()])
    return folder


@pytest.fixture
def crawled(crawled_once: Path, collection: Path) -> Path:
    """A collection of the test's own."""
    shutil.copytree(crawled_once, collection)
    return collection


def remade(path: Path, what: str) -> None:
    rebuild(CollectionPaths(path), what, SystemClock(), lambda _: None)


@pytest.mark.parametrize("table", ["pages", "links", "hosts", "refused"])
def test_every_table_is_the_same_after_a_rebuild(crawled: Path, table: str) -> None:
    before = rows_of(crawled, table)

    remade(crawled, "all")

    assert rows_of(crawled, table) == before
    assert list(verify(CollectionPaths(crawled))) == []


def test_a_lost_state_and_graph_come_back_from_the_archive(crawled: Path) -> None:
    before = [(row["url"], row["outcome"], row["reason"]) for row in rows_of(crawled, "pages")]
    links = len(rows_of(crawled, "links"))
    shutil.rmtree(crawled / "state")
    shutil.rmtree(crawled / "graph")

    remade(crawled, "all")

    after = [(row["url"], row["outcome"], row["reason"]) for row in rows_of(crawled, "pages")]
    assert sorted(map(str, after)) == sorted(map(str, before))
    assert len(rows_of(crawled, "links")) == links


def test_links_that_were_not_kept_can_be_had_later(collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()], node__graph=False)
        with (
            CollectionReader.open(collection) as reader,
            pytest.raises(StoreError, match="rebuild graph"),
        ):
            backlinks(reader, site.url("/a"))

        remade(collection, "all")
        assert rows_of(collection, "links") == []
        remade(collection, "graph")

        with CollectionReader.open(collection) as reader:
            assert backlinks(reader, site.url("/a"))[1].num_rows == 1
    assert list(verify(CollectionPaths(collection))) == []


def test_a_rebuilt_crawl_asks_for_nothing_again(collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        crawl(collection, [site.url()])
        asked = list(site.asked)
        remade(collection, "state")

        crawl(collection, [])

        assert site.asked == asked


def test_without_an_archive_there_is_nothing_to_rebuild_from(tmp_path: Path) -> None:
    with pytest.raises(NoCollection):
        remade(tmp_path, "all")


def test_what_cannot_be_rebuilt_is_named(crawled: Path) -> None:
    with pytest.raises(UsageError, match="graph, index, state or all"):
        remade(crawled, "soup")


@pytest.mark.parametrize(
    "line",
    [
        b'{"url": "x", "outcome": "refused", "reason": "scope", "at": "2026-01-01"}',
        b'{"outcome": "refused"}',
        b'{"url": 7, "outcome": "failed", "reason": "nonsense", "at": 3}',
        b"[1, 2]",
        b'{"url": "http://\xff/", "outcome": "failed", "reason": "dns", "at": "yesterday"}',
        b"\x00\xff",
    ],
)
def test_a_damaged_line_of_the_log_neither_stops_a_rebuild_nor_a_takedown(
    crawled: Path, line: bytes
) -> None:
    before = rows_of(crawled, "pages")
    with (crawled / "log" / "crawl.jsonl").open("ab") as log:
        log.write(line + b"\n")

    remade(crawled, "state")
    assert rows_of(crawled, "pages") == before
    [url] = [str(row["url"]) for row in before if str(row["url"]).endswith("/c")]
    forget(CollectionPaths(crawled), [url], SystemClock(), lambda _: None)

    assert len(rows_of(crawled, "pages")) == len(before) - 1
