"""Count hot pages, and tell when the threshold of a crawl is reached (`policies/threshold.py`).

Whether a queued URL can become hot is asked of the most important URLs that are not fetched: links
tell their importance, and their rows whether they are queued. A URL that is refused or has failed
is asked once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import Standing
from gossamer.node.keeping.importance import LiveImportance
from gossamer.node.keeping.keeper import note_importance
from gossamer.policies.orders.columns import UrlSlots
from gossamer.policies.threshold import Threshold

_ASKED_AT_ONCE: Final = 1_000  # URLs; if none of them is queued, the next look asks others


@dataclass(slots=True)
class HotPages:
    """The hot pages of one crawl."""

    frontier: Frontier
    importance: LiveImportance
    policy: Threshold
    _decided: set[int] = field(default_factory=set)  # slots of URLs that are not requested

    def look(self) -> bool:
        """Count the hot pages; whether the crawl is over."""
        counts = self.frontier.counts
        counts.hot = len(self.hot())
        fetched = counts.pages_had
        self.policy.note(fetched, counts.hot)
        if not self.policy.is_over(fetched, 0.0):
            return False
        return self.policy.is_over(fetched, self._best_queued())

    def hot(self) -> UrlSlots:
        """Fetched pages that are hot."""
        pages = self.importance.pages
        slots = np.flatnonzero(pages.is_fetched[: pages.count]).astype(np.int32)
        found: UrlSlots = slots[self.importance.values(slots) >= self.policy.least]
        return found

    def finish(self) -> None:
        """The last commits of a crawl follow: write the importance of hot pages into their rows."""
        hot = self.hot()
        self.frontier.counts.hot = len(hot)
        for slot, value in zip(hot.tolist(), self.importance.values(hot).tolist(), strict=True):
            note_importance(self.frontier, self.importance.key_of(slot), value)

    def _best_queued(self) -> float:
        """The importance of a queued URL that reaches the threshold; 0 if there is none. While too
        many URLs have to be asked, there may be one."""
        pages = self.importance.pages
        slots = np.flatnonzero(~pages.is_fetched[: pages.count]).astype(np.int32)
        values = self.importance.values(slots)
        is_high = values >= self.policy.least
        high = [one for one in slots[is_high].tolist() if one not in self._decided]
        for slot in high[:_ASKED_AT_ONCE]:
            row = self.frontier.find(self.importance.key_of(slot))
            if row is not None and row.standing == Standing.QUEUED:
                return float(self.policy.least)
            self._decided.add(slot)
        return float(self.policy.least) if len(high) > _ASKED_AT_ONCE else 0.0
