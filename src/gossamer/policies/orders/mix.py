"""A weighted mix of orders.

Values of different orders have no common scale. So each part is brought to the range from 0 to 1:
value / (value + mean), where the mean is that of the URLs that are known and not fetched. An
average URL has 0.5 in each part. The means are computed again when the crawl has grown by a tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.growth import Growth
from gossamer.policies.orders.url_order import ContextOrder, UrlOrder

_LEAST_PAGES: Final = 10  # between two computations of the means


class MixPart(NamedTuple):
    """One order of a mix; weights add up to 1."""

    weight: float
    name: str
    order: ColumnOrder


class Mix:
    """The weighted sum of the parts."""

    is_newest_first: Final = False

    def __init__(self, parts: Sequence[MixPart]) -> None:
        total = sum(part.weight for part in parts)
        self.parts = [part._replace(weight=part.weight / total) for part in parts]
        self.site_power = sum(part.weight * part.order.site_power for part in self.parts)
        self.uses_links = any(part.order.uses_links for part in parts)
        self._word_orders = [part.order for part in parts if isinstance(part.order, UrlOrder)]
        self.wants_anchors = any(order.wants_anchors for order in self._word_orders)
        self.means = np.ones(len(parts), np.float32)
        self._growth = Growth(least=_LEAST_PAGES)

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        total: Values = np.zeros(len(slots), np.float32)
        for part, values in zip(self.parts, self.shares(pages, slots), strict=True):
            total += np.float32(part.weight) * values
        return total

    def shares(self, pages: PageColumns, slots: UrlSlots) -> list[Values]:
        """The value of each part from 0 to 1, without its weight."""
        found: list[Values] = []
        for part, mean in zip(self.parts, self.means, strict=True):
            values = np.maximum(part.order.value(pages, slots), 0)
            found.append((values / (values + mean)).astype(np.float32))
        return found

    def learn(self, pages: PageColumns, edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        changed = [part.order.learn(pages, edges, batch) for part in self.parts]
        return np.concatenate(changed)

    def recompute(self, pages: PageColumns, edges: Edges, /) -> bool:
        done = [part.order.recompute(pages, edges) for part in self.parts]
        if not (self._growth.is_due(pages.fetched) or any(done)):
            return False
        queued = np.flatnonzero(~pages.is_fetched[: pages.count]).astype(np.int32)
        if len(queued):
            means = [part.order.value(pages, queued).mean() for part in self.parts]
            self.means = np.array([mean if mean > 0 else 1 for mean in means], np.float32)
        return True

    def note_urls(self, pages: PageColumns, slots: UrlSlots, urls: Sequence[str], /) -> None:
        for order in self._word_orders:
            order.note_urls(pages, slots, urls)

    def note_anchors(self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        for order in self._word_orders:
            if order.wants_anchors:
                order.note_anchors(pages, slots, texts)

    def note_contexts(self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        for order in self._word_orders:
            if isinstance(order, ContextOrder):
                order.note_contexts(pages, slots, texts)
