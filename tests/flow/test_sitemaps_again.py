"""Sitemaps that are read again: conditions are sent, and an unchanged one is not stored again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flow.outcomes import fates
from gossamer.archive.reader import Exchange, iter_exchanges
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.meta_keys import SITEMAP_PREFIX
from gossamer.frontier.rows import SitemapRow
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Fetched, Purpose
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.retention.prune import prune
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl, crawl_again, crawl_forever
from support.a_site import Answer, Pages, Request, Site, answer, page, robots, site_in_thread

DATE = "Wed, 01 Jul 2026 10:00:00 GMT"


def urlset(*paths: str) -> bytes:
    filler = "<!-- a long list -->" * 500
    rows = "".join(f"<url><loc>{path}</loc></url>" for path in paths)
    return f"<urlset>{rows}{filler}</urlset>".encode()


def tagged(body: bytes, etag: str) -> Callable[[Request], bytes]:
    """A sitemap whose server answers 304 to its own ETag."""

    def respond(request: Request) -> bytes:
        if request.headers.get("if-none-match") == etag:
            return answer(b"", "304 Not Modified", {"etag": etag})
        return plain(body, {"etag": etag, "last-modified": DATE})

    return respond


def plain(body: bytes, headers: dict[str, str] | None = None) -> bytes:
    return answer(body, headers={"content-type": "application/xml", **(headers or {})})


def a_web(sitemap: Answer) -> Pages:
    return {"/robots.txt": robots("Sitemap: /map.xml"), "/map.xml": sitemap, "*": page("x")}


def sitemaps_in(collection: Path) -> Iterator[Exchange]:
    for path in sorted((collection / "archive").glob("*.warc.gz")):
        for exchange in iter_exchanges(path):
            if exchange.lease.purpose is Purpose.SITEMAP:
                yield exchange


def stored_as(collection: Path) -> list[tuple[int, bool]]:
    """Of each answer for a sitemap: the status, and whether its body is stored elsewhere."""
    return [
        (one.answer.status, one.revisit_of is not None)
        for one in sitemaps_in(collection)
        if isinstance(one.answer, Fetched)
    ]


def conditions(site: Site) -> list[tuple[str, str]]:
    """What the requests for the sitemap said: If-None-Match and If-Modified-Since."""
    names = ("if-none-match", "if-modified-since")
    return [
        (asked.headers.get(names[0], ""), asked.headers.get(names[1], ""))
        for asked in site.log
        if asked.path == "/map.xml"
    ]


def sitemap_row(collection: Path) -> SitemapRow:
    with CollectionReader.open(collection) as reader:
        stop = SITEMAP_PREFIX + b"\xff" * 17
        [(_, row)] = reader.store.scan(StateTable.META, SITEMAP_PREFIX, stop, 2)
        return SitemapRow.decode(row)


def test_a_sitemap_that_is_not_modified_is_neither_sent_nor_stored_again(collection: Path) -> None:
    with site_in_thread(a_web(tagged(urlset("/a", "/b"), '"1"'))) as site:
        crawl(collection, [site.url()])
        crawl_again(collection)
        crawl_again(collection)

    assert conditions(site) == [("", ""), ('"1"', DATE), ('"1"', DATE)]
    assert stored_as(collection) == [(200, False), (304, True), (304, True)]
    assert set(fates(collection).values()) == {"fetched 200"}
    assert list(verify(collection)) == []


def test_a_sitemap_with_the_same_body_is_stored_once(collection: Path) -> None:
    with site_in_thread(a_web(plain(urlset("/a", "/b")))) as site:
        crawl(collection, [site.url()])
        crawl_again(collection)

    assert conditions(site) == [("", ""), ("", "")]
    assert stored_as(collection) == [(200, False), (200, True)]
    assert list(verify(collection)) == []


def test_a_changed_sitemap_is_stored_and_compared_with_from_then_on(collection: Path) -> None:
    with site_in_thread(a_web(tagged(urlset("/a"), '"1"'))) as site:
        crawl(collection, [site.url()])
        site.pages = a_web(tagged(urlset("/a", "/new"), '"2"'))
        crawl_again(collection)
        crawl_again(collection)

    assert [one for one, _ in conditions(site)] == ["", '"1"', '"2"']
    assert stored_as(collection) == [(200, False), (200, False), (304, True)]
    assert fates(collection)["/new"] == "fetched 200"


def test_a_crawl_without_end_reads_each_list_once_and_then_asks_for_changes(
    collection: Path,
) -> None:
    quick = {"refresh__lists_every_s": 0.3, "refresh__complete_every_s": 0}
    with site_in_thread(a_web(tagged(urlset("/a"), '"1"'))) as site:
        crawl(collection, [site.url()])
        crawl_forever(
            collection,
            [site.url()],
            lambda: site.asked.count("/map.xml") >= 4,
            refresh__min_interval_s=600,
            **quick,
        )

    assert [one for one, _ in conditions(site)][:4] == ["", "", '"1"', '"1"']
    assert stored_as(collection)[:4] == [(200, False), (200, True), (304, True), (304, True)]


def test_a_304_that_is_of_no_use_is_followed_by_a_request_without_conditions(
    collection: Path,
) -> None:
    with site_in_thread(a_web(tagged(urlset("/a"), '"1"'))) as site:
        crawl(collection, [site.url()])
        [first] = (collection / "archive").glob("*.warc.gz")
        first.rename(first.with_suffix(".lost"))
        crawl_again(collection)
        first.with_suffix(".lost").rename(first)

    assert [one for one, _ in conditions(site)] == ["", '"1"', ""]
    assert (200, False) in stored_as(collection)[1:]


@pytest.mark.parametrize("is_changed", [True, False])
def test_a_kill_before_the_commit_loses_nothing_of_a_sitemap(
    collection: Path, *, is_changed: bool
) -> None:
    with site_in_thread(a_web(tagged(urlset("/a"), '"1"'))) as site:
        crawl(collection, [site.url()])
        shutil.copytree(collection / "state", collection / "before")
        if is_changed:
            site.pages = a_web(tagged(urlset("/a", "/new"), '"2"'))
        crawl_again(collection)
        expected = sitemap_row(collection).previous
        for part in ("state", "graph", "index"):  # as if nothing had been committed since
            shutil.rmtree(collection / part)
        (collection / "before").rename(collection / "state")
        crawl(collection, [site.url()])
        asked = site.asked.count("/map.xml")

    assert asked == 2
    assert ("/new" in fates(collection)) == is_changed
    assert sitemap_row(collection).previous == expected
    assert list(verify(collection)) == []


def test_a_state_that_is_made_again_knows_what_an_unchanged_sitemap_named(
    collection: Path,
) -> None:
    with site_in_thread(a_web(tagged(urlset("/a"), '"1"'))) as site:
        crawl(collection, [site.url()])
        crawl_again(collection)
        before = fates(collection)
        rebuild(CollectionPaths(collection), "all", SystemClock(), lambda _: None)

    assert "/a" in before
    assert fates(collection) == before
    assert list(verify(collection)) == []


def test_files_that_are_joined_keep_the_version_that_is_compared_with(collection: Path) -> None:
    pages = a_web(tagged(urlset("/a"), '"1"'))
    with site_in_thread(pages) as site:
        for number in range(4):
            site.pages = {**pages, "/": page(f"version {number} " * 200)}
            if number:
                crawl_again(collection, archive__prune_share=0.0)
            else:
                crawl(collection, [site.url()], archive__prune_share=0.0)
        file = sitemap_row(collection).previous
        pruned = prune(CollectionPaths(collection), "last 1", SystemClock(), lambda _: None)
        moved = sitemap_row(collection).previous
        crawl_again(collection)

    assert pruned.files > 1
    assert file is not None
    assert moved is not None
    assert file.file != moved.file
    assert [one for one, _ in conditions(site)] == ["", *['"1"'] * 4]
    # Of the five visits two are in files that were not joined; the others are left out.
    assert sorted(stored_as(collection)) == [(200, False), (304, True), (304, True)]
    assert list(verify(collection)) == []
