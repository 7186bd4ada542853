"""Orders compared on a graph."""

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.lab.graph import LinkGraph, graph_of
from gossamer.lab.order.compare import IDEAL, OrderSettings, compare_orders
from gossamer.lab.order.measures import KnownWorth, measure_visits, shared_pages
from gossamer.lab.order.tables import order_experiment
from gossamer.lab.order.true_rank import true_ranks
from gossamer.policies.orders.named import LINK_ORDERS


def a_web(pages: int = 600, seed: int = 0) -> LinkGraph:
    """Sites of 20 pages: all link to the first of their site, some to the first of another."""
    random = np.random.default_rng(seed)
    page = np.arange(pages)
    root = page // 20 * 20
    other = random.integers(0, pages // 20, pages) * 20
    beside = root + random.integers(0, 20, pages)
    sources = np.concatenate((page, page, page, root))
    graph = graph_of(sources, np.concatenate((root, other, beside, page)), pages)
    return LinkGraph(graph.offsets, graph.targets, (page // 20).astype(np.int32), "sha256:x")


def test_true_ranks_are_those_of_networkx() -> None:
    import networkx as nx

    graph = a_web(100)
    whole = nx.DiGraph()
    whole.add_nodes_from(range(100))
    sources = np.repeat(np.arange(100), graph.out_degree)
    whole.add_edges_from(zip(sources.tolist(), graph.targets.tolist(), strict=True))
    expected = nx.pagerank(whole, alpha=0.85, tol=1e-12)

    assert true_ranks(graph).tolist() == pytest.approx([100 * expected[n] for n in range(100)])


def test_the_area_is_that_between_the_curve_and_the_diagonal() -> None:
    graph = graph_of(np.array([1, 2, 3, 0]), np.array([0, 0, 0, 1]), 4)
    worth = KnownWorth(graph)
    ranks = worth.ranks / worth.ranks.sum()
    visits = np.array([0, 1, 2, 3], np.int32)
    curve = np.concatenate(([0], np.cumsum(ranks)))
    expected = float(sum((curve[i] + curve[i + 1]) / 2 - (i + 0.5) / 4 for i in range(4)) / 4)

    assert measure_visits(visits, worth).area == pytest.approx(expected)
    assert measure_visits(visits[::-1], worth).area == pytest.approx(-expected, abs=0.2)


def test_crawl_and_stop_counts_the_best_among_as_many() -> None:
    graph = graph_of(np.array([1, 2, 3, 2, 3, 3]), np.array([0, 0, 0, 1, 1, 2]), 4)  # 0 is the best
    measures = measure_visits(np.array([1, 0, 2, 3], np.int32), KnownWorth(graph))

    assert measures.top["links"][[25, 50, 75, 100]].tolist() == pytest.approx([0, 1, 1, 1])


def test_the_ideal_crawler_has_the_area_one_and_best_beats_random() -> None:
    settings = OrderSettings(("best", "random"), seeds=3, repeats=2, in_flight=5)
    figures = compare_orders(a_web(), settings)

    assert figures[IDEAL].area == pytest.approx(1.0)
    assert figures["random"].area < figures["best"].area < 1.2


def test_the_same_settings_give_the_same_result() -> None:
    settings = OrderSettings(tuple(LINK_ORDERS), seeds=3, repeats=2, in_flight=20)
    first, again = (compare_orders(a_web(), settings) for _ in range(2))

    assert [one.as_json() for one in first.values()] == [one.as_json() for one in again.values()]


def test_a_result_has_every_table_and_plot() -> None:
    settings = OrderSettings(("backlinks", "breadth"), seeds=3, repeats=2)
    graph = a_web()
    experiment = order_experiment(graph, "web", settings, compare_orders(graph, settings))
    made = experiment.as_json()["results"]

    assert isinstance(made, dict)
    assert set(made) == {"ideal", "backlinks", "breadth"}
    assert set(made["breadth"]["found"]) == {"0.1", "0.2", "0.5"}
    assert 0 < made["breadth"]["area"] <= 1.2
    assert made["backlinks"]["limited_buffer"]["links"]["0.1"] > 0.5
    assert all(len(row) == len(table.columns) for table in experiment.tables for row in table.rows)
    assert len(experiment.plots) == 7


def test_unknown_orders_and_too_many_seeds_are_refused() -> None:
    with pytest.raises(UsageError, match="wrong is not known; known are best"):
        compare_orders(a_web(), OrderSettings(("wrong",)))
    with pytest.raises(UsageError, match="fewer than --seeds"):
        compare_orders(a_web(20), OrderSettings(seeds=50))


def test_sets_of_first_pages_are_compared_in_pairs() -> None:
    one, other, third = (np.array(pages, np.int32) for pages in ([1, 2], [2, 3], [1, 2]))

    assert shared_pages([one, other, third]) == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert shared_pages([one]) is None
