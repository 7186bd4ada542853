"""The orders that links alone can make, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.policies.orders.backlinks import Backlinks
from gossamer.policies.orders.best import Best
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.levels import ByBreadth, ByDepth
from gossamer.policies.orders.opic import Opic
from gossamer.policies.orders.pagerank import PageRank, SitePageRank
from gossamer.policies.orders.random_order import Random

# Each makes an order for one run. The number seeds the random one; the others ignore it.
LINK_ORDERS: Final[dict[str, Callable[[int], ColumnOrder]]] = {
    "best": lambda _: Best(),
    "pagerank": lambda _: PageRank(),
    "pagerank-site": lambda _: SitePageRank(),
    "opic": lambda _: Opic(),
    "backlinks": lambda _: Backlinks(),
    "breadth": lambda _: ByBreadth(),
    "depth": lambda _: ByDepth(),
    "random": Random,
}
