"""PageRank of the known links: computed anew as the crawl grows, and estimated in between.

Between two computations a fetched page hands its rank on to the URLs it links to, once. So a new
URL has a rank at once; ranks of pages further along the links change at the next computation.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.growth import Growth
from gossamer.policies.orders.ranks import DAMPING, page_ranks, site_ranks


class RankKeeper:
    """Keeps the column `rank`."""

    def __init__(self, growth: float = 0.1) -> None:
        self._growth = Growth(growth)

    def learn(self, pages: PageColumns, batch: LinkBatch) -> None:
        """Pages that were fetched hand their rank on."""
        shares = pages.rank[batch.sources] * np.float32(DAMPING) / np.maximum(batch.counts, 1)
        np.add.at(pages.rank, batch.targets, np.repeat(shares, batch.counts).astype(np.float32))

    def recompute(self, pages: PageColumns, edges: Edges) -> bool:
        """Compute all ranks if the crawl has grown enough."""
        if not self._growth.is_due(pages.fetched):
            return False
        start = pages.rank[: pages.count].astype(np.float64)
        pages.rank[: pages.count] = page_ranks(edges, pages.count, start)
        return True


class PageRank:
    """The URL with the largest rank first (Cho, 1998)."""

    site_power: Final = 0.0
    uses_links: Final = True
    is_newest_first: Final = False

    def __init__(self, growth: float = 0.1) -> None:
        self._ranks = RankKeeper(growth)

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        return pages.rank[slots]

    def learn(self, pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        self._ranks.learn(pages, batch)
        return batch.targets

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        return self._ranks.recompute(pages, edges)


class SitePageRank:
    """The rank of a page, blended with that of its site: times the root of the site's mean rank.

    A new URL has few links yet. The pages of its site that are known better tell what may be
    expected of it.
    """

    site_power: Final = 0.0
    uses_links: Final = True
    is_newest_first: Final = False

    def __init__(self) -> None:
        self._ranks = RankKeeper()
        self._sites: NDArray[np.float32] = np.ones(1, np.float32)  # the last stands for new sites

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        sites = np.minimum(pages.site[slots], len(self._sites) - 1)
        values: Values = pages.rank[slots] * self._sites[sites]
        return values

    def learn(self, pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        self._ranks.learn(pages, batch)
        return batch.targets

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        if not self._ranks.recompute(pages, edges):
            return False
        count = pages.count
        known = pages.rank[:count], pages.site[:count], pages.is_fetched[:count]
        means = np.append(site_ranks(*known), pages.rank[:count].mean())
        self._sites = np.sqrt(means).astype(np.float32)
        return True
