"""Random order: in every round the pages are visited in a new order, each equally often as before.

If a page stands at U1 of a round and at U2 of the next, both uniform in 0..1, there are
1 + U2 - U1 rounds between its visits. So the index of the fixed order is divided by that number,
which is drawn anew at each visit. The mean interval is the same; the copies are less fresh than in
fixed order, because the intervals differ (Cho and Garcia-Molina, ACM TODS 28(4), 2003).
"""

from __future__ import annotations

import numpy as np

from gossamer.policies.refresh.estimate import Estimation
from gossamer.policies.refresh.indexed import IndexPolicy
from gossamer.policies.refresh.policy import Flags, Floats, KnownPage, Slots, as_slots
from gossamer.policies.refresh.proportional import Proportional
from gossamer.policies.refresh.uniform import Uniform


class RandomOrder(IndexPolicy):
    """Any policy in random order: name it as the next base class."""

    def __init__(self, constants: Estimation | None = None, *, seed: int = 0) -> None:
        super().__init__(constants)
        self._random = np.random.default_rng(seed)
        self._place: Floats = np.zeros(0)  # U of the round of the next visit
        self._rounds: Floats = np.zeros(0)  # between the last visit and the next one

    def index(self, slots: Slots, now_s: float) -> Floats:
        return super().index(slots, now_s) / self._rounds[slots]

    def restore(self, slot: int, page: KnownPage) -> None:
        super().restore(slot, page)
        if slot >= len(self._place):
            room = max(1024, 2 * len(self._place), slot + 1)
            self._place = np.resize(self._place, room)
            self._rounds = np.resize(self._rounds, room)
        self._place[slot] = self._rounds[slot] = 1.0 - self._random.random()

    def visited(
        self,
        slots: int | Slots,
        now_s: float,
        is_changed: bool | Flags,
        modified_s: float | Floats | None = None,
    ) -> None:
        super().visited(slots, now_s, is_changed, modified_s)
        known = as_slots(slots)
        known = known[known < len(self._place)]
        place = self._random.random(len(known))
        self._rounds[known] = np.maximum(1.0 + place - self._place[known], 1e-9)
        self._place[known] = place


class RandomUniform(RandomOrder, Uniform):
    """Uniform in random order."""


class RandomProportional(RandomOrder, Proportional):
    """Proportional in random order."""
