"""What a node asks of the part that visits pages again (`refresher.py`).

It is named here, because a crawl that visits no page again should not load NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gossamer.frontier.visits.freshness import Freshness
from gossamer.frontier.visits.kinds import VisitKind
from gossamer.records import Report


class Revisits(Protocol):
    """Decides which known pages are visited again, and when."""

    @property
    def figures(self) -> Freshness | None:
        """The last figures; None before the first."""
        ...

    def learn(self, kind: VisitKind, report: Report) -> None:
        """A page got an outcome, and its row says so."""
        ...

    def learn_list(self, report: Report) -> None:
        """A sitemap or a feed was read."""
        ...

    async def keep_up(self, on_chosen: Callable[[], None]) -> None:
        """Run without end; the caller cancels it. `on_chosen` is called when visits wait."""
        ...
