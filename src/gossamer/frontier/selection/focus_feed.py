"""Passes the words of fetched pages on to the order of a focused crawl."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.frontier.selection.url_slots import NONE, SlotByKey
from gossamer.policies.focus.focused_order import FocusedOrder
from gossamer.policies.focus.page_words import PageWords
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.mix import Mix

MOST_JUDGED: Final = 200_000  # pages whose relevance is stored, 18 bytes each


class FocusFeed:
    """Knows the slots of URLs, which the order does not."""

    def __init__(self, order: FocusedOrder, table: SlotByKey) -> None:
        self.order = order
        self._table = table
        self.stored: tuple[bytes, bytes] = b"", b""  # what an earlier run gave as `judged`
        self.example_keys: set[bytes] = set()  # of URLs whose pages are examples
        self._relevant: list[bytes] = []  # keys of pages, since they were taken

    def judged(self, pages: PageColumns, most: int = MOST_JUDGED) -> tuple[bytes, bytes]:
        """Keys and relevance (as 16-bit floats) of fetched pages, the last ones found."""
        slots = np.flatnonzero(pages.is_fetched[: pages.count])[-most:]
        keys = b"".join([self._table.key_of(slot) for slot in slots.tolist()])
        return keys, pages.relevance[slots].astype("<f2").tobytes()

    def restore(self, pages: PageColumns) -> None:
        """Take over what an earlier run has judged. The URLs have their slots already."""
        keys, packed = self.stored
        values = np.frombuffer(packed, "<f2").astype(np.float32)
        slots = self._table.find(keys)
        known = (slots != NONE) & np.isfinite(values)
        pages.relevance[slots[known]] = np.clip(values[known], 0.0, 1.0)
        self.order.note_judged(slots[known])

    def take(self, key: bytes, source: int, found: bytes, words: bytes) -> None:
        """The page at `key` was fetched. `found` are the keys of its links to new URLs, `words`
        what a worker sent (`policies/focus/page_words.py`)."""
        page = PageWords.unpack(words)
        if key in self.example_keys:
            self.example_keys.discard(key)
            self.order.mark(page.page, is_wanted=True)
        given = page.relevance if page.relevance >= 0.0 else None
        before = self.order.relevant
        if source != NONE:
            self.order.note_page(source, page.page, given)
        else:
            self.order.judge_page(page.page, given)
        if self.order.relevant > before:
            self._relevant.append(key)
        slots = self._table.find(found)
        known = np.flatnonzero(slots != NONE)
        if len(known) and len(slots) == len(page.links):
            links, contexts = page.links[known], page.contexts[known]
            self.order.note_link_words(slots[known], links, contexts)

    def take_relevant(self) -> list[bytes]:
        """The keys of pages that were found relevant since the last time."""
        keys, self._relevant = self._relevant, []
        return keys


def feed_for(order: ColumnOrder, table: SlotByKey) -> FocusFeed | None:
    """The feed of an order by topic, or of a mix with one; None for another order."""
    orders = [part.order for part in order.parts] if isinstance(order, Mix) else [order]
    for one in orders:
        if isinstance(one, FocusedOrder):
            return FocusFeed(one, table)
    return None
