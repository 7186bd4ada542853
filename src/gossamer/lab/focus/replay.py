"""One crawl over stored pages. It knows a page only when a fetched page links to it.

The focused crawl runs the same order object as a live crawl, one page at a time. The oracle knows
the topics of all pages, and requests a known URL of a wanted one first. Breadth first and the
oracle are what a focused crawl is measured against.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.focus.stored_pages import StoredPages
from gossamer.policies.focus.focused_order import FocusedOrder
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.edges import Edges, LinkBatch


def breadth_first(pages: StoredPages, seeds: Sequence[int], most: int) -> list[int]:
    """The pages that are fetched first, in this order."""
    return known_first(pages, seeds, most, frozenset())


def known_first(
    pages: StoredPages, seeds: Sequence[int], most: int, wanted: frozenset[int]
) -> list[int]:
    """Breadth first among the pages in `wanted`, and among the others when none of them is known:
    the oracle. The seeds come first."""
    known = set(seeds)
    first, rest = deque(seeds), deque[int]()
    fetched: list[int] = []
    good = deque[int]()
    while len(fetched) < most and (first or good or rest):
        page = first.popleft() if first else good.popleft() if good else rest.popleft()
        fetched.append(page)
        for target in pages.targets[page].tolist():
            if target not in known:
                known.add(target)
                (good if target in wanted else rest).append(target)
    return fetched


class FocusedReplay:
    """A focused crawl. `fetched` are its pages, in the order of the requests."""

    def __init__(self, pages: StoredPages, order: FocusedOrder) -> None:
        self._stored = pages
        self._order = order
        self._columns = PageColumns()
        self._edges = Edges()
        self._slot: NDArray[np.int32] = np.full(pages.count, -1, np.int32)
        self._page_at: list[int] = []  # by slot
        self.fetched: list[int] = []

    def run(self, seeds: Sequence[int], most: int) -> list[int]:
        """Fetch the seeds, then what the order says, up to `most` pages."""
        self._give_slots(np.array(seeds, np.int32))
        for page in seeds[:most]:
            self._fetch(page)
        while len(self.fetched) < most:
            columns, known = self._columns, self._columns.count
            slots = np.arange(known, dtype=np.int32)
            values = self._order.value(columns, slots)
            values = np.where(columns.is_fetched[:known], -1.0, values)
            best = int(values.argmax())
            if values[best] < 0.0:
                break
            self._fetch(self._page_at[best])
        return self.fetched

    def _fetch(self, page: int) -> None:
        self.fetched.append(page)
        targets = self._stored.targets[page]
        is_new = self._slot[targets] < 0
        self._give_slots(targets[is_new])
        words = self._stored.link_words[page][is_new]
        if len(words):
            self._order.note_link_words(self._slot[targets[is_new]], words)
        slot = self._slot[page]
        batch = LinkBatch(
            np.array([slot], np.int32), np.array([len(targets)], np.int32), self._slot[targets]
        )
        self._columns.note_fetched(batch.sources)
        self._columns.note_links(batch.targets)
        self._edges.add(batch)
        self._order.note_page(int(slot), self._stored.words[page])
        self._order.learn(self._columns, self._edges, batch)
        self._order.recompute(self._columns, self._edges)

    def _give_slots(self, pages: NDArray[np.int32]) -> None:
        if len(pages):
            first = self._columns.add(0, 0, len(pages))
            self._slot[pages] = np.arange(first, first + len(pages), dtype=np.int32)
            self._page_at.extend(pages.tolist())
