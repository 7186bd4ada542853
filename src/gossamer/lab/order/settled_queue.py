"""The queue of a virtual crawler whose order never changes a value: each URL is scored once.

The next URLs lie in order; the rest lies unsorted until it is needed.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.lab.order.queue_keys import LAST_KEY, QueueKeys, queue_keys, slots_of
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns, UrlSlots

_LEAST: Final = 4_096  # URLs that are put in order at once
_SHARE: Final = 8  # or one of so many that wait: sorting them all would cost more than looking


class SettledQueue:
    """URLs that wait, by slot."""

    def __init__(self, pages: PageColumns, order: ColumnOrder) -> None:
        self._pages = pages
        self._order = order
        self._next: QueueKeys = np.zeros(0, np.uint64)  # in order, all before those in `_rest`
        self._rest: list[QueueKeys] = []
        self._limit = np.uint64(0)  # the last key that belongs into `_next`
        self.count = 0

    def add(self, slots: UrlSlots) -> None:
        """Queue URLs that are new."""
        values = self._order.value(self._pages, slots)
        keys = queue_keys(values, slots, self._order.is_newest_first)
        is_next = keys <= self._limit
        if is_next.any():
            early = np.sort(keys[is_next])
            self._next = np.insert(self._next, np.searchsorted(self._next, early), early)
            keys = keys[~is_next]
        if len(keys):
            self._rest.append(keys)
        self.count += len(slots)

    def take(self, many: int) -> UrlSlots:
        """Remove the best URLs and return them, the best first. As many as there are, if less."""
        many = min(many, self.count)
        if len(self._next) < many:
            self._refill(many)
        taken, self._next = self._next[:many], self._next[many:]
        self.count -= many
        return slots_of(taken, self._order.is_newest_first)

    def _refill(self, many: int) -> None:
        rest = np.concatenate(self._rest)
        size = max(many, _LEAST, len(rest) // _SHARE)
        if size >= len(rest):
            more, self._rest, self._limit = np.sort(rest), [], LAST_KEY
        else:
            parted = np.partition(rest, size)
            more, self._rest = np.sort(parted[:size]), [parted[size:]]
            self._limit = more[-1]
        self._next = np.concatenate((self._next, more))
