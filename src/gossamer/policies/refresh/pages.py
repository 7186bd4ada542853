"""What is known of each page, as arrays: 48 bytes a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.refresh.policy import NO_GROUP, Flags, Floats, KnownPage, Slots

_INF = float("inf")


class PageTable:
    """One row per slot. The arrays grow by doubling, so that adding a page costs the same at any
    size. Rows beyond `size` and rows of removed pages have `free_s` = infinity."""

    def __init__(self) -> None:
        self.size = 0  # one more than the largest slot
        self.count = 0  # pages that are there
        self.last_s: Floats = np.zeros(0)
        self.free_s: Floats = np.zeros(0)  # not chosen before; infinity while a visit is in flight
        self.changes: Floats = np.zeros(0)
        self.seconds: Floats = np.zeros(0)
        self.hint_s: Floats = np.zeros(0)  # newest hint; -infinity where there is none
        self.weight: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.group: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.is_there: Flags = np.zeros(0, dtype=np.bool_)

    def put(self, slot: int, page: KnownPage) -> None:
        """Add a page, or replace the one that has this slot."""
        self._grow(slot + 1)
        self.count += not self.is_there[slot]
        self.is_there[slot] = True
        self.last_s[slot] = page.last_s
        self.free_s[slot] = -_INF
        self.changes[slot] = page.shape
        self.seconds[slot] = page.scale
        self.hint_s[slot] = -_INF
        self.weight[slot] = page.weight
        self.group[slot] = page.group

    def remove(self, slot: int) -> None:
        """Forget a page; its slot may be used again."""
        if slot < self.size and self.is_there[slot]:
            self.count -= 1
            self.is_there[slot] = False
            self.free_s[slot] = _INF

    def get(self, slot: int) -> KnownPage:
        """A row as a value. Raises KeyError for a slot without a page."""
        if not (0 <= slot < self.size and self.is_there[slot]):
            raise KeyError(slot)
        return KnownPage(
            float(self.last_s[slot]), float(self.changes[slot]), float(self.seconds[slot]),
            float(self.weight[slot]), int(self.group[slot]),
        )  # fmt: skip

    def slots(self) -> Slots:
        """The slots that have a page."""
        return np.flatnonzero(self.is_there[: self.size])

    def free(self, now_s: float) -> Slots:
        """The slots whose pages may be chosen now."""
        return np.flatnonzero(self.free_s[: self.size] <= now_s)

    def _grow(self, size: int) -> None:
        if size > len(self.last_s):
            room = max(1024, 2 * len(self.last_s), size)
            self.last_s = _longer(self.last_s, room, 0.0)
            self.free_s = _longer(self.free_s, room, _INF)
            self.changes = _longer(self.changes, room, 0.0)
            self.seconds = _longer(self.seconds, room, 0.0)
            self.hint_s = _longer(self.hint_s, room, -_INF)
            self.weight = _longer(self.weight, room, 0.0)
            self.group = _longer(self.group, room, NO_GROUP)
            self.is_there = _longer(self.is_there, room, False)
        self.size = max(self.size, size)


def _longer(array: NDArray[Any], size: int, filler: float) -> NDArray[Any]:
    made = np.full(size, filler, dtype=array.dtype)
    made[: len(array)] = array
    return made
