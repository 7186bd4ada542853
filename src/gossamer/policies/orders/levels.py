"""Breadth first and depth first, by the depth of URLs (`policies/order.py` has the same orders for
crawls that keep no columns)."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch


class _Levels:
    """Values that never change after a URL was found."""

    site_power: Final = 0.0
    uses_links: Final = False

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        """Links tell nothing about a depth that is known."""
        return batch.targets[:0]

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        return False


class ByBreadth(_Levels):
    """The fewest links from a seed first; within a level, first come first served."""

    is_newest_first: Final = False

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        return 1.0 / (1.0 + pages.depth[slots].astype(np.float32))


class ByDepth(_Levels):
    """The most links from a seed first; within a level, the newest."""

    is_newest_first: Final = True

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        depths: Values = pages.depth[slots].astype(np.float32)
        return depths
