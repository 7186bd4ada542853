"""How much of the area of an order is the rule among equal values, and how much are the seeds?

    python -m bench.order_ties GRAPH SITES [--draws 6]

A plain crawler with heaps, which shares no code with the lab's queues, replays breadth first,
backlinks (also divided by the root of the fetched pages of the site) and OPIC whose cash rests on
fetched pages, with one page in flight. Equal values come in the order in which they were found, at
random, the newest first, or by page number. For breadth first with the first rule it also checks
that the visits are those of the lab. Figures are areas of `gossamer lab order`, mean and spread
between draws of ten seeds. A crawl of 325,000 pages takes about half a minute.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Final

import numpy as np

from gossamer.lab.graph import LinkGraph
from gossamer.lab.graphs import read_graph
from gossamer.lab.order.measures import KnownWorth, measure_visits
from gossamer.lab.virtual_crawler import VirtualCrawler
from gossamer.policies.orders.levels import ByBreadth

SEEDS: Final = 10
TIES: Final = ("first found", "random", "newest", "page number")
ORDERS: Final = ("breadth", "backlinks", "backlinks / root", "opic")


class PlainCrawl:
    """One crawl. A value that changes is pushed again; entries with old values are dropped."""

    def __init__(self, graph: LinkGraph, order: str, ties: str) -> None:
        self._rows = [row.tolist() for row in np.split(graph.targets, graph.offsets[1:-1])]
        shares_out = order == "backlinks / root"
        self._site = graph.site.tolist() if shares_out else [0] * graph.pages
        self._order = order
        self._value = [0.0] * graph.pages
        self._state = bytearray(graph.pages)  # 1: found, 2: fetched
        self._depth = [0] * graph.pages
        self._tie = [0] * graph.pages
        self._next_tie = _tie_maker(ties)
        sites = max(self._site) + 1
        self._heaps: list[list[tuple[float, int, int]]] = [[] for _ in range(sites)]
        self._had = [0] * sites
        self._sites: list[tuple[float, int, int]] = []  # first values of sites, some out of date

    def run(self, seeds: Sequence[int], worth: Sequence[float] = ()) -> list[int]:
        """The visits. With `worth` the order is that of the ideal crawler."""
        visits: list[int] = []
        waiting = list(reversed(seeds))
        while True:
            page = waiting.pop() if waiting else self._best()
            if page is None:
                return visits
            if self._state[page] == 2:
                continue
            if self._order == "opic" and len(visits) < len(seeds):
                self._value[page] = max(1.0, self._value[page])
            visits.append(page)
            self._fetch(page, worth)

    def _fetch(self, page: int, worth: Sequence[float]) -> None:
        self._state[page] = 2
        self._had[self._site[page]] += 1
        targets = self._rows[page]
        given, touched = self._value[page] / max(1, len(targets)), {self._site[page]}
        for target in targets:
            if self._state[target] == 2:
                continue
            is_new = not self._state[target]
            if is_new:
                self._state[target] = 1
                self._depth[target] = self._depth[page] + 1
                self._tie[target] = self._next_tie(target)
            if worth or self._order == "breadth":
                if not is_new:
                    continue
                self._value[target] = worth[target] if worth else 1 / (1 + self._depth[target])
            else:
                self._value[target] += given if self._order == "opic" else 1.0
            site = self._site[target]
            heappush(self._heaps[site], (-self._value[target], self._tie[target], target))
            touched.add(site)
        for site in touched:
            self._place(site)

    def _place(self, site: int) -> None:
        heap = self._heaps[site]
        while heap and (self._state[heap[0][2]] != 1 or -heap[0][0] != self._value[heap[0][2]]):
            heappop(heap)
        if heap:
            heappush(self._sites, (heap[0][0] / (1 + self._had[site]) ** 0.5, heap[0][1], site))

    def _best(self) -> int | None:
        while self._sites:
            value, tie, site = heappop(self._sites)
            heap = self._heaps[site]
            if heap and heap[0][1] == tie and self._state[heap[0][2]] == 1:
                now = heap[0][0] / (1 + self._had[site]) ** 0.5
                if now == value and -heap[0][0] == self._value[heap[0][2]]:
                    return heappop(heap)[2]
        return None


def _tie_maker(ties: str) -> Callable[[int], int]:
    draw, found = random.Random(0), iter(range(sys.maxsize))
    makers: dict[str, Callable[[int], int]] = {
        "first found": lambda _: next(found),
        "random": lambda _: draw.getrandbits(60),
        "newest": lambda _: -next(found),
        "page number": lambda page: page,
    }
    return makers[ties]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", type=Path)
    parser.add_argument("sites", type=Path)
    parser.add_argument("--draws", type=int, default=6)
    options = parser.parse_args()
    graph = read_graph(options.graph, options.sites)
    known = KnownWorth(graph)

    def area(visits: Sequence[int]) -> float:
        return measure_visits(np.array(visits, np.int32), known).area

    draws = [
        np.random.default_rng([0, number])
        .choice(graph.pages, SEEDS, replace=False)
        .astype(np.int32)
        for number in range(options.draws)
    ]
    worth = known.ranks.tolist()
    ideal = [area(PlainCrawl(graph, "ideal", TIES[0]).run(s.tolist(), worth)) for s in draws]
    for ties in TIES:
        for order in ORDERS:
            runs = [PlainCrawl(graph, order, ties).run(seeds.tolist()) for seeds in draws]
            shares = [area(visits) / best for visits, best in zip(runs, ideal, strict=True)]
            mean, spread = float(np.mean(shares)), float(np.std(shares))
            print(f"{ties:12} {order:18} {mean:.3f} ({spread:.3f})", flush=True)
            if (ties, order) == (TIES[0], ORDERS[0]):
                ours = VirtualCrawler(graph, ByBreadth(), draws[0], in_flight=1).run()
                print(f"the lab visits the same pages: {ours.tolist() == runs[0]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
