"""Visits: the pages that people requested most, by an access log of the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.own_column import OwnColumn
from gossamer.urls.canonical import host_of, target_of


class LoggedVisits:
    """The number of visits that a log tells; 0 for a URL that it does not have."""

    site_power: Final = 0.0
    uses_links: Final = False
    is_newest_first: Final = False
    wants_anchors: Final = False

    def __init__(self, counts: Mapping[str, float]) -> None:
        """By canonical URL, by `//host/path?query`, or by `/path?query` for every host."""
        self._counts = counts
        self._column = OwnColumn()

    def value(self, _pages: PageColumns, slots: UrlSlots, /) -> Values:
        return self._column.of(slots)

    def note_urls(self, _pages: PageColumns, slots: UrlSlots, urls: Sequence[str], /) -> None:
        self._column.set(slots, np.array(list(map(self.visits, urls)), np.float32))

    def visits(self, url: str) -> float:
        """Of a canonical URL."""
        path = target_of(url)
        for name in (url, f"//{host_of(url)}{path}", path):
            if name in self._counts:
                return self._counts[name]
        return 0.0

    def note_anchors(self, _pages: PageColumns, _slots: UrlSlots, _texts: Sequence[str], /) -> None:
        """Links tell nothing about visits."""

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        return batch.targets[:0]

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        return False
