"""Slots of URLs: from the key of a URL to its row number in the columns, and back.

An open hash table in NumPy: 24 to 48 bytes a URL and 16 for its key, where a dictionary takes 180.
Keys are looked up many at a time, as the links of a page come. The table compares 64 of the 128
bits of a key: among 4 million URLs two share them with a chance of 1 in 2 million.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import UrlSlots
from gossamer.urls.repeated_links import RECORD_BYTES

KEY_BYTES: Final = 16
NONE: Final = -1  # no slot
_FIRST_ROOM: Final = 2_048  # a power of 2

Marks = NDArray[np.uint64]


class SlotByKey:
    """Gives slots to up to `most` URLs, in the order in which they come."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0
        self._marks: Marks = np.zeros(_FIRST_ROOM, np.uint64)  # 0: free
        self._slots: UrlSlots = np.zeros(_FIRST_ROOM, np.int32)
        self._halves: Marks = np.zeros((_FIRST_ROOM, 2), np.uint64)  # keys, by slot

    @property
    def is_full(self) -> bool:
        return self.count >= self.most

    def key_of(self, slot: int) -> bytes:
        """The key of the URL that has a slot."""
        key: bytes = self._halves[slot].tobytes()
        return key

    def find_one(self, key: bytes) -> int:
        """The slot of a URL; NONE where it has none."""
        mark = _mark_of(key)
        marks, mask = self._marks, len(self._marks) - 1
        place = mark & mask
        while (there := marks.item(place)) != 0:
            if there == mark:
                return int(self._slots.item(place))
            place = (place + 1) & mask
        return NONE

    def find(self, keys: bytes) -> UrlSlots:
        """The slots of URLs whose keys follow each other; NONE where there is none."""
        return self._find(_marks_of(_halves_of(keys)))

    def add(self, keys: bytes) -> UrlSlots:
        """Give slots to URLs that have none, in their order; each key once. As many as there is
        room for: the slots are fewer than the keys then."""
        halves = _halves_of(keys)[: max(0, self.most - self.count)]
        many = len(halves)
        slots = np.arange(self.count, self.count + many, dtype=np.int32)
        self._make_room(self.count + many)
        self._halves[self.count : self.count + many] = halves
        self._insert(_marks_of(halves), slots)
        self.count += many
        return slots

    def _find(self, marks: Marks) -> UrlSlots:
        found: UrlSlots = np.full(len(marks), NONE, np.int32)
        mask = np.uint64(len(self._marks) - 1)
        places = marks & mask
        there = self._marks[places]
        is_hit = there == marks
        found[is_hit] = self._slots[places[is_hit]]
        left = np.flatnonzero(~is_hit & (there != 0))
        while len(left):
            places[left] = (places[left] + np.uint64(1)) & mask
            there = self._marks[places[left]]
            is_hit = there == marks[left]
            hits = left[is_hit]
            found[hits] = self._slots[places[hits]]
            left = left[~is_hit & (there != 0)]
        return found

    def _insert(self, marks: Marks, slots: UrlSlots) -> None:
        """Marks that are not there yet, each once."""
        mask = np.uint64(len(self._marks) - 1)
        places = marks & mask
        left = np.arange(len(marks))
        while len(left):
            free = left[self._marks[places[left]] == 0]
            self._marks[places[free]] = marks[free]  # of two at one place the last one stays
            won = free[self._marks[places[free]] == marks[free]]
            self._slots[places[won]] = slots[won]
            is_left = np.ones(len(marks), np.bool_)
            is_left[won] = False
            left = left[is_left[left]]
            places[left] = (places[left] + np.uint64(1)) & mask

    def _make_room(self, count: int) -> None:
        if count > len(self._halves):
            room = min(self.most, 2 * count)
            more = np.zeros((room - len(self._halves), 2), np.uint64)
            self._halves = np.concatenate((self._halves, more))
        size = len(self._marks)
        while 2 * count > size:
            size *= 2
        if size > len(self._marks):
            self._marks, self._slots = np.zeros(size, np.uint64), np.zeros(size, np.int32)
            known = np.arange(self.count, dtype=np.int32)
            self._insert(_marks_of(self._halves[: self.count]), known)


def keys_in(repeated: bytes) -> bytes:
    """The keys of links that `urls/repeated_links.py` packed, without their numbers."""
    records = np.frombuffer(repeated, np.uint8).reshape(-1, RECORD_BYTES)
    keys: bytes = records[:, :KEY_BYTES].tobytes()
    return keys


def _halves_of(keys: bytes) -> Marks:
    return np.frombuffer(keys, np.dtype("<u8")).reshape(-1, 2)


def _marks_of(halves: Marks) -> Marks:
    """Both halves are hashes of their own, so their difference bits are one, too."""
    marks: Marks = halves[:, 0] ^ halves[:, 1]
    return np.maximum(marks, np.uint64(1))


def _mark_of(key: bytes) -> int:
    first, second = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    return max(first ^ second, 1)
