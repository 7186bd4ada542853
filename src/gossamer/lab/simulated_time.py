"""Time, politeness and failures for a virtual crawler, without a network and without waiting.

The crawler works in rounds: all pages of a batch are requested, and the next batch begins when the
last answer has come. A site gets one request at a time, with a delay after each answer. Sites
differ in how fast they answer. A request that fails is sent again; after three tries the page is
lost, and its links are never seen. Pages do not change while a crawl runs: `lab refresh` is about
that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph

_TRIES: Final = 3
_SPREAD: Final = 1.0  # of the logarithm of latencies: one site in six is 2.7 times slower


@dataclass(frozen=True, slots=True)
class TimeSettings:
    """How the simulated web answers."""

    delay_s: float = 1.0  # between an answer of a site and the next request to it
    latency_s: float = 0.2  # from request to answer, of the median site
    failures: float = 0.0  # share of the requests that fail
    random_seed: int = 0


class SimulatedTime:
    """The clock of one crawl. The same settings give the same times for all orders."""

    def __init__(self, graph: LinkGraph, settings: TimeSettings) -> None:
        random = np.random.default_rng(settings.random_seed)
        sites = int(graph.site.max(initial=0)) + 1
        factors = np.exp(_SPREAD * random.standard_normal(sites))
        self._latency_s = settings.latency_s * factors
        self._delay_s = settings.delay_s
        self._free_s = np.zeros(sites)  # when each site may be requested again
        self._site = graph.site
        failed = random.random((graph.pages, _TRIES)) < settings.failures
        self._tries = np.where(failed.all(axis=1), _TRIES, 1 + np.argmin(failed, axis=1))
        self.is_lost: NDArray[np.bool_] = np.logical_and.reduce(failed, axis=1)  # by page
        self.now_s = 0.0
        self.requests = 0

    def crawled_graph(self, graph: LinkGraph) -> LinkGraph:
        """The graph as a crawl can see it: lost pages have no links."""
        if not self.is_lost.any():
            return graph
        counts = np.where(self.is_lost, 0, graph.out_degree)
        is_seen = np.repeat(~self.is_lost, graph.out_degree)
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return replace(graph, offsets=offsets, targets=graph.targets[is_seen])

    def fetch(self, pages: NDArray[np.int32]) -> float:
        """Request a batch; the time at which its last answer has come."""
        if not len(pages):
            return self.now_s
        sites, places = np.unique(self._site[pages], return_inverse=True)
        tries = np.bincount(places, self._tries[pages])
        start_s = np.maximum(self.now_s, self._free_s[sites])
        end_s = start_s + tries * self._latency_s[sites] + (tries - 1) * self._delay_s
        self._free_s[sites] = end_s + self._delay_s
        self.requests += int(tries.sum())
        self.now_s = float(end_s.max())
        return self.now_s
