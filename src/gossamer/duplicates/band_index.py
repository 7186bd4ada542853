"""Which pages have a number of their sketch in common with this one?

Entries are integers of 64 bits, the number of a sketch before the number of a page, in sorted
arrays: 256 bytes for a page. A lookup is a binary search. New pages make a new array; neighbouring
arrays of like size are merged, so each entry is moved about log2(pages) times. A merge drops the
entries of pages that no other may point to.

A number that hundreds of pages have says little: only the first `_MOST_PAGES` pages of a number are
looked at. So the time of a lookup does not grow with the pages of one template.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.duplicates.sketch import BANDS

_MOST_PAGES: Final = 16
_SHIFT: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)
# Added to the numbers of a sketch, so that they are equal only at the same position.
_POSITIONS: Final = (np.arange(BANDS, dtype=np.uint64) * np.uint64(0x9E3779B1)).astype(np.uint32)

Numbers = NDArray[np.uint32]
Entries = NDArray[np.uint64]


class BandIndex:
    """The pages that others may point to, by the numbers of their sketches."""

    def __init__(self) -> None:
        self._arrays: list[Entries] = []
        self._is_first = np.zeros(1024, np.bool_)  # by the number of the page

    @property
    def size_bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays) + self._is_first.nbytes

    def add(self, pages: Numbers, bands: Numbers) -> None:
        """Add pages by their numbers, with one row of `bands` for each."""
        if not len(pages):
            return
        self._grow(int(pages.max()) + 1)
        self._is_first[pages] = True
        keys = (bands + _POSITIONS).astype(np.uint64) << _SHIFT
        entries = (keys | pages.astype(np.uint64)[:, None]).ravel()
        entries.sort()
        self._arrays.append(entries)
        while len(self._arrays) > 1 and 2 * len(self._arrays[-1]) > len(self._arrays[-2]):
            self._merge_last()

    def drop(self, page: int) -> None:
        """A page is one that no other may point to."""
        self._is_first[page] = False

    def is_first(self, page: int) -> bool:
        return page < len(self._is_first) and bool(self._is_first[page])

    def find(self, bands: Numbers, least: int = 1) -> list[list[tuple[int, int]]]:
        """For each row of `bands` the pages with `least` or more equal numbers, and how many are
        equal: those with most first, then by the number of the page."""
        keys = (bands + _POSITIONS).astype(np.uint64).ravel() << _SHIFT
        order = keys.argsort()
        keys, rows_of = keys[order], (order // BANDS).astype(np.uint64) << _SHIFT
        left = np.full(len(keys), _MOST_PAGES)
        pairs: list[Entries] = []
        for entries in self._arrays:  # the oldest pages first
            at, hits = _first_places(entries, keys)
            ends = entries.searchsorted(keys[hits] | _LOW, "right")
            count = np.minimum(ends - at, left[hits])
            left[hits] -= count
            stops = count.cumsum()
            places = np.arange(stops[-1] if len(stops) else 0) + (at - stops + count).repeat(count)
            pairs.append((entries[places] & _LOW) | rows_of[hits].repeat(count))
        return self._counted(len(bands), np.concatenate(pairs), least) if pairs else []

    def purge(self) -> None:
        """Forget the dropped pages of the newest array. They would hide others."""
        if self._arrays:
            newest = self._arrays[-1]
            self._arrays[-1] = newest[self._is_first[(newest & _LOW).astype(np.int64)]]

    def _counted(self, count: int, pairs: Entries, least: int) -> list[list[tuple[int, int]]]:
        found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        distinct, equal = np.unique(pairs, return_counts=True)
        is_wanted = (equal >= least) & self._is_first[(distinct & _LOW).astype(np.int64)]
        wanted = zip(distinct[is_wanted].tolist(), equal[is_wanted].tolist(), strict=True)
        for pair, number in wanted:
            found[pair >> 32].append((pair & 0xFFFFFFFF, number))
        for one in found:
            one.sort(key=lambda candidate: (-candidate[1], candidate[0]))
        return found

    def _grow(self, count: int) -> None:
        if count > len(self._is_first):
            more = np.zeros(max(count, 2 * len(self._is_first)), np.bool_)
            more[: len(self._is_first)] = self._is_first
            self._is_first = more

    def _merge_last(self) -> None:
        newer, older = self._arrays.pop(), self._arrays.pop()
        merged = np.concatenate((older, newer))
        merged = merged[self._is_first[(merged & _LOW).astype(np.int64)]]
        merged.sort(kind="stable")  # two sorted runs: one pass
        self._arrays.append(merged)


def _first_places(entries: Entries, keys: Entries) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the entries of a key start, and the numbers of the keys that have one. Most have none,
    so the search for their end is spared."""
    if not len(entries):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = entries.searchsorted(keys)
    found = entries[np.minimum(at, len(entries) - 1)]
    hits = ((found & ~_LOW) == keys).nonzero()[0]
    hits = hits[at[hits] < len(entries)]
    return at[hits], hits
