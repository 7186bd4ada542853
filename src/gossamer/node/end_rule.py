"""The end of a crawl: limits, threshold, and no work left.

A crawl that visits known pages again does not end at its limit of pages. It holds new URLs back
and continues with the visits.
"""

from __future__ import annotations

from typing import Final

from gossamer.node.parts import Parts

_OF_PAGES: Final = ("max-pages", "max-matches")  # limits that do not hold for other visits


class EndRule:
    """Decides whether a crawl is over."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._scheduler = parts.scheduler
        self._held_by = "done"  # the limit by which new URLs are held back

    def reason(self, ran_s: float) -> str:
        """Why the crawl is over, as in its summary; empty while it is not."""
        counts = self._frontier.counts
        reached = self._scheduler.allowance.reached(
            fetched=counts.pages_had, bytes_had=counts.bytes_had, ran_s=ran_s
        )
        if reached in _OF_PAGES and self._has_visits:
            self._hold_new_urls()
        elif reached:
            return reached
        keeping = self._parts.keeping
        if keeping is not None and keeping.is_over:
            return "threshold"
        if self._parts.revisits is not None and counts.fetched:
            return ""  # it has no end
        self._scheduler.hasten_retries()
        if self._has_work:
            return ""
        return self._held_by if self._frontier.counts.queued else "done"

    @property
    def _has_work(self) -> bool:
        keeping = self._parts.keeping
        return bool(
            self._frontier.to_do
            or self._parts.pool.under_way
            or self._scheduler.sitemaps_waiting
            or self._is_planning
            or (keeping is not None and keeping.has_more())
        )

    @property
    def _has_visits(self) -> bool:
        """Whether known pages are visited again, now or later."""
        is_endless = self._parts.revisits is not None
        return bool(is_endless or self._is_planning or self._frontier.counts.revisits)

    @property
    def _is_planning(self) -> bool:
        run = self._parts.revisit_run
        return run is not None and run.is_planning

    def _hold_new_urls(self) -> None:
        """The crawl has as many pages as it may have. It continues to visit those."""
        limits = self._parts.settings.limits
        self._held_by = "max-pages" if limits.max_pages else "max-matches"
        self._scheduler.allowance.is_visits_only = self._frontier.visits.is_visits_only = True
