"""The source of time. Nothing else in this program reads a clock or sleeps.

There are two times. *Now* (`now_s`) is monotonic and measures delays and durations. *Wall*
(`wall_us`, microseconds since 1970) dates captures and everything that must outlive the process.
"""

from __future__ import annotations

import asyncio
import functools
import heapq
import itertools
import sys
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of time; every implementation keeps both times in step."""

    def now_s(self) -> float:
        """Monotonic seconds."""
        ...

    def wall_us(self) -> int:
        """Microseconds since 1970; may jump when the machine's clock is set."""
        ...

    async def sleep_until(self, when_s: float) -> None:
        """Return at `when_s` (of `now_s`), at once if that is past."""
        ...


class SystemClock:
    """The clocks of the machine."""

    now_s = staticmethod(time.monotonic)  # called about five times per page, so without a wrapper

    def wall_us(self) -> int:
        return time.time_ns() // 1000

    async def sleep_until(self, when_s: float) -> None:
        await asyncio.sleep(max(0.0, when_s - self.now_s()))


class ManualClock:
    """Changes only when a test advances it."""

    def __init__(self, wall_us: int = 1_767_225_600_000_000) -> None:
        self._now_s = 0.0
        self._start_us = wall_us
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []

    def now_s(self) -> float:
        return self._now_s

    def wall_us(self) -> int:
        return self._start_us + round(self._now_s * 1e6)

    async def sleep_until(self, when_s: float) -> None:
        if when_s <= self._now_s:
            return
        woken = asyncio.Event()
        heapq.heappush(self._sleepers, (when_s, next(self._order), woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Advance the time, waking each sleeper at its own time, in order."""
        until_s = self._now_s + seconds
        while self._sleepers and self._sleepers[0][0] <= until_s:
            self._now_s, _, woken = heapq.heappop(self._sleepers)
            woken.set()
            await asyncio.sleep(0)  # let the sleeper run at its own time
        self._now_s = until_s


def boot_ns() -> int:
    """Nanoseconds since the machine was started, with the time that it slept. All its processes
    read the same value, so that one of them can tell another until when something holds."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":  # there the other monotonic clock stands still during sleep
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return time.monotonic_ns()


def iso_of(wall_us: int) -> str:
    """`2026-01-31T12:00:00Z`, the form of dates in exports and JSON."""
    return _iso_of_second(wall_us // 1_000_000)


def exact_iso_of(wall_us: int) -> str:
    """`2026-01-31T12:00:00.000042Z`, where seconds are not exact enough."""
    return f"{iso_of(wall_us)[:-1]}.{wall_us % 1_000_000:06d}Z"


@functools.lru_cache(maxsize=64)  # a crawl uses the same second for a thousand captures
def _iso_of_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
