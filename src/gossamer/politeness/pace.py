"""When may a host, and the address that it shares with others, be asked again?

The rest is counted from the *end* of an answer, never from its start, so a host that is slow
because it is overloaded is asked less, not more. A rest once begun is never shortened: of two
answers that end at about the same time, the longer rest holds.

A host is *open* when the operator typed or allowed it. Only then does `host_delay_s = 0` mean
none; a Crawl-delay holds always.

Pure: every method is told the time. Waiting is the caller's work.
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from gossamer.base.values import dataclass
from gossamer.settings import Politeness

# The default of host_delay_s, and the least for hosts that are not open.
LEAST_REST_S: Final = 1.0
BUSY_REST_MAX_S: Final = 86_400.0
# Ten years: a longer Retry-After, however many digits it has, is the same to us: never again.
_RETRY_AFTER_MAX_S: Final = 10 * 365 * 86_400.0
_SECONDS: Final = re.compile(r"\d+(?:\.\d*)?")


@dataclass(slots=True)
class HostPace:
    """One host's requests under way and its rest. `free_at_s` is of the growing clock."""

    free_at_s: float = 0.0
    under_way: int = 0
    busy_in_a_row: int = 0

    def may_ask(self, now_s: float, per_host: int = 1) -> bool:
        return self.under_way < per_host and now_s >= self.free_at_s

    def asked(self) -> None:
        """Note a request; exactly one of `answered` and `was_busy` follows."""
        self.under_way += 1

    def answered(self, *, at_s: float, rest_s: float, retry_after_s: float = 0.0) -> None:
        """Note the end of an answer, or of a failure. A Retry-After is never shortened."""
        self.busy_in_a_row = 0
        if self.under_way:
            self.under_way -= 1
        self.free_at_s = max(self.free_at_s, at_s + rest_s, at_s + retry_after_s)

    def was_busy(
        self, *, at_s: float, rest_s: float, busy_rest_s: float, retry_after_s: float | None
    ) -> None:
        """Note a 429 or 503: the host rests as long as it says, else longer each time."""
        self.busy_in_a_row += 1
        if retry_after_s is None:
            retry_after_s = busy_rest(busy_rest_s, self.busy_in_a_row)
        self._rest(at_s, max(rest_s, retry_after_s))

    def _rest(self, at_s: float, rest_s: float) -> None:
        if self.under_way:
            self.under_way -= 1
        self.free_at_s = max(self.free_at_s, at_s + rest_s)


@dataclass(slots=True)
class AddressPace:
    """One address's requests under way and its rest, whichever host they are for."""

    free_at_s: float = 0.0
    under_way: int = 0

    def may_ask(self, now_s: float, per_address: int | None = 1) -> bool:
        """`per_address` None: the asker is bound by no rest of the address."""
        if per_address is None:
            return True
        return self.under_way < per_address and now_s >= self.free_at_s

    def asked(self) -> None:
        self.under_way += 1

    def answered(self, *, at_s: float, rest_s: float) -> None:
        if self.under_way:
            self.under_way -= 1
        self.free_at_s = max(self.free_at_s, at_s + rest_s)


def rest_after(
    settings: Politeness, *, took_s: float, crawl_delay_s: float | None, is_open: bool
) -> float:
    """Seconds that a host rests after an answer that took `took_s`."""
    asked_for_s = crawl_delay_s or 0.0
    if is_hurried(settings, is_open=is_open):
        return asked_for_s
    delay_s = settings.host_delay_s if is_open else max(settings.host_delay_s, LEAST_REST_S)
    slow_s = min(settings.rest_factor * took_s, settings.rest_max_s)
    return max(delay_s, slow_s, asked_for_s)


def address_rest_after(settings: Politeness, *, is_open: bool) -> float:
    """Seconds that an address rests after an answer."""
    return 0.0 if is_hurried(settings, is_open=is_open) else settings.address_delay_s


def host_at_once(settings: Politeness, *, crawl_delay_s: float | None, is_open: bool) -> int:
    """Requests that may be under way to a host: more than one only where it need not rest."""
    is_free = is_hurried(settings, is_open=is_open) and not crawl_delay_s
    return settings.per_host if is_free else 1


def address_at_once(settings: Politeness, *, is_open: bool) -> int | None:
    """The same for an address; None sets no bound."""
    return None if is_hurried(settings, is_open=is_open) else 1


def busy_rest(first_s: float, times: int) -> float:
    """Rest after the `times`-th (from 1) busy answer in a row that names no time."""
    doublings = min(max(times, 1) - 1, 40)  # 2**40 s is past any cap, and no overflow
    return min(first_s * 2.0**doublings, BUSY_REST_MAX_S)


def retry_after_s(value: str, now_us: int) -> float | None:
    """Seconds that a Retry-After header asks for; None where it cannot be read.

    A date that is past asks for 0 seconds.
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


def is_hurried(settings: Politeness, *, is_open: bool) -> bool:
    """The operator wants no rest, and may want it of this host."""
    return is_open and settings.host_delay_s == 0
