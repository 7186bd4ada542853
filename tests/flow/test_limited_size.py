"""A collection of limited size: who is kept, what left, and whether all parts agree on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.node.figures.progress import Summary
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.story_text import story_sentences
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.transfer.exports import batches
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl, crawl_again, crawl_forever
from support.a_site import Pages, page, site_in_thread
from support.agreement import assert_all_parts_agree, kept_of, left_of
from support.killing import typed

COUNT = 60


def links_of(number: int) -> list[int]:
    """Each page links to the next two, and to some of the first ten: these become important."""
    hubs = [one for one in range(10) if number % (one + 2) == 0]
    return [one for one in (number + 1, number + 2, *hubs) if one < COUNT and one != number]


def a_web() -> Pages:
    pages: dict[str, bytes] = {"/": page("<title>Home</title>w0 <a href=/p0>zero</a>")}
    for number in range(COUNT):
        anchors = "".join(f"<a href=/p{one}>to{one}</a>" for one in links_of(number))
        pages[f"/p{number}"] = page(f"<title>Page {number}</title><p>word{number} here {anchors}")
    return pages


def importance_of(root: str) -> dict[str, int]:
    """Pages that link to each URL, of all."""
    counts: dict[str, int] = {f"{root}/p0": 1, f"{root}/": 0}
    for number in range(COUNT):
        for one in links_of(number):
            counts[f"{root}/p{one}"] = counts.get(f"{root}/p{one}", 0) + 1
    return counts


def crawl_best(collection: Path, root: str, room: int, **settings: object) -> Summary:
    return crawl(collection, [root], limits__keep_best=room, node__commit_every_s=0.05, **settings)


def test_the_most_important_pages_stay_and_all_parts_agree(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        summary = crawl_best(collection, site.url(), 15)
        counts = importance_of(site.root)

    kept, left = kept_of(collection), left_of(collection)
    assert summary.stopped == "done"
    assert (len(kept), len(left)) == (15, COUNT + 1 - 15)
    assert summary.evicted >= len(left)
    ideal = sum(sorted(counts.values())[-15:])
    assert sum(counts[url] for url in kept) >= 0.95 * ideal
    assert_all_parts_agree(collection)


def test_a_page_that_left_is_found_by_no_search_and_its_links_are_gone(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)

    kept, left = sorted(kept_of(collection)), sorted(left_of(collection))
    engine = Engine(collection)
    for urls, is_there in ((kept, True), (left, False)):
        for url in urls:
            word = f"word{url.rpartition('p')[2]}" if "/p" in url else "w0"
            found = [hit.url for hit in engine.search(Request(query=word))]
            assert (url in found) is is_there, url


def test_why_tells_when_a_page_was_fetched_and_left_and_by_how_much(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
    url = min(left_of(collection))

    with CollectionReader.open(collection) as reader:
        told = " ".join(story_sentences(reader.story(url), SystemClock().wall_us()))

    assert "[evicted]" in told
    assert "importance" in told
    assert "by backlinks; the least of the 15 pages that stayed was" in told
    assert "It was fetched on" in told
    assert "It left the collection on" in told


@pytest.mark.parametrize("what", ["all", "graph", "index", "state"])
def test_a_rebuild_gives_the_same_view(collection: Path, what: str) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
    kept, left = kept_of(collection), left_of(collection)

    rebuild(CollectionPaths(collection), what, SystemClock(), lambda _said: None)

    assert (kept_of(collection), left_of(collection)) == (kept, left)
    assert_all_parts_agree(collection)


def test_limits_count_pages_that_left(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        summary = crawl_best(collection, site.url(), 5, limits__max_pages=20)
        again = crawl_best(collection, site.url(), 5, limits__max_pages=20)

        assert summary.stopped == again.stopped == "max-pages"
        assert len([path for path in site.asked if path != "/robots.txt"]) == 20
    assert len(kept_of(collection)) == 5
    assert_all_parts_agree(collection)


def test_a_resumed_crawl_lets_no_page_return_that_was_not_better(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
        asked, kept = len(site.asked), kept_of(collection)
        crawl_best(collection, site.url(), 15)

        assert len(site.asked) <= asked + 1, "robots.txt at most"
    assert kept_of(collection) == kept
    assert_all_parts_agree(collection)


def test_a_larger_buffer_is_filled_with_the_best_that_left(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 10)
        crawl_best(collection, site.url(), 20)
        counts = importance_of(site.root)

    kept = kept_of(collection)
    assert len(kept) == 20
    assert sum(counts[url] for url in kept) >= 0.95 * sum(sorted(counts.values())[-20:])
    assert_all_parts_agree(collection)


def test_a_smaller_buffer_lets_pages_leave_at_once(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(collection, [site.url()])
        crawl_best(collection, site.url(), 10)

    assert len(kept_of(collection)) == 10
    assert_all_parts_agree(collection)


def test_an_error_page_leaves_first(collection: Path) -> None:
    web = {**a_web(), "/p3": page("no such page", status="404 Not Found")}
    with site_in_thread(web) as site:
        crawl_best(collection, site.url(), 40)

        assert site.url("/p3") in left_of(collection)


def test_ranks_are_the_same_after_a_rebuild_of_the_graph(collection: Path) -> None:
    def ranks() -> dict[str, float]:
        with CollectionReader.open(collection) as reader:
            rows = [row for batch in batches(reader, "pages") for row in batch.to_pylist()]
        return {row["url"]: row["rank"] for row in rows if row["outcome"] == "fetched"}

    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
    before = ranks()

    rebuild(CollectionPaths(collection), "graph", SystemClock(), lambda _said: None)

    assert ranks() == pytest.approx(before)


def test_pruning_frees_the_bytes_of_pages_that_left(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
    kept, left = kept_of(collection), left_of(collection)

    def size() -> int:
        return sum(path.stat().st_size for path in (collection / "archive").glob("*.warc.gz"))

    before = size()
    assert typed("prune", "-c", collection).code == 0
    assert size() < 0.5 * before
    assert_all_parts_agree(collection)
    rebuild(CollectionPaths(collection), "all", SystemClock(), lambda _said: None)
    assert (kept_of(collection), left_of(collection)) == (kept, left)
    assert_all_parts_agree(collection)


def test_a_revisit_visits_only_the_pages_that_stayed(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
        kept, asked = kept_of(collection), len(site.asked)
        crawl_again(collection, limits__keep_best=15)
        again = [path for path in site.asked[asked:] if path != "/robots.txt"]

        assert {site.url(path) for path in again} == kept
    assert kept_of(collection) == kept
    assert_all_parts_agree(collection)


@pytest.mark.parametrize("metric", ["pagerank", "best"])
def test_other_metrics_keep_their_best(collection: Path, metric: str) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 12, limits__importance=metric)

        with CollectionReader.open(collection) as reader:
            stayed = [row.importance for row in reader.url_rows() if row.outcome == "fetched"]
            away = [row.importance for row in reader.url_rows() if row.reason == "evicted"]
        assert len(stayed) == 12
        assert min(stayed) > 0
        assert sum(stayed) / 12 > sum(away) / len(away)
    assert_all_parts_agree(collection)


@pytest.mark.slow
def test_worker_processes_count_the_same_links(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15, node__workers=2)
        counts = importance_of(site.root)

    kept = kept_of(collection)
    assert len(kept) == 15
    assert sum(counts[url] for url in kept) >= 0.95 * sum(sorted(counts.values())[-15:])
    assert_all_parts_agree(collection)


def test_a_page_that_left_may_be_forgotten(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_best(collection, site.url(), 15)
    url = min(left_of(collection))

    assert typed("forget", url, "-c", collection, "--yes").code == 0

    assert url not in left_of(collection)
    assert_all_parts_agree(collection)


def test_a_crawl_without_end_visits_again_and_keeps_its_size(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl_forever(
            collection, [site.url()], lambda: len(site.asked) > 3 * COUNT, limits__keep_best=15,
            node__commit_every_s=0.05,
        )  # fmt: skip

    assert len(kept_of(collection)) <= 15
    assert_all_parts_agree(collection)
