"""Read a time as people write it: a date, a time, `7d` for seven days ago, `yesterday`, `now`.

A date is a span: `--at 2026-01` means its last microsecond, `--since 2026-01` its first. The
default zone is UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from gossamer.base.clock import SystemClock
from gossamer.base.durations import seconds_of
from gossamer.errors import UsageError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS: Final = re.compile(r"(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?")
_EXACT_DIGITS: Final = re.compile(r"(\d{8})(\d{6})(\d{1,6})")
_FRACTION: Final = re.compile(r"[.,](\d{1,6})")
_DASHED: Final = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d))?)?)?)?)?Z?", re.IGNORECASE
)
_SPANS: Final = (
    timedelta(days=1),
    timedelta(hours=1),
    timedelta(minutes=1),
    timedelta(seconds=1),
)
_RELATIVE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?\s?[smhdw])(?:\s+ago)?", re.IGNORECASE)
_TICK: Final = timedelta(microseconds=1)


class TimeSpan(NamedTuple):
    """The first and the last microsecond of a time."""

    first_us: int
    last_us: int


def moment_of(text: str | datetime, now_us: int | None = None) -> int:
    """Return the last microsecond of the time `text`. A datetime, as in tables, is one microsecond.

    Accepts 2026, 2026-01, 2026-01-31, 20260131120000 and ISO 8601, both with or without fractions
    of a second, 7d, 12h, now, today and yesterday. Raises UsageError.
    """
    return span_of(text, now_us).last_us


def first_moment_of(text: str | datetime, now_us: int | None = None) -> int:
    """Return the first microsecond of the time `text`. Raises UsageError."""
    return span_of(text, now_us).first_us


def span_of(text: str | datetime, now_us: int | None = None) -> TimeSpan:
    """Return the span of time that `text` means. `now_us` is the time now. Raises UsageError."""
    if isinstance(text, datetime):
        moment = _us_of(text if text.tzinfo else text.replace(tzinfo=UTC))
        return TimeSpan(moment, moment)
    try:
        return _relative(text.strip().lower(), now_us) or _absolute(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is not a time; use a date such as 2026-01-31, a time such as "
            "2026-01-31T12:00:00Z, 7d for seven days ago, or yesterday"
        ) from None


def _relative(text: str, now_us: int | None) -> TimeSpan | None:
    found = _RELATIVE.fullmatch(text)
    if found is None and text not in ("now", "today", "yesterday"):
        return None
    now = SystemClock().wall_us() if now_us is None else now_us
    if found is not None:
        moment = max(0, now - round(seconds_of(found[1]) * 1e6))
        return TimeSpan(moment, moment)
    day_us = 86_400_000_000
    today = now - now % day_us
    match text:
        case "now":
            return TimeSpan(now, now)
        case "today":
            return TimeSpan(today, now)
        case _:
            return TimeSpan(today - day_us, today - 1)


def _absolute(text: str) -> TimeSpan:
    stripped = _EXACT_DIGITS.sub(r"\1T\2.\3", text)
    found = _DIGITS.fullmatch(stripped) or _DASHED.fullmatch(stripped)
    if found is not None:
        return _span([int(part) for part in found.groups() if part])
    exact = datetime.fromisoformat(stripped)
    begin = exact if exact.tzinfo else exact.replace(tzinfo=UTC)
    fraction = _FRACTION.search(stripped)
    told = len(fraction[1]) if fraction else 0
    first = _us_of(begin)
    return TimeSpan(first, first + 10 ** (6 - told) - 1)


def _span(parts: list[int]) -> TimeSpan:
    """Return the span of a year, month, day, hour, minute or second. Raises ValueError."""
    padded = [*parts, *(1, 1, 1, 0, 0, 0)[len(parts) :]]
    year, month, day, hour, minute, second = padded
    begin = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    if len(parts) == 1:
        after = begin.replace(year=year + 1)
    elif len(parts) == 2:
        after = begin.replace(year=year + month // 12, month=month % 12 + 1)
    else:
        after = begin + _SPANS[len(parts) - 3]
    return TimeSpan(_us_of(begin), _us_of(after - _TICK))


def _us_of(moment: datetime) -> int:
    return (moment - _EPOCH) // _TICK
