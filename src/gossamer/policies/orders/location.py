"""Location: what the URL itself tells of a page's worth (Cho, 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gossamer.errors import UsageError
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.orders.edges import Edges, LinkBatch
from gossamer.policies.orders.own_column import OwnColumn
from gossamer.urls.canonical import target_of
from gossamer.urls.patterns import Pattern, pattern_of


class Location:
    """1 / (1 + segments of the path), times the weight of every pattern that matches the URL."""

    site_power: Final = 0.0
    uses_links: Final = False
    is_newest_first: Final = False
    wants_anchors: Final = False

    def __init__(self, patterns: Sequence[str]) -> None:
        """Each is `PATTERN=WEIGHT`. Raises UsageError for one that cannot be read."""
        self._patterns = [_weighted(text) for text in patterns]
        self._column = OwnColumn()

    def value(self, _pages: PageColumns, slots: UrlSlots, /) -> Values:
        return self._column.of(slots)

    def worth(self, url: str) -> float:
        """The value of a URL in canonical form."""
        path = target_of(url).partition("?")[0]
        worth = 1.0 / (1 + sum(1 for segment in path.split("/") if segment))
        for pattern, weight in self._patterns:
            if pattern.matches(url):
                worth *= weight
        return worth

    def note_urls(self, _pages: PageColumns, slots: UrlSlots, urls: Sequence[str], /) -> None:
        self._column.set(slots, np.array([self.worth(url) for url in urls], np.float32))

    def note_anchors(self, _pages: PageColumns, _slots: UrlSlots, _texts: Sequence[str], /) -> None:
        """Links tell nothing about a location."""

    def learn(self, _pages: PageColumns, _edges: Edges, batch: LinkBatch, /) -> UrlSlots:
        return batch.targets[:0]

    def recompute(self, _pages: PageColumns, _edges: Edges, /) -> bool:
        return False


def _weighted(text: str) -> tuple[Pattern, float]:
    written, _, number = text.rpartition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not written or not 0 <= weight < float("inf"):
        raise UsageError(f"frontier.location: {text!r} is not PATTERN=WEIGHT, such as '*?*=0.5'")
    return pattern_of(written), weight
