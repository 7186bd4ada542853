"""When a host, and the address that it shares with others, may be requested again.

The delay counts from the *end* of a response, not from its start, so a host that is slow because it
is overloaded gets fewer requests. A running delay is never shortened: of two responses that end at
about the same time, the longer delay holds.

A host is *open* if the operator typed or allowed it. Only then `host_delay_s = 0` means no delay. A
Crawl-delay always holds.

Pure: every method is given the time. The caller does the waiting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from gossamer.settings import Politeness

# The default of host_delay_s, and the minimum for hosts that are not open.
MIN_DELAY_S: Final = 1.0
BUSY_DELAY_MAX_S: Final = 86_400.0
# Ten years: a longer Retry-After has the same effect, never again.
_RETRY_AFTER_MAX_S: Final = 10 * 365 * 86_400.0
_SECONDS: Final = re.compile(r"\d+(?:\.\d*)?")


@dataclass(slots=True)
class HostPace:
    """Requests in flight to one host, and its delay. `free_at_s` is monotonic time."""

    free_at_s: float = 0.0
    under_way: int = 0
    busy_in_a_row: int = 0

    def may_request(self, now_s: float, per_host: int = 1) -> bool:
        return self.under_way < per_host and now_s >= self.free_at_s

    def requested(self) -> None:
        """Record a request. Exactly one of `answered` and `was_busy` follows."""
        self.under_way += 1

    def answered(self, *, at_s: float, delay_s: float, retry_after_s: float = 0.0) -> None:
        """Record the end of a response or a failure. A Retry-After is never shortened."""
        self.busy_in_a_row = 0
        if self.under_way:
            self.under_way -= 1
        self.free_at_s = max(self.free_at_s, at_s + delay_s, at_s + retry_after_s)

    def was_busy(
        self, *, at_s: float, delay_s: float, busy_rest_s: float, retry_after_s: float | None
    ) -> None:
        """Record a 429 or 503: the delay is what the host says, else longer each time."""
        self.busy_in_a_row += 1
        if retry_after_s is None:
            retry_after_s = busy_delay(busy_rest_s, self.busy_in_a_row)
        self._extend_delay(at_s, max(delay_s, retry_after_s))

    def _extend_delay(self, at_s: float, delay_s: float) -> None:
        if self.under_way:
            self.under_way -= 1
        self.free_at_s = max(self.free_at_s, at_s + delay_s)


@dataclass(slots=True)
class AddressPace:
    """Requests in flight to one address, and its delay, for all of its hosts."""

    free_at_s: float = 0.0
    under_way: int = 0

    def may_request(self, now_s: float, per_address: int | None = 1) -> bool:
        """`per_address` None: no delay of the address applies to the caller."""
        if per_address is None:
            return True
        return self.under_way < per_address and now_s >= self.free_at_s

    def requested(self) -> None:
        self.under_way += 1

    def answered(self, *, at_s: float, delay_s: float) -> None:
        if self.under_way:
            self.under_way -= 1
        self.free_at_s = max(self.free_at_s, at_s + delay_s)


def delay_after(
    settings: Politeness, *, took_s: float, crawl_delay_s: float | None, is_open: bool
) -> float:
    """Seconds of delay after a response of a host that took `took_s`."""
    robots_delay_s = crawl_delay_s or 0.0
    if needs_no_delay(settings, is_open=is_open):
        return robots_delay_s
    delay_s = settings.host_delay_s if is_open else max(settings.host_delay_s, MIN_DELAY_S)
    slow_s = min(settings.rest_factor * took_s, settings.rest_max_s)
    return max(delay_s, slow_s, robots_delay_s)


def host_at_once(settings: Politeness, *, crawl_delay_s: float | None, is_open: bool) -> int:
    """Maximum of concurrent requests to a host: more than one only if it needs no delay."""
    is_free = needs_no_delay(settings, is_open=is_open) and not crawl_delay_s
    return settings.per_host if is_free else 1


def busy_delay(first_s: float, times: int) -> float:
    """Delay after the `times`-th (from 1) busy response in a row that gives no time."""
    doublings = min(max(times, 1) - 1, 40)  # 2**40 s exceeds any cap, and cannot overflow
    return min(first_s * 2.0**doublings, BUSY_DELAY_MAX_S)


def retry_after_s(value: str, now_us: int) -> float | None:
    """Seconds in a Retry-After header; None if it is invalid.

    A date in the past means 0 seconds.
    """
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return min(float(text[:400]), _RETRY_AFTER_MAX_S)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:  # "-0000" and the asctime form: HTTP dates are in UTC
            date = date.replace(tzinfo=UTC)
        wait_s = date.timestamp() - now_us / 1e6
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return min(max(0.0, wait_s), _RETRY_AFTER_MAX_S)


def needs_no_delay(settings: Politeness, *, is_open: bool) -> bool:
    """Whether the operator wants no delay, and may want that for this host."""
    return is_open and settings.host_delay_s == 0
