"""The queued URLs of each host in the order of their scores.

A host has a heap of numbers: the score in the upper bits and the slot, or its complement, below. A
URL whose score changes gets a further number, and the older ones no longer count: the column
`placed` has the score that does. Numbers that do not count are dropped when they come up, or when
they are most of a heap. So a change costs about a microsecond.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from struct import Struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.order import make_key
from gossamer.policies.orders.columns import UrlSlots, Values, longer

GONE: Final = -1  # in the place of a score: it is not queued
TAKEN: Final = -2  # it is leased
NEW: Final = 0x7FFF_FFFF  # it is queued, and its score follows
_INFINITE: Final = 0x7F80_0000  # the bits of a float32
BEHIND_ALL: Final = _INFINITE + 1  # plus a level: the score of a URL that comes behind all others
_BITS: Final = Struct("<i")  # to read them as a float: a tenth of the time that NumPy takes
_FLOAT: Final = Struct("<f")
_SLOT_BITS: Final = 32
_SLOT: Final = (1 << _SLOT_BITS) - 1
_FEW: Final = 64
_MANY_SHARE: Final = 8  # where an eighth is new, a heap is made anew: it costs less

Scores = NDArray[np.int32]


def scores_of(values: Values) -> Scores:
    """Scores that sort as values do, the largest value first: from 1 to 0x7F800001. The bits of a
    float that is not negative sort as the float does, so no two values share a score."""
    bits: Scores = np.ascontiguousarray(values, np.float32).view(np.int32)
    return np.where(values > 0, _INFINITE + 1 - bits, _INFINITE + 1).astype(np.int32)


def value_of_score(score: int) -> float:
    """The value that has a score; infinite for 0, the score of seeds."""
    if score <= 0:
        return float("inf")
    if score > _INFINITE:
        return 0.0
    value: float = _FLOAT.unpack(_BITS.pack(_INFINITE + 1 - score))[0]
    return value


class HostHeaps:
    """The queued URLs of all hosts. Hosts have numbers from 0."""

    def __init__(self, *, is_newest_first: bool) -> None:
        self._flip = _SLOT if is_newest_first else 0
        self._placed: Scores = np.full(1_024, GONE, np.int32)
        self._host: NDArray[np.int32] = np.zeros(1_024, np.int32)
        self._heaps: list[list[int]] = []
        self._queued: list[int] = []  # of each host
        self.moved: set[int] = set()  # hosts whose first URL is another since it was last emptied

    @property
    def placed(self) -> Scores:
        """The scores of queued URLs, by slot; or GONE, TAKEN or NEW."""
        return self._placed

    @property
    def host(self) -> NDArray[np.int32]:
        """The hosts of URLs, by slot."""
        return self._host

    def add_slots(self, count: int, slots: UrlSlots, hosts: NDArray[np.int32]) -> None:
        """There are `count` slots now, of which these are new."""
        if count > len(self._placed):
            self._placed = longer(self._placed, 2 * count, GONE)
            self._host = longer(self._host, 2 * count, 0)
        self._host[slots] = hosts
        most = int(hosts.max()) if len(hosts) else -1
        while len(self._heaps) <= most:
            self._heaps.append([])
            self._queued.append(0)

    def queue(self, slots: UrlSlots) -> None:
        """These URLs, all different, are queued; `place` follows."""
        new = slots[self._placed[slots] < 0]
        self._placed[new] = NEW
        hosts, counts = np.unique(self._host[new], return_counts=True)
        for host, count in zip(hosts.tolist(), counts.tolist(), strict=True):
            self._queued[host] += count

    def place(self, slots: UrlSlots, scores: Scores) -> int:
        """Give queued URLs their scores; how many have other ones than before."""
        before = self._placed[slots]
        changed = np.flatnonzero((before >= 0) & (before != scores))
        if not len(changed):
            return 0
        slots, scores = slots[changed], scores[changed]
        self._placed[slots] = scores
        hosts = self._host[slots]
        entries = scores.astype(np.int64) << _SLOT_BITS | slots ^ np.int64(self._flip)
        by_host = np.argsort(hosts, kind="stable")
        hosts, entries = hosts[by_host], entries[by_host]
        starts = np.flatnonzero(np.diff(hosts, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], len(hosts)], strict=True):
            self._push(int(hosts[start]), entries[start:end].tolist())
        return len(changed)

    def _push(self, host: int, entries: list[int]) -> None:
        heap = self._heaps[host]
        top = heap[0] if heap else 0
        if len(entries) * _MANY_SHARE > len(heap):
            heap += entries
            heapify(heap)
        else:
            for entry in entries:
                heappush(heap, entry)
        slot = top & _SLOT ^ self._flip
        if heap[0] != top or self._placed.item(slot) != top >> _SLOT_BITS:
            self.moved.add(host)
        if len(heap) > _FEW + 4 * self._queued[host]:
            self._tidy(host)

    def first(self, host: int | None) -> int | None:
        """The slot of the URL of a host that comes first; None where none is queued."""
        if host is None:
            return None
        heap, placed = self._heaps[host], self._placed
        while heap:
            slot = heap[0] & _SLOT ^ self._flip
            if placed.item(slot) == heap[0] >> _SLOT_BITS:
                return slot
            heappop(heap)
        return None

    def key_of(self, slot: int) -> bytes:
        """A priority key that sorts the URL among those of other hosts."""
        return make_key(self._placed.item(slot), slot ^ self._flip)

    def take(self, slot: int) -> None:
        """A URL is leased."""
        self._leave(slot, TAKEN)

    def drop(self, slot: int) -> bool:
        """A URL leaves the queue; whether it was leased."""
        was_taken = self._placed.item(slot) == TAKEN
        self._leave(slot, GONE)
        return was_taken

    def _leave(self, slot: int, state: int) -> None:
        if self._placed.item(slot) >= 0:
            self._queued[self._host.item(slot)] -= 1
        self._placed[slot] = state

    def _tidy(self, host: int) -> None:
        """Drop the numbers that do not count."""
        placed, flip = self._placed, self._flip
        kept = {e for e in self._heaps[host] if placed.item(e & _SLOT ^ flip) == e >> _SLOT_BITS}
        self._heaps[host] = list(kept)
        heapify(self._heaps[host])
