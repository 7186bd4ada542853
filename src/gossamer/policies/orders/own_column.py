"""A column that belongs to one order alone."""

from __future__ import annotations

import numpy as np

from gossamer.policies.orders.columns import UrlSlots, Values, longer


class OwnColumn:
    """Values by slot; 0 where nothing was set."""

    def __init__(self) -> None:
        self._values: Values = np.zeros(1_024, np.float32)

    def of(self, slots: UrlSlots) -> Values:
        self._reach(slots)
        return self._values[slots]

    def set(self, slots: UrlSlots, values: Values) -> None:
        self._reach(slots)
        self._values[slots] = values

    def _reach(self, slots: UrlSlots) -> None:
        most = int(slots.max(initial=-1))
        if most >= len(self._values):
            self._values = longer(self._values, 2 * (most + 1), 0)
