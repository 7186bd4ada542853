"""May the crawl ask anything now? Hours of the day, bytes and requests a second.

All are the operator's, for all hosts together; what a host may be asked is politeness's. Bytes are
counted when they have come: an answer that was larger than its share is paid for by waiting after
it, so the mean holds over any time that is long against one answer. Requests are counted when they
are sent. Time in which none was sent is not saved up, apart from half a second.

Pure: told the time. Hours are those of the machine's time zone.
"""

from __future__ import annotations

import re
import time
from typing import Final

from gossamer.errors import SettingsError

_HOURS: Final = re.compile(r"(\d{1,2})(?::(\d\d))?-(\d{1,2})(?::(\d\d))?")
_DAY_MIN: Final = 24 * 60
_BURST_S: Final = 0.5  # of requests may be sent at once: on a busy machine the main loop is late


class Throttle:
    """The operator's hours, as `22-6` or `12-13:30,22-6`, and rates. Empty and 0 set no limit."""

    def __init__(self, hours: str, max_rate_bytes: int, requests_per_s: float = 0.0) -> None:
        """Raises SettingsError for hours that cannot be read."""
        self._spans = tuple(_span(part, hours) for part in hours.split(",") if part.strip())
        self._rate = max_rate_bytes
        self.has_rate = max_rate_bytes > 0
        self._paid_at_s = float("-inf")  # when the bytes that came are made up for
        self._gap_s = 1 / requests_per_s if requests_per_s else 0.0
        self._due_s = float("-inf")  # when the next request may be sent

    def is_open(self, wall_us: int) -> bool:
        """Whether it is one of the hours."""
        if not self._spans:
            return True
        local = time.localtime(wall_us / 1e6)
        minute = local.tm_hour * 60 + local.tm_min
        return any(_is_within(minute, begin, end) for begin, end in self._spans)

    def took(self, size_bytes: int, now_s: float) -> None:
        """So many bytes have come; nothing is to be asked before `open_at_s`."""
        if self._rate:
            self._paid_at_s = max(self._paid_at_s, now_s) + size_bytes / self._rate

    @property
    def open_at_s(self) -> float:
        """When the rates allow the next request."""
        return max(self._paid_at_s, self._due_s)

    def room(self, now_s: float, most: int) -> int:
        """How many requests the rates allow now, at most so many."""
        if now_s < self._paid_at_s:
            return 0
        if not self._gap_s:
            return most
        late_s = min(max(now_s - self._due_s, 0.0), _BURST_S)
        return 0 if now_s < self._due_s else min(most, 1 + int(late_s / self._gap_s))

    def sent(self, requests: int, now_s: float) -> None:
        """So many requests were sent."""
        if self._gap_s:
            begin_s = max(self._due_s, now_s - _BURST_S)
            self._due_s = begin_s + requests * self._gap_s


def _is_within(minute: int, begin: int, end: int) -> bool:
    """Whether a minute lies in a span, which may go over midnight."""
    return begin <= minute < end if begin < end else minute >= begin or minute < end


def _span(part: str, hours: str) -> tuple[int, int]:
    found = _HOURS.fullmatch(part.strip())
    if found is not None:
        begin = int(found[1]) * 60 + int(found[2] or 0)
        end = int(found[3]) * 60 + int(found[4] or 0)
        is_clock = int(found[2] or 0) < 60 and int(found[4] or 0) < 60
        if is_clock and begin < _DAY_MIN and end <= _DAY_MIN and begin != end:
            return begin, end
    raise SettingsError(
        "node.hours", f"is {hours!r}, but it must be hours such as 22-6 or 12-13:30,22-6"
    )
