"""The jobs that wait for a unit, by their first host. Pure.

Only one of the jobs of a host can be worked on at a time. So each host has a queue of its own, and
choosing a job looks at the first jobs of hosts that are free. A host that is leased is not looked
at, however many jobs wait for it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Final

from gossamer.fleet.hub.rows import JobRow

_MOST_LOOKED_AT: Final = 2_000  # hosts, when choosing one job
_MOST_OF_HOST: Final = 20  # jobs of one host that are looked at: the first may be for another unit
_BEST_OF: Final = 50  # jobs among which the nearest is chosen

_Place = tuple[int, int, str]  # priority, number, job


class JobQueue:
    """Unallocated jobs that may be given out."""

    def __init__(self) -> None:
        self._waiting: dict[str, JobRow] = {}
        self._of_host: dict[str, list[_Place]] = {}  # heaps
        self._heads: list[_Place] = []  # a heap: the first job of each host, and some out of date
        self._blocked: set[str] = set()  # first hosts that are leased

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, job: JobRow) -> None:
        if job.id in self._waiting:
            return
        self._waiting[job.id] = job
        place = (job.priority, job.number, job.id)
        host = _host(job)
        heapq.heappush(self._of_host.setdefault(host, []), place)
        if host not in self._blocked:
            heapq.heappush(self._heads, place)

    def remove(self, job: str) -> None:
        self._waiting.pop(job, None)

    def block(self, host: str) -> None:
        """A host is leased: its jobs wait."""
        self._blocked.add(host)

    def unblock(self, host: str) -> None:
        if host in self._blocked:
            self._blocked.discard(host)
            self._head_again(host)

    def _head_again(self, host: str) -> None:
        places = self._of_host.get(host)
        while places and places[0][2] not in self._waiting:
            heapq.heappop(places)
        if places:
            heapq.heappush(self._heads, places[0])
        else:
            self._of_host.pop(host, None)

    def choose(
        self, may_have: Callable[[JobRow], bool], distance: Callable[[JobRow], float] | None = None
    ) -> JobRow | None:
        """The first job that a unit may have; with `distance` the nearest of the first fifty. A
        smaller priority always wins."""
        most = 1 if distance is None else _BEST_OF
        seen: dict[str, None] = {}
        found: list[JobRow] = []
        while self._heads and len(seen) < _MOST_LOOKED_AT and len(found) < most:
            host = self._next_host(seen)
            if host is None:
                break
            seen[host] = None
            job = next((job for job in self._first_of(host) if may_have(job)), None)
            if job is not None:
                if found and job.priority > found[0].priority:
                    break
                found.append(job)
        for host in seen:
            self._head_again(host)
        if distance is None or len(found) < 2:
            return found[0] if found else None
        return min(found, key=lambda job: (distance(job), job.number))

    def _next_host(self, seen: dict[str, None]) -> str | None:
        while self._heads:
            job = self._waiting.get(heapq.heappop(self._heads)[2])
            if job is not None and (host := _host(job)) not in seen and host not in self._blocked:
                return host
        return None

    def _first_of(self, host: str) -> Iterator[JobRow]:
        places = self._of_host.get(host, [])
        if places and places[0][2] in self._waiting:  # nearly always this one
            yield self._waiting[places[0][2]]
        for _, _, name in heapq.nsmallest(_MOST_OF_HOST, places):
            job = self._waiting.get(name)
            if job is not None:
                yield job


def _host(job: JobRow) -> str:
    return job.hosts[0] if job.hosts else ""
