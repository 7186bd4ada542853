"""A stored link graph."""

import numpy as np

from gossamer.lab.experiment import Experiment
from gossamer.lab.graph import graph_of


def test_repeated_links_and_links_to_itself_are_left_out() -> None:
    graph = graph_of(np.array([0, 0, 2, 1]), np.array([1, 1, 2, 0]), pages=4)

    assert (graph.pages, graph.links) == (4, 2)
    assert graph.out_degree.tolist() == [1, 1, 0, 0]
    assert graph.in_degree.tolist() == [1, 1, 0, 0]


def test_the_links_of_pages_come_in_the_order_of_the_pages() -> None:
    graph = graph_of(np.array([0, 0, 2]), np.array([1, 2, 0]))

    batch = graph.links_of(np.array([2, 1, 0], np.int32))

    assert batch.counts.tolist() == [1, 0, 2]
    assert batch.targets.tolist() == [0, 1, 2]


def test_a_graph_without_links_has_its_pages() -> None:
    nothing = np.array([], np.int32)

    assert graph_of(nothing, nothing, pages=3).pages == 3


def test_a_result_carries_version_settings_and_digest() -> None:
    made = Experiment("order", "Orders", {"seeds": 10}, "sha256:ab", {"breadth": 0.4}).as_json()

    assert made["schema"] == 1
    assert made["settings"] == {"seeds": 10}
    assert {"version", "data_digest", "results"} <= made.keys()
