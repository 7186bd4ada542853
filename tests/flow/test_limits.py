"""Limits are exact: never overshot, reached when there is enough, and counted over the life."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import pytest

from flow.outcomes import crawl, fates, outcomes
from support.a_site import Pages, Request, hang, page, redirect, robots, site_in_thread

WIDE: dict[str, object] = {"fetch__connections": 16, "politeness__per_host": 8}


def many(count: int, size: int = 0) -> Pages:
    links = "".join(f"<a href=/{number}>x</a>" for number in range(count))
    return {"/": page(links), "*": page("x" * size)}


def fetched_of(site_asked: list[str]) -> int:
    return len([path for path in site_asked if path != "/robots.txt"])


@pytest.mark.parametrize("limit", [1, 2, 17, 60])
def test_no_page_is_asked_beyond_the_limit(limit: int, collection: Path) -> None:
    with site_in_thread(many(100)) as site:
        summary = crawl(collection, [site.url()], limits__max_pages=limit, **WIDE)

    assert summary.fetched == limit
    assert summary.stopped == "max-pages"
    assert fetched_of(site.asked) == limit
    assert summary.known == summary.queued + limit


def test_a_limit_counts_over_the_life_of_a_collection(collection: Path) -> None:
    with site_in_thread(many(100)) as site:
        crawl(collection, [site.url()], limits__max_pages=20, **WIDE)
        crawl(collection, [site.url()], limits__max_pages=20, **WIDE)
        assert fetched_of(site.asked) == 20
        summary = crawl(collection, [site.url()], limits__max_pages=35, **WIDE)

    assert summary.fetched == 35
    assert len(site.asked) == len(set(site.asked)) == 36


def test_more_pages_than_there_are_is_no_limit(collection: Path) -> None:
    with site_in_thread(many(10)) as site:
        summary = crawl(collection, [site.url()], limits__max_pages=11, **WIDE)
        more = crawl(collection / "b", [site.url()], limits__max_pages=500, **WIDE)

    assert (summary.fetched, more.fetched, more.stopped) == (11, 11, "done")


def test_redirects_robots_and_failures_are_no_pages(collection: Path) -> None:
    links = "".join(f"<a href=/{n}>x</a><a href=/to/{n}>x</a>" for n in range(20))
    pages: Pages = {"/robots.txt": robots(""), "/": page(links), "*": page("x")}
    pages = {**pages, **{f"/to/{n}": redirect(f"/{n}") for n in range(20)}}

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()], limits__max_pages=21, **WIDE)

    assert summary.fetched == 21
    assert {f"/{n}" for n in range(20)} < set(site.asked)


@pytest.mark.parametrize("limit", [1000, 25_000, 25_500])
def test_no_byte_is_taken_beyond_the_limit(limit: int, collection: Path) -> None:
    with site_in_thread(many(100, size=1000)) as site:
        summary = crawl(collection, [site.url()], limits__max_bytes=limit, **WIDE)

    assert summary.bytes <= limit
    assert sum(row.size_bytes for row in outcomes(collection).values()) == summary.bytes
    assert summary.stopped == "max-bytes"


def test_a_run_ends_in_time(collection: Path) -> None:
    with site_in_thread(many(100)) as site:
        summary = crawl(
            collection, [site.url()], limits__max_time_s=0.5, politeness__host_delay_s=0.1
        )

    assert summary.stopped == "max-time"
    assert 0.5 <= summary.wall_s < 8  # all pages would take ten seconds
    assert summary.queued > 0


def test_a_host_gets_its_share_of_pages_and_no_more(collection: Path) -> None:
    with site_in_thread(many(30)) as site:
        summary = crawl(
            collection,
            [site.url(host=name) for name in ("a.localhost", "b.localhost")],
            frontier__pages_per_host=7,
            **WIDE,
        )

    assert fetched_of(site.asked_of("a.localhost")) == 7
    assert fetched_of(site.asked_of("b.localhost")) == 7
    assert summary.by_reason == {"budget": 48}


def test_redirects_take_nothing_from_a_hosts_share(collection: Path) -> None:
    links = "".join(f"<a href=/to/{n}>x</a><a href=/{n}>x</a>" for n in range(10))
    pages: Pages = {"/": page(links), "*": page("x")}
    pages = {**pages, **{f"/to/{n}": redirect(f"/{n}") for n in range(10)}}

    with site_in_thread(pages) as site:
        summary = crawl(collection, [site.url()], frontier__pages_per_host=11)

    assert (summary.fetched, summary.redirects, summary.by_reason) == (11, 10, {})


def test_a_limit_of_bytes_asks_for_no_page_that_it_has_no_room_for(collection: Path) -> None:
    with site_in_thread(many(300, size=1000)) as site:
        summary = crawl(collection, [site.url()], limits__max_bytes=20_500, **WIDE)

    assert summary.stopped == "max-bytes"
    assert fetched_of(site.asked) <= summary.fetched + 1
    assert (summary.refused, summary.failed) == (0, 0)


def test_an_answer_that_does_not_come_holds_up_the_end_no_longer_than_the_grace(
    collection: Path,
) -> None:
    with site_in_thread({"/": page("<a href=/h>x</a>"), "/h": hang()}) as site:
        summary = crawl(collection, [site.url()], limits__max_time_s=0.3, node__stop_grace_s=0.3)

    assert summary.wall_s < 30  # of the minute that an answer may take
    assert fates(collection)["/h"] == "queued"


def test_links_are_followed_to_the_depth_and_no_further(collection: Path) -> None:
    pages: Pages = {f"/{n}": page(f"<a href=/{n + 1}>x</a>") for n in range(9)}

    with site_in_thread(pages) as site:
        crawl(collection, [site.url("/0")], scope__depth=2)

    assert site.asked == ["/robots.txt", "/0", "/1", "/2"]
    assert fates(collection)["/3"] == "refused depth"


def test_depth_none_is_the_seeds_alone(collection: Path) -> None:
    with site_in_thread(many(5)) as site:
        crawl(collection, [site.url(), site.url("/3")], scope__depth=0)

    assert sorted(site.asked) == ["/", "/3", "/robots.txt"]


def distances(graph: Mapping[int, list[int]]) -> dict[int, int]:
    """How many links each page lies from page 0, the shortest way."""
    found, queue = {0: 0}, deque([0])
    while queue:
        here = queue.popleft()
        for there in graph[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


@pytest.mark.parametrize("order", ["breadth", "depth"])
@pytest.mark.parametrize("seed", range(3))
def test_depth_is_the_shortest_way_whatever_comes_first(
    seed: int, order: str, collection: Path
) -> None:
    rng = random.Random(seed)
    graph = {n: sorted({(n + 1) % 60, rng.randrange(60)}) for n in range(60)}
    limit = max(distances(graph).values()) // 2
    slow = set(rng.sample(range(1, 60), 12))

    async def answer(request: Request) -> bytes:
        number = int(request.target[1:])
        if number in slow:
            await asyncio.sleep(0.15)
        return page("".join(f"<a href=/{there}>x</a>" for there in graph[number]))

    with site_in_thread({"/robots.txt": robots(""), "*": answer}) as site:
        crawl(
            collection,
            [site.url("/0")],
            scope__depth=limit,
            frontier__order=order,
            **WIDE,
        )

    true = {f"/{number}": depth for number, depth in distances(graph).items()}
    found = fates(collection)
    assert {path for path, what in found.items() if what == "fetched 200"} == {
        path for path, depth in true.items() if depth <= limit
    }
    depths = {url.rpartition(str(site.port))[2]: r.depth for url, r in outcomes(collection).items()}
    assert depths == {path: depth for path, depth in true.items() if depth <= limit + 1}
    assert len(site.asked) == len(set(site.asked))
