"""A crawler with room for few pages: when the buffer is full, the least important page leaves.

The crawler does not know what pages will be worth at the end. It drops what its own order values
least now. An order that values no page (breadth first, random) keeps what came first.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.virtual_crawler import VirtualCrawler
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import UrlSlots

SHARES: Final = (0.01, 0.05, 0.1)  # sizes of buffers, as shares of all pages


class _Buffer:
    """Keeps the best `size` of the pages that were fetched."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: UrlSlots = np.zeros(0, np.int32)

    def put(self, crawler: VirtualCrawler, order: ColumnOrder, slots: UrlSlots) -> None:
        """Add pages. They are sorted out when a tenth more than fits has come."""
        self._kept = np.concatenate((self._kept, slots))
        if len(self._kept) > 1.1 * self.size + len(slots):
            self._kept = self.best(crawler, order)

    def best(self, crawler: VirtualCrawler, order: ColumnOrder) -> UrlSlots:
        """What stays if the buffer has to be full and no more."""
        if not order.uses_links:
            return self._kept[: self.size]
        values = order.value(crawler.columns, self._kept)
        return self._kept[np.sort(np.argsort(-values, kind="stable")[: self.size])]


class Buffers:
    """Buffers of several sizes beside one crawl."""

    def __init__(self, crawler: VirtualCrawler, order: ColumnOrder, pages: int) -> None:
        self._crawler = crawler
        self._order = order
        self._buffers = {share: _Buffer(max(1, round(share * pages))) for share in SHARES}

    def put(self, slots: UrlSlots) -> None:
        for buffer in self._buffers.values():
            buffer.put(self._crawler, self._order, slots)

    def hot_shares(
        self, places: NDArray[np.int32], reached: NDArray[np.int32]
    ) -> dict[str, float]:  # fmt: skip
        """At the end: the share of each buffer that belongs to the best pages of all that were
        reached. `places` says where each page stands among all pages."""
        shares = {}
        best_first = np.sort(places[reached])
        for share, buffer in self._buffers.items():
            kept = buffer.best(self._crawler, self._order)
            limit = best_first[min(buffer.size, len(best_first)) - 1]
            is_hot = places[self._crawler.page_of[kept]] <= limit
            shares[f"{share:g}"] = round(float(is_hot.mean()), 4)
        return shares
