"""Simulated time, politeness and failures."""

import numpy as np
import pytest

from gossamer.lab.graph import LinkGraph, graph_of
from gossamer.lab.simulated_time import SimulatedTime, TimeSettings


def a_graph(sites: list[int]) -> LinkGraph:
    pages = len(sites)
    links = graph_of(np.arange(pages), (np.arange(pages) + 1) % pages, pages)
    return LinkGraph(links.offsets, links.targets, np.array(sites, np.int32))


def pages(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


def test_one_site_is_requested_with_delays_and_several_at_the_same_time() -> None:
    one = SimulatedTime(a_graph([0, 0, 0]), TimeSettings(delay_s=10, latency_s=0))
    many = SimulatedTime(a_graph([0, 1, 2]), TimeSettings(delay_s=10, latency_s=0))

    assert one.fetch(pages(0, 1, 2)) == pytest.approx(20)
    assert many.fetch(pages(0, 1, 2)) == pytest.approx(0)


def test_a_site_is_left_alone_after_its_answer() -> None:
    time = SimulatedTime(a_graph([0, 0, 1]), TimeSettings(delay_s=10, latency_s=0))

    assert time.fetch(pages(0)) == pytest.approx(0)
    assert time.fetch(pages(2)) == pytest.approx(0)
    assert time.fetch(pages(1)) == pytest.approx(10)


def test_failed_requests_are_sent_again_and_lost_pages_have_no_links() -> None:
    graph = a_graph([0] * 2_000)
    time = SimulatedTime(graph, TimeSettings(delay_s=0, latency_s=1, failures=0.5))
    seen = time.crawled_graph(graph)

    assert time.is_lost.mean() == pytest.approx(0.125, abs=0.03)
    assert seen.links == 2_000 - int(time.is_lost.sum())
    assert (seen.out_degree[time.is_lost] == 0).all()
    time.fetch(np.arange(2_000, dtype=np.int32))
    assert time.requests / 2_000 == pytest.approx(1.75, abs=0.1)


def test_the_same_settings_give_the_same_times() -> None:
    graph = a_graph([0, 1, 2, 1])
    first, again = (SimulatedTime(graph, TimeSettings(failures=0.3)) for _ in range(2))

    assert first.fetch(pages(0, 1, 2, 3)) == again.fetch(pages(0, 1, 2, 3))
    assert (first.is_lost == again.is_lost).all()
