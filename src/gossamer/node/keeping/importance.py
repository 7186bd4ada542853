"""The importance of URLs by the links of all pages that this crawl has fetched.

The metric is an order of `policies/orders/`, whatever order the requests have. Links of pages that
have left the collection count, too: they were seen. In memory: 80 to 110 bytes for each URL that is
linked or fetched, and 4 for each link. URLs beyond `frontier.scored_urls` are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.frontier.selection.url_slots import KEY_BYTES, NONE, SlotByKey
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.urls.repeated_links import RECORD_BYTES

NO_SLOT: Final = NONE
_AN_ERROR: Final = 400  # statuses from here on are errors

_AT_ONCE: Final = 1_000  # pages that are noted together: one by one takes five times as long


class LiveImportance:
    """Columns and links of one crawl, and the values of a metric. What `learn` is told counts after
    the next `settle`."""

    def __init__(self, metric: ColumnOrder, most_urls: int) -> None:
        self._metric = metric
        self._table = SlotByKey(most_urls)
        self.pages = PageColumns()
        self.edges = Edges()
        self._is_error: NDArray[np.bool_] = np.zeros(1_024, np.bool_)
        self._new: dict[bytes, tuple[bytes, bool]] = {}  # targets, and whether it is an error

    @property
    def is_full(self) -> bool:
        """Whether so many pages wait that `settle` should not."""
        return len(self._new) >= _AT_ONCE

    def key_of(self, slot: int) -> bytes:
        return self._table.key_of(slot)

    def values(self, slots: UrlSlots) -> Values:
        """The importance of URLs. A page that answers with an error is worth nothing."""
        values = self._metric.value(self.pages, slots)
        return np.where(self._is_error[slots], np.float32(0), values)

    def learn(self, key: bytes, found: Iterable[bytes], repeated: bytes, status: int) -> None:
        """A page was fetched that links to these URLs. `repeated` are the keys of further ones, as
        a report has them. Of a page that comes twice before `settle`, the last time counts."""
        records = np.frombuffer(repeated, np.uint8).reshape(-1, RECORD_BYTES)
        targets = b"".join(found) + records[:, :KEY_BYTES].tobytes()
        is_error = status >= _AN_ERROR
        self._new.pop(key, None)
        self._new[key] = b"" if is_error else targets, is_error

    def settle(self) -> UrlSlots:
        """Note the pages that were learned; their slots, in order. Pages for which there is no room
        have none."""
        new, self._new = self._new, {}
        if not new:
            return np.zeros(0, np.int32)
        slots = self._slots_of(b"".join((*new, *(targets for targets, _ in new.values()))))
        sources, targets = slots[: len(new)], slots[len(new) :]
        counts = np.array([len(links) // KEY_BYTES for links, _ in new.values()], np.int64)
        has_slot = sources != NO_SLOT
        errors = np.array([is_error for _, is_error in new.values()], np.bool_)
        self._is_error[sources[has_slot]] = errors[has_slot]
        self._note_links(_batch(sources, counts, targets))
        self._metric.recompute(self.pages, self.edges)
        noted: UrlSlots = sources[has_slot]
        return noted

    def note_stored(self, keys: Sequence[bytes], statuses: Sequence[int]) -> UrlSlots:
        """Pages were fetched by earlier runs; their slots, NO_SLOT where there is no room."""
        slots = self._slots_of(b"".join(keys))
        has_slot = slots != NO_SLOT
        self.pages.note_fetched(slots[has_slot])
        self._is_error[slots[has_slot]] = np.array(statuses)[has_slot] >= _AN_ERROR
        return slots

    def _note_links(self, batch: LinkBatch) -> None:
        known = batch.sources[self.pages.is_fetched[batch.sources]]
        before = self.edges.of(known) if len(known) else None
        if before is not None:  # pages that were fetched before: only the difference counts
            np.subtract.at(self.pages.links, before.targets, 1)
        is_new = ~self.pages.is_fetched[batch.sources]
        self.pages.note_fetched(batch.sources)
        self.pages.note_links(batch.targets)
        self.edges.add(batch)
        # What was handed on before is not handed on again.
        told = batch if before is None else self.edges.of(batch.sources[is_new])
        self._metric.learn(self.pages, self.edges, told)

    def _slots_of(self, keys: bytes) -> UrlSlots:
        """The slots of URLs; new ones get one while there is room."""
        slots = self._table.find(keys)
        missing = np.flatnonzero(slots == NO_SLOT)
        if not len(missing) or self._table.is_full:
            return slots
        pieces = (keys[at * KEY_BYTES : (at + 1) * KEY_BYTES] for at in missing.tolist())
        new = self._table.add(b"".join(dict.fromkeys(pieces)))
        self.pages.add(0, 0, len(new))
        if self.pages.count > len(self._is_error):
            more = np.zeros(self.pages.count, np.bool_)
            self._is_error = np.concatenate((self._is_error, more))
        return self._table.find(keys)


def _batch(sources: UrlSlots, counts: NDArray[np.int64], targets: UrlSlots) -> LinkBatch:
    """The links of pages, each once, without links of a page to itself and URLs without a slot."""
    page = np.repeat(np.arange(len(sources)), counts)
    is_link = (targets != NO_SLOT) & (targets != sources[page]) & (sources[page] != NO_SLOT)
    pairs = np.unique(page[is_link] << 32 | targets[is_link])
    has_slot = np.flatnonzero(sources != NO_SLOT)
    many = np.bincount(pairs >> 32, minlength=len(sources))[has_slot]
    linked = (pairs & 0xFFFF_FFFF).astype(np.int32)
    return LinkBatch(sources[has_slot], many.astype(np.int32), linked)
