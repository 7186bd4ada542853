"""Random order: each URL has a random value that depends on a seed and on its slot."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch

# The constants of SplitMix64 (Steele, Lea and Flood, 2014): neighbouring slots get independent
# values without a table.
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Random:
    """The same seed gives the same order."""

    site_power: Final = 0.0
    uses_links: Final = False
    is_newest_first: Final = False

    def __init__(self, seed: int = 0) -> None:
        self._start = np.uint64((seed * int(_STEP) + 1) % 2**64)

    def value(self, _pages: PageColumns, slots: UrlSlots, /) -> Values:
        mixed = (slots.astype(np.uint64) + np.uint64(1)) * _STEP + self._start
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
        mixed ^= mixed >> np.uint64(31)
        return (mixed >> np.uint64(40)).astype(np.float32)  # 24 bits: float32 holds them exactly

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        return batch.targets[:0]

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        return False
