"""Hours of work per weekday: `mon-fri 18-8`, `sat,sun 0-24`, `22:30-6`.

A window that ends before it begins goes on until the next day, to which its first weekday counts.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gossamer.errors import UsageError

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_MINUTES: Final = 24 * 60
_TIME: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?")


@dataclass(frozen=True, slots=True)
class _Window:
    days: frozenset[int]  # 0: Monday
    begin: int  # minutes of the day
    end: int

    def holds(self, day: int, minute: int) -> bool:
        if self.begin < self.end:
            return day in self.days and self.begin <= minute < self.end
        before = (day - 1) % 7
        return (day in self.days and minute >= self.begin) or (
            before in self.days and minute < self.end
        )


class WorkHours:
    """The hours in which a unit may work; without any, always."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Raises UsageError."""
        self._windows = tuple(_window_of(line) for line in lines)

    def is_open(self, weekday: int, minute: int) -> bool:
        """Whether work is allowed; `weekday` 0 is Monday, `minute` counts from midnight."""
        return not self._windows or any(one.holds(weekday, minute) for one in self._windows)


def _window_of(line: str) -> _Window:
    words = line.lower().split()
    try:
        days = _days_of(words[0]) if len(words) == 2 else frozenset(range(7))
        begin, _, end = words[-1].partition("-")
        if len(words) > 2 or not end:
            raise ValueError
        return _Window(days, _minutes_of(begin), _minutes_of(end))
    except (ValueError, IndexError):
        raise UsageError(
            f"hours: {line!r} is not a window of hours (`mon-fri 18-8` or `sat,sun 0-24` expected)"
        ) from None


def _days_of(text: str) -> frozenset[int]:
    days: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        begin = _DAYS.index(first[:3])
        end = _DAYS.index(last[:3]) if dash else begin
        days.update((begin + step) % 7 for step in range((end - begin) % 7 + 1))
    return frozenset(days)


def _minutes_of(text: str) -> int:
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError(text)
    minutes = int(found[1]) * 60 + int(found[2] or 0)
    if minutes > _DAY_MINUTES or int(found[2] or 0) > 59:
        raise ValueError(text)
    return minutes
