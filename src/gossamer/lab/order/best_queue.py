"""The queue of a virtual crawler: it takes the URLs with the largest values, a batch at a time.

Values change all the time, so that the queue is not kept in order. Instead a small *hot set* holds
every queued URL whose value is at or above a threshold. Each batch is the top of the hot set,
scored anew. Below the threshold nothing has to be looked at: a value only rises when the order
says so (`note_changed`, `forget_values`), and by the division by what a site has had it only falls.
When the batch would reach below the threshold, the hot set is filled again from all queued URLs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.lab.order.queue_keys import LAST_KEY, QueueKeys, queue_keys, slots_of, smallest
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import Ints, PageColumns, UrlSlots

_HOT_BATCHES: Final = 20  # size of a new hot set, in batches: it is scored once per batch
_MIN_HOT: Final = 1_000
_LOOK_AHEAD: Final = 4  # batches of which the sites are counted


class BestQueue:
    """URLs that wait, by slot. At most `room` URLs."""

    def __init__(self, pages: PageColumns, order: ColumnOrder, room: int) -> None:
        self._pages = pages
        self._order = order
        self._is_queued = np.zeros(room, np.bool_)
        self._is_hot = np.zeros(room, np.bool_)
        self._hot: UrlSlots = np.zeros(0, np.int32)
        self._limit = np.uint64(0)  # the last key that belongs into the hot set
        self.count = 0

    def add(self, slots: UrlSlots) -> None:
        """Queue URLs that are new. The caller says then that their values have changed."""
        self._is_queued[slots] = True
        self.count += len(slots)

    def note_changed(self, slots: UrlSlots) -> None:
        """Values of these may have risen."""
        slots = slots[self._is_queued[slots] & ~self._is_hot[slots]]
        if not len(slots):
            return
        risen = slots[self._keys(slots) <= self._limit]
        if len(risen):
            risen = np.unique(risen)
            self._is_hot[risen] = True
            self._hot = np.concatenate((self._hot, risen))

    def forget_values(self) -> None:
        """Any value may have risen."""
        self._is_hot[self._hot] = False
        self._hot = self._hot[:0]
        self._limit = np.uint64(0)

    def take(self, many: int) -> UrlSlots:
        """Remove the best URLs and return them, the best first. As many as there are, if less."""
        many = min(many, self.count)
        size = max(_MIN_HOT, _HOT_BATCHES * many)
        chosen = self._top(many)
        while chosen is None:
            self._fill(size)
            size *= 4
            chosen = self._top(many)
        self._is_queued[chosen] = False
        self._is_hot[chosen] = False
        self._hot = self._hot[self._is_hot[self._hot]]
        self.count -= many
        return chosen

    def _top(self, many: int) -> UrlSlots | None:
        """The best of the hot set; None where they might not be the best of all."""
        if len(self._hot) < many:
            return None
        keys = self._keys(self._hot)
        choose = self._one_after_another if self._order.site_power else smallest
        top = choose(keys, many)
        is_sure = not many or top[-1] <= self._limit
        return slots_of(top, self._order.is_newest_first) if is_sure else None

    def _keys(self, slots: UrlSlots, before: Ints | int = 0) -> QueueKeys:
        """Keys where all sites compete, after `before` further pages of each site were fetched."""
        values = self._order.value(self._pages, slots)
        if self._order.site_power:
            had = self._pages.site_fetched[self._pages.site[slots]] + (1 + before)
            values = values / had.astype(np.float32) ** np.float32(self._order.site_power)
        return queue_keys(values, slots, self._order.is_newest_first)

    def _one_after_another(self, keys: QueueKeys, many: int) -> QueueKeys:
        """The best if each page counts for its site before the next one is chosen.

        Each page of a site makes the next one worth less. So only the first URLs have to be looked
        at, until the last chosen one is better than all others would be at best.
        """
        looked = _LOOK_AHEAD * many
        while True:
            first = smallest(keys, looked)
            slots = slots_of(first, self._order.is_newest_first)
            top = smallest(self._keys(slots, _earlier_of_site(self._pages.site[slots])), many)
            if looked >= len(keys) or top[-1] <= first[-1]:
                return top
            looked *= 4

    def _fill(self, size: int) -> None:
        """Make the hot set the `size` best of all queued URLs."""
        self.forget_values()
        queued = np.flatnonzero(self._is_queued[: self._pages.count]).astype(np.int32)
        if len(queued) <= size:
            self._hot, self._limit = queued, LAST_KEY
        else:
            keys = np.partition(self._keys(queued), size - 1)[:size]
            self._hot = slots_of(keys, self._order.is_newest_first)
            self._limit = keys[-1]
        self._is_hot[self._hot] = True


def _earlier_of_site(sites: Ints) -> Ints:
    """For each entry, how many entries before it have the same number."""
    by_site = np.argsort(sites, kind="stable")
    ordered = sites[by_site]
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    places = np.arange(len(sites), dtype=np.int32)
    earlier = np.empty(len(sites), np.int32)
    earlier[by_site] = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return earlier
