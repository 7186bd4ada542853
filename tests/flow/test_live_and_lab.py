"""A crawl and the virtual crawler of the lab fetch the same web in the same order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gossamer.lab.graph import LinkGraph
from gossamer.lab.virtual_crawler import VirtualCrawler
from gossamer.policies.orders.named import LINK_ORDERS
from support.a_crawl import crawl
from support.a_site import site_in_thread
from support.small_webs import SmallWeb, Url, small_web

HOSTS = ("a.localhost", "b.localhost", "c.localhost")


def graph_of_web(web: SmallWeb) -> tuple[LinkGraph, list[Url]]:
    """The web as the lab knows it; links stand in the order of the page."""
    urls = list(web.links)
    number = {url: at for at, url in enumerate(urls)}
    rows = [[number[target] for target in web.links[url]] for url in urls]
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    targets = np.array([target for row in rows for target in row], np.int32)
    sites = np.array([web.hosts.index(host) for host, _ in urls], np.int32)
    return LinkGraph(offsets, targets, sites), urls


@pytest.mark.parametrize("hosts", [1, 3])
@pytest.mark.parametrize("order", sorted(set(LINK_ORDERS) - {"breadth", "depth"}))
def test_a_crawl_is_the_replay_of_the_lab(tmp_path: Path, order: str, hosts: int) -> None:
    web = small_web(11, HOSTS[:hosts], pages=150 // hosts, links=12)
    graph, urls = graph_of_web(web)
    seeds = np.array([urls.index(seed) for seed in web.seeds], np.int32)
    visits = VirtualCrawler(graph, LINK_ORDERS[order](0), seeds, in_flight=1).run()
    with site_in_thread({}) as site:
        site.hosts = web.pages(site.port)
        crawl(
            tmp_path / "c",
            [site.url(path, host) for host, path in web.seeds],
            frontier__order=order,
            fetch__connections=1,
            scope__kind="any",
            frontier__trap_budget=0,
        )
        asked = [(one.host, one.path) for one in site.log if one.path != "/robots.txt"]

    assert len(asked) == 150
    assert asked == [urls[page] for page in visits]
