"""Backlink count: the URL with the most links from fetched pages first (Cho, 1998)."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch


class Backlinks:
    """Counts fetched pages that link to a URL."""

    site_power: Final = 0.0
    uses_links: Final = True
    is_newest_first: Final = False

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        counts: Values = pages.links[slots].astype(np.float32)
        return counts

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        """The column `links` has everything."""
        return batch.targets

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        """Nothing is computed from all links."""
        return False
