"""Orders that links alone make."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policies.orders.best import Best
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.growth import Growth
from gossamer.policies.orders.importance import IMPORTANCE
from gossamer.policies.orders.named import LINK_ORDERS
from gossamer.policies.orders.opic import Opic
from gossamer.policies.orders.ranks import page_ranks, site_ranks
from support.rows import each_row

Links = dict[int, list[int]]


def crawled(order: ColumnOrder, links: Links, pages: int, seeds: int = 1) -> PageColumns:
    """Columns after the pages of `links` were fetched one after another."""
    columns, edges = PageColumns(), Edges()
    columns.add(np.array([0] * seeds + [1] * (pages - seeds), np.int32), 0, pages)
    for page, targets in links.items():
        batch = LinkBatch(slots(page), slots(len(targets)), slots(*targets))
        columns.note_fetched(batch.sources)
        columns.note_links(batch.targets)
        edges.add(batch)
        order.learn(columns, edges, batch)
        order.recompute(columns, edges)
    return columns


def slots(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


def edges_of(links: Links) -> Edges:
    edges = Edges()
    for page, targets in links.items():
        edges.add(LinkBatch(slots(page), slots(len(targets)), slots(*targets)))
    return edges


@each_row("name", LINK_ORDERS)
def test_every_order_gives_values_of_zero_or_more(name: str) -> None:
    order = LINK_ORDERS[name](3)
    columns = crawled(order, {0: [1, 2], 1: [2, 3], 2: []}, 4)

    values = order.value(columns, slots(3, 1, 2))

    assert values.dtype == np.float32
    assert (values >= 0).all()
    assert values.tolist() == [float(order.value(columns, slots(n))[0]) for n in (3, 1, 2)]


def test_breadth_prefers_what_is_near_and_depth_what_is_far() -> None:
    columns = PageColumns()
    columns.add(slots(0, 1, 5), 0, 3)
    near = LINK_ORDERS["breadth"](0).value(columns, slots(0, 1, 2))
    far = LINK_ORDERS["depth"](0).value(columns, slots(0, 1, 2))

    assert np.argsort(-near).tolist() == [0, 1, 2]
    assert np.argsort(-far).tolist() == [2, 1, 0]


def test_a_random_order_is_the_same_for_the_same_seed_alone() -> None:
    columns = PageColumns()
    columns.add(0, 0, 1_000)
    every = np.arange(1_000, dtype=np.int32)
    first, again, other = (LINK_ORDERS["random"](n).value(columns, every) for n in (1, 1, 2))

    assert (first == again).all()
    assert abs(float(np.corrcoef(first, other)[0, 1])) < 0.1
    assert abs(float(np.corrcoef(first, every)[0, 1])) < 0.1


def test_ranks_are_those_of_networkx_where_every_page_links() -> None:
    links = {0: [1, 2], 1: [2], 2: [0, 3], 3: [0]}
    expected = nx.pagerank(nx.DiGraph(links), alpha=0.85, tol=1e-12)

    ranks = page_ranks(edges_of(links), 4, np.full(4, 0.25))

    shares = ranks / ranks.sum()
    assert shares.tolist() == pytest.approx([expected[page] for page in range(4)], abs=2e-3)


def test_a_link_from_a_page_of_high_rank_counts_more() -> None:
    columns = crawled(
        order := LINK_ORDERS["pagerank"](0), {0: [1, 2, 3], 2: [1], 3: [1], 1: [4]}, 6
    )
    values = order.value(columns, slots(4, 5))

    assert values[0] > 3 * values[1]


def test_the_rank_of_a_site_is_the_mean_of_its_fetched_pages() -> None:
    ranks = np.array([4.0, 2.0, 0.5, 9.0, 1.0], np.float32)
    is_fetched = np.array([True, True, False, True, False])

    means = site_ranks(ranks, slots(0, 0, 0, 1, 2), is_fetched)

    average = 16.5 / 5
    assert means.tolist() == pytest.approx([(6 + average) / 3, (9 + average) / 2, average])


def test_a_page_in_a_closed_cluster_loses_against_one_with_few_good_links() -> None:
    """Cho's example: backlinks prefer the cluster, PageRank the page that a good page links to."""
    cluster = {n: [m for m in range(10, 16) if m != n] for n in range(10, 15)}
    links = {**{n: [9] for n in range(9)}, 9: [16], **cluster}
    counted, ranked = LINK_ORDERS["backlinks"](0), LINK_ORDERS["pagerank"](0)

    by_count = counted.value(crawled(counted, links, 17), slots(15, 16))
    by_rank = ranked.value(crawled(ranked, links, 17), slots(15, 16))

    assert by_count[0] > by_count[1]
    assert by_rank[1] > by_rank[0]


@given(st.lists(st.sets(st.integers(0, 9), max_size=6), min_size=1, max_size=10))
def test_opic_neither_makes_nor_loses_cash(rows: list[set[int]]) -> None:
    links = {page: sorted(targets - {page}) for page, targets in enumerate(rows)}
    order = Opic()
    columns = crawled(order, links, 10)

    assert float(columns.cash.sum()) + order.virtual == pytest.approx(1.0, abs=1e-5)
    assert (columns.cash >= 0).all()


def test_cash_of_a_fetched_page_flows_on_along_its_links() -> None:
    """2 gives 1 as much as it had. It goes on to 4 without a request."""
    order = Opic()
    columns = crawled(order, {0: [1, 2, 3], 1: [4], 2: [1]}, 5)

    assert columns.cash[1] == 0.0
    assert float(columns.given[1]) == pytest.approx(1 / 3 + 1 / 3)
    assert float(columns.cash[4]) == pytest.approx(1 / 3 + 1 / 3)


def test_opic_gives_the_cash_of_the_virtual_page_to_all_when_the_crawl_has_grown() -> None:
    order = Opic()
    columns, edges = PageColumns(), Edges()
    columns.add(1, 0, 150)
    columns.note_fetched(np.arange(120, dtype=np.int32))
    order.virtual = 1.0

    assert order.recompute(columns, edges)
    assert order.virtual == 0.0
    assert columns.cash[120:150].tolist() == pytest.approx([columns.cash[149]] * 30)
    assert float(columns.cash.sum()) == pytest.approx(1.0, abs=1e-5)
    assert not order.recompute(columns, edges)


def test_importance_counts_links_in_both_directions() -> None:
    columns = crawled(LINK_ORDERS["opic"](0), links := {0: [1, 2, 3], 1: [2], 2: []}, 4)
    edges = edges_of(links)
    worth = {name: measure(columns, edges).tolist() for name, measure in IMPORTANCE.items()}

    assert worth["backlinks"] == [0, 1, 2, 1]
    assert worth["forward"] == [3, 1, 0, 0]
    assert np.argmax(worth["forward-weighted"]) == 0
    assert np.argmax(worth["pagerank"]) == 2
    assert worth["opic"][0] == pytest.approx(1.0)


def test_the_cost_of_computing_at_growth_is_bounded() -> None:
    growth = Growth()
    times = [count for count in range(100_000) if growth.is_due(count)]

    assert sum(times) < 11.5 * times[-1]
    assert len(times) < 90


def test_best_divides_by_sites_as_far_as_links_stay_within_them() -> None:
    order = Best()
    columns, edges = PageColumns(), Edges()
    columns.add(0, np.arange(200, dtype=np.int32) % 2, 200)
    sources = np.arange(100, dtype=np.int32)
    within, between = (sources + 2) % 200, (sources + 1) % 200
    targets = np.where(sources < 25, within, between)
    batch = LinkBatch(sources, np.ones(100, np.int32), targets)
    columns.note_fetched(sources)
    edges.add(batch)

    assert order.site_power == 0.5
    order.learn(columns, edges, batch)
    assert order.recompute(columns, edges)
    assert order.site_power == pytest.approx(0.125)
