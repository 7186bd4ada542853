"""The ideal crawler: it knows what every page is worth, and has to find pages like any other."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.lab.order.true_rank import TrueRanks
from gossamer.lab.virtual_crawler import GraphPages
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch


class KnownOrder:
    """Of the URLs that were found, the one with the largest true rank first."""

    site_power: Final = 0.0
    uses_links: Final = False
    is_newest_first: Final = False

    def __init__(self, ranks: TrueRanks) -> None:
        self._ranks = ranks.astype(np.float32)
        self.page_of: GraphPages = np.zeros(0, np.int32)  # of the crawler that uses it

    def value(self, _pages: PageColumns, slots: UrlSlots, /) -> Values:
        return self._ranks[self.page_of[slots]]

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        return batch.targets[:0]

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        return False
