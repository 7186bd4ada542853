"""Numbers for pages: a refresh policy knows a page by its slot, the state by its key.

A key has 16 bytes, as bytes object in a dict it would cost 170. Here the keys lie in two sorted
arrays of 64-bit numbers, the first and second half of the key; new keys wait in a dict until they
are a quarter as many. So a page costs 24 bytes, and to find one takes some microseconds.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.refresh.policy import Slots

_HALVES: Final = struct.Struct(">QQ")
_LEAST_NEW: Final = 1024
_NONE: Final = -1


class SlotTable:
    """Slots from 0 on, in the order in which keys were added. None is ever removed."""

    def __init__(self) -> None:
        self.size = 0
        self._first: NDArray[np.uint64] = np.zeros(0, np.uint64)  # sorted
        self._second: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._slots: NDArray[np.int32] = np.zeros(0, np.int32)  # of the sorted keys
        self._places: NDArray[np.int32] = np.zeros(0, np.int32)  # by slot
        self._new: dict[bytes, int] = {}
        self._new_keys: list[bytes] = []  # from slot `len(self._slots)` on

    def add(self, key: bytes) -> int:
        """The slot of a key; a new one where it has none."""
        slot = self.find(key)
        if slot is None:
            slot = self._new[key] = self.size
            self._new_keys.append(key)
            self.size += 1
            if len(self._new) > max(_LEAST_NEW, self.size // 4):
                self._sort()
        return slot

    def find(self, key: bytes) -> int | None:
        """The slot of a key; None where it has none."""
        slot = self._new.get(key)
        if slot is not None or not len(self._slots):
            return slot
        first, second = _HALVES.unpack(key)
        begin, end = self._span(first)
        place = begin + int(self._second[begin:end].searchsorted(np.uint64(second)))
        if place < end and int(self._second[place]) == second:
            return int(self._slots[place])
        return None

    def key_of(self, slot: int) -> bytes:
        """The key of a slot. Raises IndexError where there is none."""
        if slot >= len(self._slots):
            return self._new_keys[slot - len(self._slots)]
        place = self._places[slot]
        return _HALVES.pack(int(self._first[place]), int(self._second[place]))

    def slots_of_host(self, host_key: bytes) -> Slots:
        """The slots of all pages of a host."""
        begin, end = self._span(int.from_bytes(host_key, "big"))
        new = [slot for key, slot in self._new.items() if key.startswith(host_key)]
        return np.concatenate([self._slots[begin:end].astype(np.int64), np.array(new, np.int64)])

    def hosts(self) -> dict[bytes, int]:
        """The number of pages of each host."""
        numbers, counts = np.unique(self._first, return_counts=True)
        pairs = zip(numbers.tolist(), counts.tolist(), strict=True)
        found = {number.to_bytes(8, "big"): count for number, count in pairs}
        for key in self._new:
            found[key[:8]] = found.get(key[:8], 0) + 1
        return found

    def _span(self, first: int) -> tuple[int, int]:
        wanted = np.uint64(first)
        begin = int(self._first.searchsorted(wanted))
        return begin, int(self._first.searchsorted(wanted, "right"))

    def _sort(self) -> None:
        """Take the new keys into the arrays: 0.3 s at a million pages, once in 250,000."""
        halves = np.frombuffer(b"".join(self._new_keys), dtype=">u8").astype(np.uint64)
        first = np.concatenate([self._first, halves[0::2]])
        second = np.concatenate([self._second, halves[1::2]])
        slots = np.concatenate([self._slots, np.arange(len(self._slots), self.size)])
        order: NDArray[Any] = np.lexsort((second, first))
        self._first, self._second = first[order], second[order]
        self._slots = slots[order].astype(np.int32)
        self._places = np.full(self.size, _NONE, np.int32)
        self._places[self._slots] = np.arange(self.size, dtype=np.int32)
        self._new, self._new_keys = {}, []
