"""The order that finds the most rank on different webs: PageRank, shared out among sites."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.pagerank import RankKeeper

# The root: between taking sites in turn (1) and not caring for sites (0). On the webs with sites of
# docs/lab/order.md, 0.25 and 1 gave areas within 0.02 of it.
_POWER: Final = 0.5


class Best:
    """PageRank of the known links; sites lose by the root of what they have had.

    The rank of known links is the best guess of what a queued URL is worth. But it only knows what
    was crawled: without the division a crawl stays in the sites that it knows best, whose pages
    have collected the most links, and finds others late. That holds as far as links stay within
    sites. Where they do not, sites say nothing about pages. So the power is the root times the
    share of known links that stay within their site.
    """

    uses_links: Final = True
    is_newest_first: Final = False

    def __init__(self) -> None:
        self._ranks = RankKeeper()
        self._within = 0
        self._links = 0
        self.site_power = _POWER  # changes when values are computed anew

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        return pages.rank[slots]

    def learn(self, pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        self._ranks.learn(pages, batch)
        sites = np.repeat(pages.site[batch.sources], batch.counts)
        self._within += int((sites == pages.site[batch.targets]).sum())
        self._links += len(batch.targets)
        return batch.targets

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        if not self._ranks.recompute(pages, edges):
            return False
        if self._links:
            self.site_power = _POWER * self._within / self._links
        return True
