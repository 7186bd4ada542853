"""When is a crawl over? Limits are exact: what is under way counts as if it had come.

Bodies are long only seldom, so near the end of `max_bytes` requests go out one at a time, each with
all that is left: a page is turned away by the limit only if it does not fit in what is left.

Pure: told the counts, answers with room or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gossamer.settings import Limits


class Stop(Protocol):
    """Decides how much may still be requested, and when a crawl is over.

    Limits are never exceeded: `room_for_body` counts what was promised and has not been settled.
    Every `promise` is followed by one `settle` with the same number of bytes.
    """

    is_spent: bool  # the next page did not fit in what is left of the bytes
    is_visits_only: bool  # all pages are there; limits of pages do not hold for other visits
    wasted_bytes: int  # that came in this run and are part of no body
    matches: int  # pages of a wanted type that came

    @property
    def is_bound(self) -> bool:
        """Whether what is promised changes what may be requested."""
        ...

    def room_for_body(self, *, fetched: int, bytes_had: int, max_body_bytes: int) -> int:
        """How long the next body may be; 0 when nothing more may be requested now."""
        ...

    def promise(self, body_bytes: int) -> None:
        """A request starts that may bring so many bytes."""
        ...

    def settle(self, body_bytes: int) -> None:
        """It ended; what it brought is in the counts now."""
        ...

    def reached(self, *, fetched: int, bytes_had: int, ran_s: float) -> str:
        """Why the crawl is over, by its name in `crawl --json`; empty while it is not."""
        ...


@dataclass(slots=True)
class Allowance:
    """The limits of a crawl and what has been promised of them."""

    limits: Limits
    pages_promised: int = 0
    bytes_promised: int = 0
    is_spent: bool = False  # the next page did not fit in what is left of `max_bytes`
    wasted_bytes: int = 0  # that came in this run and are part of no body
    matches: int = 0  # pages of a wanted type that came, told by whoever knows types
    is_visits_only: bool = False  # only pages that were fetched before are requested

    @property
    def is_bound(self) -> bool:
        """Whether what is promised changes what may be asked."""
        limits = self.limits
        return bool(limits.max_pages or limits.max_matches or limits.max_bytes)

    def room_for_body(self, *, fetched: int, bytes_had: int, max_body_bytes: int) -> int:
        """How long the next body may be; 0 when nothing more may be asked now."""
        limits = self.limits
        if not self.is_visits_only and not self._has_room_for_page(fetched):
            return 0
        if not limits.max_bytes:
            return max_body_bytes
        left = limits.max_bytes - bytes_had - self.wasted_bytes - self.bytes_promised
        if self.is_spent or (left < max_body_bytes and self.pages_promised):
            return 0
        return max(0, min(max_body_bytes, left))

    def _has_room_for_page(self, fetched: int) -> bool:
        limits = self.limits
        if limits.max_pages and fetched + self.pages_promised >= limits.max_pages:
            return False
        # Any of those under way may be a match, so near the end few are.
        return not (limits.max_matches and self.matches + self.pages_promised >= limits.max_matches)

    def promise(self, body_bytes: int) -> None:
        """A request goes out that may bring so much."""
        self.pages_promised += 1
        self.bytes_promised += body_bytes

    def settle(self, body_bytes: int) -> None:
        """It ended; what it brought is in the counts now."""
        self.pages_promised -= 1
        self.bytes_promised -= body_bytes

    def reached(self, *, fetched: int, bytes_had: int, ran_s: float) -> str:
        """The limit that is reached, by its name in `crawl --json`, or an empty text."""
        limits = self.limits
        if not self.is_visits_only:
            if limits.max_pages and fetched >= limits.max_pages:
                return "max-pages"
            if limits.max_matches and self.matches >= limits.max_matches:
                return "max-matches"
        if limits.max_bytes and (
            self.is_spent or bytes_had + self.wasted_bytes >= limits.max_bytes
        ):
            return "max-bytes"
        if limits.max_time_s and ran_s >= limits.max_time_s:
            return "max-time"
        return ""
