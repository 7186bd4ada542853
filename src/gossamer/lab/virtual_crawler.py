"""A virtual crawler: replays an order on a stored link graph.

It sees only what a crawler would have seen: the links of the pages that it has fetched. It fetches
a batch of pages at a time, as many as a crawler has in flight, and learns of their links after the
batch. The same graph, order and seeds give the same visits, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph
from gossamer.lab.order.best_queue import BestQueue
from gossamer.lab.order.settled_queue import SettledQueue
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns, UrlSlots
from gossamer.policies.orders.edges import Edges, LinkBatch

IN_FLIGHT: Final = 100  # pages of a batch

GraphPages = NDArray[np.int32]  # numbers of pages in the graph


class VirtualCrawler:
    """One replay. Seeds are fetched first, in the given order."""

    def __init__(
        self, graph: LinkGraph, order: ColumnOrder, seeds: GraphPages, in_flight: int = IN_FLIGHT
    ) -> None:
        self._graph = graph
        self._order = order
        self._in_flight = in_flight
        self.columns = PageColumns(graph.pages)
        links = graph.links if order.uses_links else 0
        self.edges = Edges(graph.pages if order.uses_links else 0, links)
        self.page_of: GraphPages = np.zeros(graph.pages, np.int32)  # by slot
        self.slot_of: UrlSlots = np.full(graph.pages, -1, np.int32)  # by page; -1: not known
        self._mark: NDArray[np.int32] = np.zeros(graph.pages, np.int32)
        self._queue: BestQueue | SettledQueue
        if order.uses_links:
            self._queue = BestQueue(self.columns, order, graph.pages)
        else:
            self._queue = SettledQueue(self.columns, order)
        self._seeds = self._add(seeds, np.zeros(len(seeds), np.int32))

    def run(self, most: int | None = None) -> GraphPages:
        """The pages in the order in which they are fetched: all that can be reached from the seeds,
        or the first `most`."""
        visits: GraphPages = np.empty(self._graph.pages, np.int32)
        done = 0
        for batch in self.batches():
            visits[done : done + len(batch)] = batch
            done += len(batch)
            if most is not None and done >= most:
                return visits[:most]
        return visits[:done]

    def batches(self) -> Iterator[GraphPages]:
        """Fetch all, batch by batch; the pages of each after the crawler has learned of them."""
        for start in range(0, len(self._seeds), self._in_flight):
            yield self._fetch(self._seeds[start : start + self._in_flight])
        while self._queue.count:
            yield self._fetch(self._queue.take(self._in_flight))

    def _fetch(self, slots: UrlSlots) -> GraphPages:
        columns = self.columns
        columns.note_fetched(slots)
        pages = self.page_of[slots]
        batch = self._graph.links_of(pages)
        known = self._found(batch, slots)
        if isinstance(self._queue, BestQueue):
            columns.note_links(known.targets)
            self.edges.add(known)
            changed = self._order.learn(columns, self.edges, known)
            if self._order.recompute(columns, self.edges):
                self._queue.forget_values()
            else:
                self._queue.note_changed(changed)
                self._queue.note_changed(known.targets)  # new URLs are among them
        return pages

    def _found(self, batch: LinkBatch, slots: UrlSlots) -> LinkBatch:
        """Give slots to new URLs, in the order of the links; the batch with slots for pages."""
        targets = batch.targets
        found = self.slot_of[targets]
        fresh = np.flatnonzero(found < 0)
        if len(fresh):
            pages = targets[fresh]
            numbers = np.arange(len(pages), dtype=np.int32)
            self._mark[pages[::-1]] = numbers[::-1]  # the first of equal ones is written last
            first = fresh[self._mark[pages] == numbers]
            ends = np.cumsum(batch.counts)
            sources = np.searchsorted(ends, first, side="right")
            new = self._add(targets[first], self.columns.depth[slots[sources]] + 1)
            self._queue.add(new)
            found = self.slot_of[targets]
        return LinkBatch(slots, batch.counts, found)

    def _add(self, pages: GraphPages, depths: NDArray[np.int32]) -> UrlSlots:
        many = len(pages)
        if not many:
            return pages
        first = self.columns.add(depths, self._graph.site[pages], many)
        slots = np.arange(first, first + many, dtype=np.int32)
        self.page_of[first : first + many] = pages
        self.slot_of[pages] = slots
        return slots
