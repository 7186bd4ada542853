"""Leases of jobs and hosts: who has what, until when, and whose results count. Pure.

A job is leased to a unit until a time, which each poll moves. Its hosts are leased with it: a host
that a job may request belongs to no other job at that time, `.example.org` with all hosts below it.
After a job has ended, a host stays blocked until the delay of its last request is over.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from gossamer.fleet.hub.rows import JobRow

LeaseVerdict = Literal["current", "late", "stale"]


def judge_lease(job: JobRow, unit: str, fence: int) -> LeaseVerdict:
    """Whether what a unit sends for a job counts.

    `current`: the unit has the lease. `late`: it had the lease, the job is still open, and no other
    unit has started it: its work is used. `stale`: everything else.
    """
    if not job.is_open or holder_of(job, fence) != unit:
        return "stale"
    if fence == job.fence:
        return "current" if job.state == "allocated" else "late"
    is_untouched = job.state == "unallocated" or not job.has_started
    return "late" if is_untouched else "stale"


def holder_of(job: JobRow, fence: int) -> str:
    """The unit that got the job under a fence; empty if that is unknown or long ago."""
    back = job.fence - fence
    return job.holders[-1 - back] if 0 <= back < len(job.holders) and fence > 0 else ""


class LeaseEnds:
    """When leases end: the earliest first. Renewing is O(1): an entry that is out of date is put
    back when its time comes."""

    def __init__(self) -> None:
        self._ends_s: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def set(self, job: str, end_s: float) -> None:
        if job not in self._ends_s:
            heapq.heappush(self._heap, (end_s, job))
        self._ends_s[job] = end_s

    def drop(self, job: str) -> None:
        self._ends_s.pop(job, None)

    def end_of(self, job: str) -> float | None:
        return self._ends_s.get(job)

    def take_ended(self, now_s: float) -> list[str]:
        """The jobs whose lease has ended; they are dropped."""
        ended: dict[str, None] = {}
        while self._heap and self._heap[0][0] <= now_s:
            _, job = heapq.heappop(self._heap)
            end_s = self._ends_s.get(job)
            if end_s is None:
                continue
            if end_s <= now_s:
                del self._ends_s[job]
                ended[job] = None
            else:
                heapq.heappush(self._heap, (end_s, job))
        return list(ended)


def _above(name: str) -> Iterator[str]:
    """A name and the domains above it."""
    while name:
        yield name
        name = name.partition(".")[2]


def covers(pattern: str, host: str) -> bool:
    """Whether a host of an assignment (`example.org`, `.example.org`) means this host."""
    if pattern.startswith("."):
        return host == pattern[1:] or host.endswith(pattern)
    return host == pattern


class HostLeases:
    """Which job has which hosts."""

    def __init__(self) -> None:
        self._jobs: dict[str, str] = {}  # pattern -> job
        self._below: Counter[str] = Counter()  # domain -> patterns at it or below

    def holder(self, pattern: str) -> str | None:
        """A job that has this host or a part of it."""
        name = pattern.removeprefix(".")
        if (job := self._jobs.get(name)) is not None:
            return job
        for domain in _above(name):
            if (job := self._jobs.get(f".{domain}")) is not None:
                return job
        if pattern.startswith(".") and self._below[name]:
            return next(job for leased, job in self._jobs.items() if covers(pattern, leased))
        return None

    def are_free(self, patterns: Iterable[str]) -> bool:
        return all(self.holder(pattern) is None for pattern in patterns)

    def take(self, job: str, patterns: Iterable[str]) -> None:
        for pattern in patterns:
            self._jobs[pattern] = job
            self._below.update(_above(pattern.removeprefix(".")))

    def release(self, job: str, patterns: Iterable[str]) -> None:
        for pattern in patterns:
            if self._jobs.get(pattern) == job:
                del self._jobs[pattern]
                for domain in _above(pattern.removeprefix(".")):
                    self._below[domain] -= 1
                    if not self._below[domain]:
                        del self._below[domain]

    def __len__(self) -> int:
        return len(self._jobs)
