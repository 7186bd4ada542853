"""What fetched pages turned out to be worth, by the links that a crawl knows (Cho, 1998).

Orders guess the worth of URLs before they are fetched; these measure it afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, Values
from gossamer.policies.orders.edges import Edges
from gossamer.policies.orders.ranks import page_ranks


def backlink_importance(pages: PageColumns, _edges: Edges) -> Values:
    """Fetched pages that link to each URL."""
    return pages.links[: pages.count].astype(np.float32)


def rank_importance(pages: PageColumns, edges: Edges) -> Values:
    """PageRank by all known links."""
    start = pages.rank[: pages.count].astype(np.float64)
    return page_ranks(edges, pages.count, start).astype(np.float32)


def forward_importance(pages: PageColumns, edges: Edges) -> Values:
    """Pages that each URL links to; 0 where it is not fetched."""
    return edges.counts(pages.count).astype(np.float32)


def weighted_forward_importance(pages: PageColumns, edges: Edges) -> Values:
    """PageRank against the direction of links: pages that link to good starting points are good
    starting points."""
    start = np.ones(pages.count)
    return page_ranks(edges, pages.count, start, is_reversed=True).astype(np.float32)


def cash_importance(pages: PageColumns, _edges: Edges) -> Values:
    """OPIC's estimate: the cash that has passed through each URL. Only where the order is OPIC."""
    cash: Values = pages.given[: pages.count] + pages.cash[: pages.count]
    return cash


IMPORTANCE: Final[dict[str, Callable[[PageColumns, Edges], Values]]] = {
    "backlinks": backlink_importance,
    "pagerank": rank_importance,
    "forward": forward_importance,
    "forward-weighted": weighted_forward_importance,
    "opic": cash_importance,
}
