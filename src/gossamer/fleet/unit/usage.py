"""Bytes of network traffic of a unit in a calendar month, kept over restarts."""

from __future__ import annotations

import msgspec

from gossamer.base.clock import Clock, iso_of
from gossamer.fleet.unit.folder import UnitFolder, read_json, write_json


class MonthUsage(msgspec.Struct, kw_only=True):
    """`counted` has the bytes of each job that are in the sum."""

    month: str = ""
    bytes: int = 0
    counted: dict[str, int] = {}


class TrafficCounter:
    """Adds up what jobs have fetched and sent."""

    def __init__(self, folder: UnitFolder, clock: Clock) -> None:
        self._path = folder.usage
        self._clock = clock
        self._usage = read_json(self._path, MonthUsage) or MonthUsage()
        self._turn()

    @property
    def month_bytes(self) -> int:
        self._turn()
        return self._usage.bytes

    def note(self, job: str, total: int) -> None:
        """A job has had so many bytes in all."""
        before = self._usage.counted.get(job, 0)
        if total > before:
            self._turn()
            self._usage.bytes += total - before
            self._usage.counted[job] = total
            write_json(self._path, self._usage)

    def forget(self, job: str) -> None:
        """A job has ended: its bytes stay in the sum."""
        if self._usage.counted.pop(job, None) is not None:
            write_json(self._path, self._usage)

    def _turn(self) -> None:
        month = iso_of(self._clock.wall_us())[:7]
        if month != self._usage.month:
            self._usage.month, self._usage.bytes = month, 0
