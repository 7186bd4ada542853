"""A crawl requests pages exactly in the order that its policy says, on one host and among hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.policies.orders.makers import OrderFacts, make_order
from gossamer.settings import Frontier
from support.a_crawl import crawl
from support.a_site import Site, site_in_thread
from support.small_webs import SimpleCrawl, SmallWeb, Url, replayed, small_web

# One connection, and no URL is held back because pages like it brought little.
EXACT: dict[str, object] = {
    "fetch__connections": 1,
    "scope__kind": "any",
    "frontier__trap_budget": 0,
}
HOSTS = ("a.localhost", "b.localhost", "c.localhost")


def asked(site: Site) -> list[Url]:
    return [(one.host, one.path) for one in site.log if one.path != "/robots.txt"]


def crawled(web: SmallWeb, collection: Path, **settings: object) -> list[Url]:
    """The pages of a crawl with one connection, in the order of its requests."""
    with site_in_thread({}) as site:
        site.hosts = web.pages(site.port)
        seeds = [site.url(path, host) for host, path in web.seeds]
        crawl(collection, seeds, **EXACT, **settings)
        return asked(site)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hosts", [1, 3])
def test_the_page_with_the_most_links_comes_next(tmp_path: Path, hosts: int, seed: int) -> None:
    web = small_web(seed, HOSTS[:hosts], pages=60 // hosts, links=12)

    expected = SimpleCrawl(web).run(lambda known, url: known.links_to(url))

    assert crawled(web, tmp_path / "c", frontier__order="backlinks") == expected
    assert len(expected) == 60


@pytest.mark.parametrize(
    "order",
    [
        "best",
        "pagerank",
        "pagerank-site",
        "opic",
        "random",
        "location",
        "0.6 pagerank + 0.3 location + 0.1 similarity",
        "2 best + breadth",
    ],
)
def test_a_crawl_agrees_with_a_replay_of_its_policy(tmp_path: Path, order: str) -> None:
    web = small_web(7, HOSTS, pages=50, links=14)
    facts = OrderFacts(query="12 7 33", location=Frontier().location)

    expected = replayed(web, make_order(order, facts))

    settings: dict[str, object] = {"frontier__order": order, "frontier__query": facts.query}
    assert crawled(web, tmp_path / "c", **settings) == expected
    assert len(expected) == 150


@pytest.mark.parametrize("order", ["backlinks", "best", "pagerank", "similarity + location"])
@pytest.mark.parametrize("stops", [(40,), (12, 70, 71)])
def test_a_crawl_that_was_stopped_goes_on_in_the_same_order(
    tmp_path: Path, order: str, stops: tuple[int, ...]
) -> None:
    web = small_web(3, HOSTS, pages=40, links=10)
    facts = OrderFacts(query="12 7 33", location=Frontier().location)
    expected = replayed(web, make_order(order, facts))

    settings: dict[str, object] = {
        "frontier__order": order,
        "frontier__query": facts.query,
        **EXACT,
    }
    with site_in_thread({}) as site:
        site.hosts = web.pages(site.port)
        seeds = [site.url(path, host) for host, path in web.seeds]
        for stop in (*stops, 0):
            crawl(tmp_path / "c", seeds, limits__max_pages=stop, **settings)
        found = asked(site)

    assert found[: stops[0]] == expected[: stops[0]]
    assert sorted(found) == sorted(expected)
    if order == "backlinks":  # the others were computed from other links before the stop
        assert found == expected


def test_another_order_takes_over_a_stored_crawl(tmp_path: Path) -> None:
    web = small_web(5, HOSTS, pages=30, links=10)
    with site_in_thread({}) as site:
        site.hosts = web.pages(site.port)
        seeds = [site.url(path, host) for host, path in web.seeds]
        crawl(tmp_path / "c", seeds, limits__max_pages=30, frontier__order="depth", **EXACT)
        crawl(tmp_path / "c", seeds, limits__max_pages=60, frontier__order="backlinks", **EXACT)
        crawl(tmp_path / "c", seeds, frontier__order="breadth", **EXACT)
        found = asked(site)

    known = SimpleCrawl(web, fetched=found[:30])
    for url in found[30:60]:
        queued = {target for source in known.fetched for target in web.links[source]}
        queued -= set(known.fetched)
        if url in web.seeds:  # they come first
            queued = {url}
        assert known.links_to(url) == max(map(known.links_to, queued))
        known.fetched.append(url)
    assert len(set(found)) == len(found) == 90


@pytest.mark.parametrize("has_graph", [True, False])
def test_a_crawl_runs_on_while_it_reads_what_earlier_runs_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_graph: bool
) -> None:
    monkeypatch.setattr("gossamer.node.selection.restore.FEW_URLS", 0)
    web = small_web(6, HOSTS, pages=30, links=10)
    settings: dict[str, object] = {
        "frontier__order": "best",
        "scope__kind": "any",
        "node__graph": has_graph,
    }
    with site_in_thread({}) as site:
        site.hosts = web.pages(site.port)
        seeds = [site.url(path, host) for host, path in web.seeds]
        for stop in (10, 11, 40, 0):
            crawl(tmp_path / "c", seeds, limits__max_pages=stop, **settings)
        found = asked(site)

    assert len(set(found)) == len(found) == 90
