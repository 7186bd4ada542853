"""A crawl without end: visits, new pages, hints, and what is left after a stop."""

from __future__ import annotations

import time
from pathlib import Path

from gossamer.frontier.rows import UrlRow
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl, crawl_forever
from support.a_site import Answer, Request, answer, page, robots, site_in_thread

CALM = {"refresh__lists_every_s": 0, "refresh__complete_every_s": 0}


def row_of(collection: Path, url: str) -> UrlRow:
    with CollectionReader.open(collection) as reader:
        return reader.get(url)


def test_known_pages_are_visited_again_and_again(tmp_path: Path) -> None:
    pages: dict[str, Answer] = {
        "/": page("<a href=/a>a</a>"),
        "/a": [page("one"), page("two"), page("three")],
    }
    with site_in_thread(pages) as site:
        summary = crawl_forever(
            tmp_path / "c", [site.url()], lambda: site.asked.count("/a") >= 4, **CALM
        )
        url = site.url("/a")

    assert summary.fetched == 2
    assert summary.stopped == "max-time"
    with CollectionReader.open(tmp_path / "c") as reader:
        assert b"three" in reader.page(url).body
        assert len({capture.digest for capture in reader.captures(url)}) == 3
    assert list(verify(tmp_path / "c")) == []


def test_what_is_known_of_the_rate_is_kept_with_each_visit(tmp_path: Path) -> None:
    versions = [page(f"version {n} {'x' * n}") for n in range(50)]
    with site_in_thread({"/": page("<a href=/a>a</a>"), "/a": versions}) as site:
        crawl_forever(tmp_path / "c", [site.url()], lambda: site.asked.count("/a") >= 4, **CALM)
        seen = site.asked.count("/a")
        row = row_of(tmp_path / "c", site.url("/a"))
        still = row_of(tmp_path / "c", site.url("/"))
        crawl_forever(tmp_path / "c", [], lambda: site.asked.count("/a") >= seen + 2, **CALM)
        later = row_of(tmp_path / "c", site.url("/a"))

    assert row.rate_shape > 0
    assert row.rate_scale > 0
    assert row.next_us > 0
    assert still.rate_scale > 0
    assert later.visits > row.visits


def test_a_page_that_is_linked_later_is_found_and_fetched(tmp_path: Path) -> None:
    pages: dict[str, Answer] = {
        "/": [page("none"), page("none"), page("<a href=/new>new</a>")],
        "/new": page("here I am"),
    }
    with site_in_thread(pages) as site:
        crawl_forever(tmp_path / "c", [site.url()], lambda: "/new" in site.asked, **CALM)

    assert row_of(tmp_path / "c", site.url("/new")).status == 200


def test_a_page_is_left_alone_for_the_minimum_interval(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<a href=/a>a</a>"), "/a": page("")}) as site:
        began = time.monotonic()
        crawl_forever(
            tmp_path / "c",
            [site.url()],
            lambda: time.monotonic() > began + 2.5,
            **CALM,
            refresh__min_interval_s=600,
        )

    assert site.asked.count("/") == 1
    assert site.asked.count("/a") == 1


def test_an_idle_crawl_uses_no_cpu(tmp_path: Path) -> None:
    pages: dict[str, Answer] = {"/": page("".join(f"<a href=/{n}>{n}</a>" for n in range(50)))}
    pages |= {f"/{n}": page("") for n in range(50)}
    with site_in_thread(pages) as site:
        began: list[tuple[float, float]] = []

        def has_idled() -> bool:
            if len(site.asked) >= 52 and not began:
                began.append((time.monotonic() + 1.0, 0.0))
            if began and len(began) == 1 and time.monotonic() > began[0][0]:
                began.append((time.monotonic(), time.process_time()))
            return len(began) == 2 and time.monotonic() > began[1][0] + 2.0

        crawl_forever(tmp_path / "c", [site.url()], has_idled, **CALM, refresh__min_interval_s=600)
        used_s = time.process_time() - began[1][1]

    assert used_s < 1.0  # with the end of the crawl and the site itself


def test_a_page_that_fails_is_tried_again_later_and_stays(tmp_path: Path) -> None:
    broken = answer(b"broken", "500 Internal Server Error")
    pages: dict[str, Answer] = {"/": page("<a href=/a>a</a>"), "/a": [page("fine"), broken]}
    with site_in_thread(pages) as site:
        crawl_forever(tmp_path / "c", [site.url()], lambda: site.asked.count("/") >= 6, **CALM)

    row = row_of(tmp_path / "c", site.url("/a"))
    assert row.status == 200
    assert row.missed == 1
    assert site.asked.count("/a") == 2  # not again for a minute


SITEMAP = (
    "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    "<url><loc>{root}/</loc></url><url><loc>{root}/a</loc>{lastmod}</url></urlset>"
)


def test_a_sitemap_is_read_again_and_its_dates_are_hints(tmp_path: Path) -> None:
    tomorrow = "<lastmod>2100-01-01</lastmod>"

    def sitemap(request: Request) -> bytes:
        turn = site.asked.count("/map.xml")
        lastmod = tomorrow if turn >= 2 else ""
        body = SITEMAP.format(root=site.root, lastmod=lastmod).encode()
        return answer(body, headers={"Content-Type": "application/xml"})

    pages: dict[str, Answer] = {"/": page("<a href=/a>a</a>"), "/a": page(""), "/map.xml": sitemap}
    with site_in_thread(pages) as site:
        site.pages = {**pages, "/robots.txt": robots(f"Sitemap: {site.root}/map.xml")}
        crawl_forever(
            tmp_path / "c",
            [site.url()],
            lambda: site.asked.count("/map.xml") >= 3,
            refresh__lists_every_s=0.5,
            refresh__complete_every_s=0,
            refresh__min_interval_s=600,
        )

    assert row_of(tmp_path / "c", site.url("/a")).hint_us > 0
    assert row_of(tmp_path / "c", site.url("/")).hint_us == 0


def test_ranks_and_anchors_are_computed_while_it_runs(tmp_path: Path) -> None:
    ranks = tmp_path / "c" / "graph" / "ranks.json"
    pages: dict[str, Answer] = {
        "/": page("<a href=/a>a word</a>"),
        "/a": page("<a href=/>back</a>"),
    }
    with site_in_thread(pages) as site:
        crawl_forever(
            tmp_path / "c",
            [site.url()],
            ranks.exists,
            refresh__complete_every_s=0.5,
            refresh__lists_every_s=0,
            node__part_every_s=1,
        )

    assert list(verify(tmp_path / "c")) == []


def test_a_crawl_without_end_goes_on_after_one_with_an_end(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<a href=/a>a</a>"), "/a": page("")}) as site:
        crawl(tmp_path / "c", [site.url()])
        crawl_forever(tmp_path / "c", [], lambda: site.asked.count("/a") >= 3, **CALM)

    with CollectionReader.open(tmp_path / "c") as reader:
        fresh = reader.freshness()
    assert fresh is not None
    assert fresh.pages == 2
    assert fresh.measured is not None


def test_a_crawl_of_a_site_that_does_not_answer_ends(tmp_path: Path) -> None:
    with site_in_thread({"/": answer(b"", "404 Not Found")}) as site:
        pass

    summary = crawl_forever(
        tmp_path / "c", [site.url()], lambda: False, politeness__retries=0, **CALM
    )

    assert summary.stopped == "done"
    assert summary.fetched == 0
