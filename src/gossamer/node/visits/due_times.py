"""When each page is due, by slot: an estimate for people, and a limit that holds."""

from __future__ import annotations

import numpy as np

from gossamer.policies.refresh.policy import Floats


class DueTimes:
    """16 bytes a page."""

    def __init__(self) -> None:
        # About when it is visited next; infinity: given up, NaN: nobody knows.
        self.about_s: Floats = np.zeros(0)
        # When it must be visited at the latest, whatever the policy says; infinity: no such limit.
        self.latest_s: Floats = np.zeros(0)

    def grow(self, slots: int) -> None:
        """Make room for so many slots."""
        if slots > len(self.about_s):
            size = max(1024, 2 * len(self.about_s), slots)
            self.about_s = _longer(self.about_s, size, np.nan)
            self.latest_s = _longer(self.latest_s, size, np.inf)

    def late(self, now_s: float, most: int) -> list[int]:
        """Slots whose limit has passed, the longest overdue first."""
        if most <= 0:
            return []
        slots = np.flatnonzero(self.latest_s <= now_s)
        found: list[int] = slots[np.argsort(self.latest_s[slots])][:most].tolist()
        return found

    def forget(self, slot: int) -> None:
        self.about_s[slot], self.latest_s[slot] = np.nan, np.inf


def _longer(array: Floats, size: int, filler: float) -> Floats:
    longer = np.full(size, filler)
    longer[: len(array)] = array
    return longer
