"""Pages are searchable because they were crawled, and no others."""

import shutil
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.index.reader import IndexReader, ids
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import page, redirect, site_in_thread

PAGES = {
    "/": page(
        "<title>Home</title><a href=/a>a lantern</a> <a href=/hidden>h</a> <a href=/old>o</a>"
    ),
    "/a": page("<title>A</title><h1>Heading</h1><p>Plain quartz text.</p><a href=/gone>gone</a>"),
    "/hidden": page("<meta name=robots content=noindex><p>secret quartz</p><a href=/b>beryl</a>"),
    "/b": page("<meta name=robots content=nosnippet><p>quiet quartz</p>"),
    "/old": redirect("/a"),
    "/gone": page("<p>vanished quartz</p>", status="404 Not Found"),
}


def found(path: Path, query: str) -> list[str]:
    """The paths of the pages that a query finds."""
    return sorted(
        hit.url.rpartition("/")[2] for hit in Engine(path).search(Request(query=query)).hits
    )


@pytest.fixture
def crawled(collection: Path) -> Path:
    with site_in_thread(PAGES) as site:
        assert crawl(collection, [site.url()]).indexed == 3
    return collection


def test_pages_of_200_that_allow_it_are_found_and_no_others(crawled: Path) -> None:
    assert found(crawled, "quartz") == ["a", "b"]
    assert found(crawled, "secret") == []
    assert found(crawled, "vanished") == []


def test_the_words_of_links_find_their_target_even_from_a_page_that_is_not_indexed(
    crawled: Path,
) -> None:
    assert found(crawled, "anchor:lantern") == ["a"]
    assert found(crawled, "anchor:beryl") == ["b"]


def test_a_page_that_wants_no_snippet_has_none(crawled: Path) -> None:
    hits = Engine(crawled).search(Request(query="quartz")).hits
    snippets = {hit.url.rpartition("/")[2]: hit.snippet for hit in hits}

    assert snippets["b"] == ""
    assert "quartz" in snippets["a"]


def test_the_index_holds_what_the_state_says(crawled: Path) -> None:
    assert list(verify(CollectionPaths(crawled))) == []
    assert len(list(ids(crawled / "index"))) == 3


@pytest.mark.parametrize("what", ["index", "all"])
def test_a_rebuilt_index_has_the_same_entries(crawled: Path, what: str) -> None:
    before = entries_of(crawled)

    for _ in range(2):
        rebuild(CollectionPaths(crawled), what, SystemClock(), lambda _: None)

        assert entries_of(crawled) == before
        assert list(verify(CollectionPaths(crawled))) == []


def test_an_index_that_is_lost_is_named_and_comes_back_with_the_next_start(crawled: Path) -> None:
    before = entries_of(crawled)
    shutil.rmtree(crawled / "index")
    assert [problem.what for problem in verify(CollectionPaths(crawled))] == ["there is no index"]

    crawl(crawled, [])

    assert entries_of(crawled) == before
    assert list(verify(CollectionPaths(crawled))) == []


def test_a_crawl_that_began_without_an_index_gets_one(collection: Path) -> None:
    with site_in_thread(PAGES) as site:
        assert crawl(collection, [site.url()], node__index=False).indexed == 0
        assert not (collection / "index").exists()

        assert crawl(collection, [site.url()]).indexed == 3

    assert found(collection, "quartz") == ["a", "b"]


def test_entries_that_should_not_be_there_or_are_missing_are_found(
    crawled: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    with site_in_thread({"/": page("another")}) as site:
        crawl(other, [site.url()])
    shutil.rmtree(crawled / "index")
    shutil.copytree(other / "index", crawled / "index")

    problems = [problem.what for problem in verify(CollectionPaths(crawled))]

    assert problems == ["it does not cover the end of the archive"]


def entries_of(path: Path) -> dict[str, tuple[object, ...]]:
    view = IndexReader(path / "index").view
    kept = [view.find(bytes.fromhex(name)) for name in ids(path / "index")]
    return {
        one.url: (one.title, one.headings, sorted(one.anchors), one.at_us, view.text(one))
        for one in kept
        if one is not None
    }
