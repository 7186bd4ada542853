"""Whole crawls, where the order of fetches does not matter: which pages, and how many messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.queues import PageNumbers

PageMask = NDArray[np.bool_]


def reachable(graph: LinkGraph, seeds: PageNumbers, owners: PageNumbers | None = None) -> PageMask:
    """The pages that a crawl from `seeds` reaches. With `owners` it follows only links between
    pages of one owner, as processes in firewall mode do."""
    is_reached = np.zeros(graph.pages, bool)
    is_reached[seeds] = True
    frontier = np.unique(seeds)
    while len(frontier):
        links = graph.links_of(frontier)
        targets = links.targets
        if owners is not None:
            targets = targets[np.repeat(owners[frontier], links.counts) == owners[targets]]
        targets = targets[~is_reached[targets]]
        is_reached[targets] = True
        frontier = np.unique(targets)
    return is_reached


def reached_by_each(
    graph: LinkGraph, seeds: PageNumbers, starts: PageNumbers, count: int
) -> list[int]:
    """How many pages each process fetches that follows every link from its own seeds; seed `i`
    belongs to process `starts[i]`."""
    matrix = _matrix(graph, seeds, starts, count)
    return [_reached_from(matrix, graph.pages + process) - 1 for process in range(count)]


def _matrix(graph: LinkGraph, seeds: PageNumbers, starts: PageNumbers, count: int) -> Any:
    """The links for SciPy, with one more node per process, which links to its seeds."""
    from scipy.sparse import csr_array

    order = np.argsort(starts, kind="stable")
    extra = np.cumsum(np.bincount(starts, minlength=count)) + graph.links
    offsets = np.concatenate((graph.offsets, extra))
    targets = np.concatenate((graph.targets, seeds[order].astype(np.int32)))
    size = graph.pages + count
    ones = np.ones(len(targets), np.int8)
    make: Any = csr_array
    return make((ones, targets, offsets), shape=(size, size))


def _reached_from(matrix: Any, node: int) -> int:
    from scipy.sparse.csgraph import breadth_first_order

    return len(breadth_first_order(matrix, node, return_predecessors=False))


def messages(
    graph: LinkGraph, is_fetched: PageMask, owners: PageNumbers, count: int
) -> tuple[int, int]:
    """URLs that the processes send to each other in exchange mode: every link, and each URL once
    by each sender."""
    sources = np.repeat(np.arange(graph.pages, dtype=np.int32), graph.out_degree)
    senders, receivers = owners[sources], owners[graph.targets]
    crosses = (senders != receivers) & is_fetched[sources]
    is_sent = np.zeros(count * graph.pages, bool)
    is_sent[senders[crosses].astype(np.int64) * graph.pages + graph.targets[crosses]] = True
    return int(crosses.sum()), int(is_sent.sum())
