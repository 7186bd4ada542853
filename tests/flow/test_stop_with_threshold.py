"""Stop with a threshold: hot pages are counted, told and exported, and the crawl ends in time."""

from __future__ import annotations

from pathlib import Path

from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.transfer.exports import batches
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import Pages, page, site_in_thread
from support.killing import typed

HOT = 5  # pages that all others link to
COUNT = 200


def a_web() -> Pages:
    """Five pages to which all link, and a long chain of others."""
    hot = "".join(f"<a href=/hot{one}>hot</a>" for one in range(HOT))
    pages = {f"/hot{one}": page(f"<title>Hot {one}</title>{hot}") for one in range(HOT)}
    for number in range(COUNT):
        following = f"<a href=/p{number + 1}>next</a>" if number + 1 < COUNT else ""
        pages[f"/p{number}"] = page(f"<title>Page {number}</title>{hot}{following}")
    return {"/": page(f"<a href=/p0>start</a>{hot}"), **pages}


def test_the_crawl_stops_when_no_more_hot_pages_are_expected(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        summary = crawl(
            collection, [site.url()], limits__threshold=10, limits__threshold_patience=40,
            node__commit_every_s=0.02,
        )  # fmt: skip

    assert summary.stopped == "threshold"
    assert summary.hot == HOT
    assert 40 <= summary.fetched < COUNT
    assert summary.queued > 0
    assert list(verify(collection)) == []


def test_a_small_site_is_crawled_to_its_end(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        summary = crawl(
            collection, [site.url()], limits__threshold=10, limits__threshold_patience=1_000
        )

    assert (summary.stopped, summary.hot) == ("done", HOT)
    assert summary.fetched == COUNT + HOT + 1


def test_hot_pages_are_exported_with_their_importance(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        crawl(collection, [site.url()], limits__threshold=100, limits__threshold_patience=1_000)

        with CollectionReader.open(collection) as reader:
            rows = [row for batch in batches(reader, "pages") for row in batch.to_pylist()]
        found = {row["url"]: row["importance"] for row in rows if row["importance"]}
        assert found == {site.url(f"/hot{one}"): COUNT + HOT for one in range(HOT)}


def test_pages_may_be_hot_by_pagerank(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        summary = crawl(
            collection, [site.url()], limits__threshold=5, limits__importance="pagerank",
            limits__threshold_patience=1_000,
        )  # fmt: skip

        with CollectionReader.open(collection) as reader:
            hot = {row.url for row in reader.url_rows() if row.importance >= 5}
    assert summary.hot == HOT
    assert hot == {site.url(f"/hot{one}") for one in range(HOT)}


def test_a_resumed_crawl_knows_the_links_of_earlier_runs(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        limits = {"limits__threshold": 10, "limits__threshold_patience": 1_000}
        first = crawl(collection, [site.url()], limits__max_pages=30, **limits)
        second = crawl(collection, [site.url()], limits__max_pages=31, **limits)

    assert first.stopped == second.stopped == "max-pages"
    assert first.hot == second.hot == HOT


def test_the_command_tells_the_hot_pages_and_how_to_continue(collection: Path) -> None:
    with site_in_thread(a_web()) as site:
        words = ("--threshold", "10", "--set", "limits.threshold_patience=40", "--delay", "0")
        often = ("--set", "node.commit_every_s=0.05")
        ended = typed("crawl", "-c", collection, *words, *often, site.url())
        told = ended.err
        status = typed("status", "-c", collection).out

    assert ended.code == 0
    assert "Stopped: --threshold 10 reached" in told
    assert f"{HOT} hot pages (importance by backlinks is at least 10)." in told
    assert f"{HOT} hot pages" in status


def test_pages_that_fail_or_are_refused_do_not_keep_the_crawl_waiting(collection: Path) -> None:
    """A hot URL that is out of scope is never fetched."""
    web = dict(a_web())
    for path, given in web.items():
        if isinstance(given, bytes) and path != "/":
            body = given.partition(b"\r\n\r\n")[2].decode()
            web[path] = page(f"{body}<a href=http://elsewhere.localhost:9/>out</a>")
    with site_in_thread(web) as site:
        summary = crawl(
            collection, [site.url()], limits__threshold=10, limits__threshold_patience=40,
            node__commit_every_s=0.02,
        )  # fmt: skip

    assert summary.stopped == "threshold"
    with CollectionReader.open(collection) as reader:
        row = reader.get("http://elsewhere.localhost:9/")
        assert row.outcome is Outcome.REFUSED
