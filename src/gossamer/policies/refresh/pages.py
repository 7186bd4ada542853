"""What is known of each page and of each group of pages, as arrays.

A page takes 57 bytes, a group 96. The arrays grow by doubling, so that adding a page costs the same
at any size.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.refresh.policy import NO_GROUP, Flags, Floats, KnownPage, Slots

EVENTS: Final = 4  # changes that are kept of each group, the newest first
_INF: Final = float("inf")
_OF_PAGES: Final = {
    "last_s": 0.0, "free_s": _INF, "changes": 0.0, "seconds": 0.0, "hint_s": -_INF,
    "changed_s": 0.0, "weight": 0.0, "group": NO_GROUP, "is_there": False,
}  # fmt: skip
_OF_GROUPS: Final = {
    "group_changes": 0.0, "group_seconds": 0.0, "group_shared": 0.0, "group_trials": 0.0,
    "event_s": -_INF, "event_shared": 0.0, "event_not_shared": 0.0,
}  # fmt: skip


class PageTable:
    """One row per slot, and one row per group. Rows that have no page have `free_s` = infinity.

    The row of group g is g + 1: row 0 is that of pages without a group, and stays empty.
    """

    def __init__(self) -> None:
        self.size = 0  # one more than the largest slot
        self.count = 0  # pages that are there
        self.last_s: Floats = np.zeros(0)
        self.free_s: Floats = np.zeros(0)  # not chosen before; infinity while a visit is in flight
        self.changes: Floats = np.zeros(0)
        self.seconds: Floats = np.zeros(0)
        self.hint_s: Floats = np.zeros(0)  # newest hint; -infinity where there is none
        self.changed_s: Floats = np.zeros(0)  # last change that is known; at first: the first visit
        self.weight: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self.group: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.is_there: Flags = np.zeros(0, dtype=np.bool_)
        self.group_changes: Floats = np.zeros(1)  # sums over the pages of the group
        self.group_seconds: Floats = np.zeros(1)
        self.group_shared: Floats = np.zeros(1)  # trials in which a sibling had the same change
        self.group_trials: Floats = np.zeros(1)
        self.event_s: Floats = np.full((EVENTS, 1), -_INF)
        self.event_shared: NDArray[np.float32] = np.zeros((EVENTS, 1), dtype=np.float32)
        self.event_not_shared: NDArray[np.float32] = np.zeros((EVENTS, 1), dtype=np.float32)

    def put(self, slot: int, page: KnownPage) -> None:
        """Add a page, or replace the one that has this slot."""
        self._grow(_OF_PAGES, len(self.last_s), slot + 1)
        self._grow(_OF_GROUPS, len(self.group_changes), page.group + 2)
        self.size = max(self.size, slot + 1)
        self.count += not self.is_there[slot]
        self.is_there[slot] = True
        self.last_s[slot] = page.last_s
        self.free_s[slot] = -_INF
        self.changes[slot] = page.shape
        self.seconds[slot] = page.scale
        self.hint_s[slot] = -_INF
        is_known = page.modified_s == page.modified_s
        self.changed_s[slot] = page.modified_s if is_known else page.last_s
        self.weight[slot] = page.weight
        self.group[slot] = page.group

    def remove(self, slot: int) -> None:
        """Forget a page; its slot may be used again."""
        if self.has(slot):
            self.count -= 1
            self.is_there[slot] = False
            self.free_s[slot] = _INF

    def has(self, slot: int) -> bool:
        """Whether the slot has a page."""
        return 0 <= slot < self.size and bool(self.is_there[slot])

    def get(self, slot: int) -> KnownPage:
        """A row as a value. Raises KeyError for a slot without a page."""
        if not self.has(slot):
            raise KeyError(slot)
        return KnownPage(
            float(self.last_s[slot]), float(self.changes[slot]), float(self.seconds[slot]),
            float(self.weight[slot]), int(self.group[slot]), float(self.changed_s[slot]),
        )  # fmt: skip

    def slots(self) -> Slots:
        """The slots that have a page."""
        return np.flatnonzero(self.is_there[: self.size])

    def free(self, now_s: float) -> Slots:
        """The slots whose pages may be chosen now."""
        return np.flatnonzero(self.free_s[: self.size] <= now_s)

    def _grow(self, columns: dict[str, float], room: int, wanted: int) -> None:
        if wanted > room:
            room = max(1024, 2 * room, wanted)
            for name, filler in columns.items():
                setattr(self, name, _longer(getattr(self, name), room, filler))


def _longer(array: NDArray[Any], size: int, filler: float) -> NDArray[Any]:
    made = np.full((*array.shape[:-1], size), filler, dtype=array.dtype)
    made[..., : array.shape[-1]] = array
    return made
