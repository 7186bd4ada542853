"""The links of fetched pages, by slot: 4 bytes a link and 8 a page.

The links of a page lie side by side in the order in which pages were fetched. A page that is
fetched again gets new links at the end; its old ones are dropped when they are a third of all.
"""

from __future__ import annotations

import copy
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import Ints, UrlSlots, longer

_FIRST_ROOM: Final = 4_096


class LinkBatch(NamedTuple):
    """Pages that were just fetched, all different, and their links.

    The links of `sources[0]` are the first `counts[0]` of `targets`, and so on. A page names each
    target once and never itself.
    """

    sources: UrlSlots
    counts: Ints
    targets: UrlSlots


class Edges:
    """Links of fetched pages, which grow with the crawl."""

    def __init__(self, pages: int = _FIRST_ROOM, links: int = _FIRST_ROOM) -> None:
        """`pages` and `links` are the expected numbers; more are possible."""
        self.size = 0  # links, old ones included
        self._dropped = 0
        self._targets: Ints = np.zeros(max(links, 1), np.int32)
        self._start: NDArray[np.int64] = np.zeros(max(pages, 1), np.int64)  # by slot
        self._count: Ints = np.zeros(max(pages, 1), np.int32)  # by slot; 0 where none is known

    def add(self, batch: LinkBatch) -> None:
        """Append the links of pages."""
        if not len(batch.sources):
            return
        self._make_room(int(batch.sources.max()) + 1, len(batch.targets))
        self._dropped += int(self._count[batch.sources].sum())
        ends = np.cumsum(batch.counts, dtype=np.int64) + self.size
        self._start[batch.sources] = ends - batch.counts
        self._count[batch.sources] = batch.counts
        self._targets[self.size : self.size + len(batch.targets)] = batch.targets
        self.size += len(batch.targets)
        if self._dropped > self.size // 3:
            self._compact()

    def counts(self, pages: int) -> Ints:
        """How many links each of the slots below `pages` has."""
        known: Ints = np.zeros(pages, np.int32)
        room = min(pages, len(self._count))
        known[:room] = self._count[:room]
        return known

    def of(self, slots: UrlSlots) -> LinkBatch:
        """The links of some pages."""
        counts = np.where(slots < len(self._count), self._count[slots % len(self._count)], 0)
        return LinkBatch(slots, counts, self._targets[self._places(slots, counts)])

    def all(self) -> tuple[UrlSlots, UrlSlots]:
        """Sources and targets of all links, without old ones."""
        sources = np.flatnonzero(self._count).astype(np.int32)
        batch = self.of(sources)
        return np.repeat(sources, batch.counts), batch.targets

    def rows(self, pages: int) -> tuple[Ints, UrlSlots]:
        """The links of the slots below `pages`: their number for each slot, and all targets in the
        order of the slots."""
        counts = self.counts(pages)
        return counts, self.of(np.flatnonzero(counts).astype(np.int32)).targets

    def snapshot(self) -> Edges:
        """The links as they are now, for a reader in another thread."""
        other = copy.copy(self)
        other._start, other._count = self._start.copy(), self._count.copy()
        return other  # targets are only appended to, or replaced as a whole

    def _places(self, slots: UrlSlots, counts: Ints) -> NDArray[np.int64]:
        """Where the links of pages lie in `_targets`."""
        starts = np.where(counts > 0, self._start[slots % len(self._start)], 0)
        ends = np.cumsum(counts, dtype=np.int64)
        places = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
        places += np.repeat(starts - (ends - counts), counts)
        return places

    def _make_room(self, pages: int, links: int) -> None:
        if pages > len(self._count):
            self._count = longer(self._count, 2 * pages, 0)
            self._start = longer(self._start, 2 * pages, 0)
        if self.size + links > len(self._targets):
            self._targets = longer(self._targets, 2 * (self.size + links), 0)

    def _compact(self) -> None:
        sources = np.flatnonzero(self._count).astype(np.int32)
        batch = self.of(sources)
        self.size, self._dropped = 0, 0
        self._count[:] = 0
        self._targets = np.zeros(max(_FIRST_ROOM, len(batch.targets)), np.int32)
        self.add(batch)
