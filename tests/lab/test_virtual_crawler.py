"""The virtual crawler, against a simulator that looks at all queued URLs before each page."""

from collections import deque
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph, graph_of
from gossamer.lab.virtual_crawler import VirtualCrawler
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.named import LINK_ORDERS
from support.rows import each_row


def a_graph(pages: int, links: int, seed: int, sites: int = 5) -> LinkGraph:
    random = np.random.default_rng(seed)
    heads = (pages * random.random(links) ** 2).astype(np.int64)  # some pages have many links
    graph = graph_of(random.integers(0, pages, links), heads, pages)
    site = random.integers(0, sites, pages).astype(np.int32)
    return LinkGraph(graph.offsets, graph.targets, site)


def ints(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def naive_visits(graph: LinkGraph, name: str, seeds: list[int], in_flight: int) -> list[int]:
    """Each page of a batch is the best of all queued URLs, after those before it count for their
    sites."""
    order, columns, edges = LINK_ORDERS[name](0), PageColumns(), Edges()
    known: list[int] = []  # pages by slot
    queued: list[int] = []

    def add(page: int, depth: int) -> None:
        queued.append(columns.add(depth, int(graph.site[page])))
        known.append(page)

    def best() -> int:
        slots = np.array(queued, np.int32)
        had = columns.site_fetched[columns.site[slots]].astype(np.float32) + np.float32(1)
        had += np.array([in_batch.count(int(columns.site[slot])) for slot in queued], np.float32)
        values = order.value(columns, slots)
        if order.site_power:
            values = values / had ** np.float32(order.site_power)
        sign = -1 if order.is_newest_first else 1
        return min(zip(-values, sign * slots, queued, strict=True))[2]

    for seed in seeds:
        add(seed, 0)
    visits, batch = [], list(queued)
    while batch:
        queued = [slot for slot in queued if slot not in batch]
        columns.note_fetched(np.array(batch, np.int32))
        links = [graph.links_of(ints(known[slot])).targets.tolist() for slot in batch]
        for slot, targets in zip(batch, links, strict=True):
            visits.append(known[slot])
            for page in targets:
                if page not in known:
                    add(page, int(columns.depth[slot]) + 1)
        slots = [[known.index(page) for page in targets] for targets in links]
        learned = LinkBatch(ints(*batch), ints(*map(len, slots)), ints(*chain(*slots)))
        columns.note_links(learned.targets)
        edges.add(learned)
        order.learn(columns, edges, learned)
        order.recompute(columns, edges)
        batch, in_batch = [], []
        while queued and len(batch) < in_flight:
            chosen = best()
            queued.remove(chosen)
            batch.append(chosen)
            in_batch.append(int(columns.site[chosen]))
    return visits


@each_row("in_flight", [1, 7, 40])
@each_row("name", LINK_ORDERS)
def test_visits_are_those_of_a_simulator_that_looks_at_all(name: str, in_flight: int) -> None:
    graph = a_graph(260, 1_200, seed=in_flight)
    crawler = VirtualCrawler(graph, LINK_ORDERS[name](0), ints(3, 99, 7), in_flight)

    assert crawler.run().tolist() == naive_visits(graph, name, [3, 99, 7], in_flight)


@given(
    st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 9), st.sampled_from([*LINK_ORDERS])
)
@settings(max_examples=40, deadline=None)
def test_any_graph_is_visited_as_by_the_simulator(
    seed: int, pages: int, in_flight: int, name: str
) -> None:
    graph = a_graph(pages, 4 * pages, seed, sites=1 + seed % 4)
    crawler = VirtualCrawler(graph, LINK_ORDERS[name](0), ints(seed % pages), in_flight)

    assert crawler.run().tolist() == naive_visits(graph, name, [seed % pages], in_flight)


def test_breadth_first_is_the_order_of_a_queue() -> None:
    graph = a_graph(500, 2_500, seed=1)
    queue, seen, expected = deque([5]), {5}, []
    while queue:
        expected.append(page := queue.popleft())
        for target in graph.links_of(ints(page)).targets.tolist():
            if target not in seen:
                seen.add(target)
                queue.append(target)

    for in_flight in (1, 100):
        crawler = VirtualCrawler(graph, LINK_ORDERS["breadth"](0), ints(5), in_flight)
        assert crawler.run().tolist() == expected


@pytest.mark.parametrize("name", LINK_ORDERS)
def test_a_small_hot_set_does_not_change_what_is_chosen(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = a_graph(3_000, 20_000, seed=4, sites=40)
    whole = VirtualCrawler(graph, LINK_ORDERS[name](0), ints(1, 2), 10).run()
    monkeypatch.setattr("gossamer.lab.order.best_queue._MIN_HOT", 12)
    monkeypatch.setattr("gossamer.lab.order.best_queue._HOT_BATCHES", 1)
    monkeypatch.setattr("gossamer.lab.order.settled_queue._LEAST", 5)
    monkeypatch.setattr("gossamer.lab.order.settled_queue._SHARE", 1_000)

    assert (
        VirtualCrawler(graph, LINK_ORDERS[name](0), ints(1, 2), 10).run().tolist() == whole.tolist()
    )


@each_row("name", LINK_ORDERS)
def test_every_page_that_can_be_reached_is_visited_once(name: str) -> None:
    graph = graph_of(ints(0, 1, 2, 4, 6), ints(1, 2, 0, 5, 0), pages=8)

    visits = VirtualCrawler(graph, LINK_ORDERS[name](0), ints(4, 1)).run()

    assert visits[:2].tolist() == [4, 1]
    assert sorted(visits.tolist()) == [0, 1, 2, 4, 5]


def test_a_crawl_can_stop_after_some_pages() -> None:
    graph = a_graph(500, 2_500, seed=1)
    whole = VirtualCrawler(graph, LINK_ORDERS["best"](0), ints(5)).run()

    first = VirtualCrawler(graph, LINK_ORDERS["best"](0), ints(5)).run(most=120)

    assert first.tolist() == whole[:120].tolist()
