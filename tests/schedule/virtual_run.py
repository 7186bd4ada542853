"""A whole crawl under a virtual clock: hours of politeness in a second, and a log to judge."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from gossamer.records import Lease, Report
from gossamer.schedule.host import Host
from schedule.scheduler_bench import Bench, SeenRequest


@dataclass(frozen=True, slots=True)
class Reply:
    """What the web does with a request: after `took_s`, `end` makes the report."""

    took_s: float
    end: Callable[[Lease], Report]


Web = Callable[[Bench, Lease], Reply]


@dataclass
class VirtualRun:
    """The loop of a node, with nothing but time in it."""

    bench: Bench
    web: Web
    connections: int = 64
    dns_s: float = 0.05
    _order: itertools.count[int] = field(default_factory=itertools.count)
    _coming: list[tuple[float, int, Lease, Reply]] = field(default_factory=list)
    _naming: list[tuple[float, int, Host]] = field(default_factory=list)
    _next_commit_s: float = 0.0

    async def until(self, until_s: float = 1e9) -> None:
        """Crawl until nothing is queued. A crawl that can neither go on nor end is a failure."""
        counts, clock = self.bench.frontier.counts, self.bench.clock
        while (counts.queued or self._coming) and clock.now_s() < until_s:
            self._give_out()
            self.bench.scheduler.hasten_retries()
            if self._commit() or (self._is_at_limit() and self._coming):
                await self._pass(self._coming[0][0] if self._is_at_limit() else clock.now_s())
                continue
            moments = self._moments()
            if self._is_at_limit() or not (moments or counts.queued):
                break
            assert moments, f"stalled at {clock.now_s()} s with {counts.queued} queued"
            await self._pass(min(moments))
        self.bench.commit()

    def _give_out(self) -> None:
        bench, now_s = self.bench, self.bench.clock.now_s()
        while len(self._coming) < self.connections:
            lease = bench.scheduler.next_lease()
            if lease is None:
                break
            bench.note_begin(lease)
            reply = self.web(bench, lease)
            heapq.heappush(self._coming, (now_s + reply.took_s, next(self._order), lease, reply))
        for host in bench.scheduler.take_unresolved():
            heapq.heappush(self._naming, (now_s + self.dns_s, next(self._order), host))

    def _commit(self) -> bool:
        """Once a second; whether a URL was woken by it."""
        bench, now_s = self.bench, self.bench.clock.now_s()
        if now_s < self._next_commit_s:
            return False
        self._next_commit_s = now_s + 1.0
        woken = bench.frontier.wake_due(bench.clock.wall_us())
        bench.scheduler.forget_idle()
        bench.commit()
        return bool(woken)

    def _is_at_limit(self) -> bool:
        counts = self.bench.frontier.counts
        return bool(
            self.bench.scheduler.allowance.reached(
                fetched=counts.fetched, bytes_had=counts.size_bytes, ran_s=0.0
            )
        )

    def _moments(self) -> list[float]:
        """When something may happen next."""
        moments = [when_s for when_s, *_ in self._coming[:1]]
        moments += [when_s for when_s, *_ in self._naming[:1]]
        rested_s = self.bench.scheduler.next_time_s()
        if rested_s is not None and len(self._coming) < self.connections:
            moments.append(rested_s)
        due_s = self.bench.due_s()
        if due_s is not None:
            moments.append(max(due_s, self._next_commit_s))
        elif self.bench.frontier.pending.size:
            moments.append(self._next_commit_s)
        return moments

    async def _pass(self, until_s: float) -> None:
        clock = self.bench.clock
        await self.bench.wait(max(until_s - clock.now_s(), 1e-6))
        while self._coming and self._coming[0][0] <= clock.now_s():
            _, _, lease, reply = heapq.heappop(self._coming)
            self.bench.end(reply.end(lease))
        while self._naming and self._naming[0][0] <= clock.now_s():
            host = heapq.heappop(self._naming)[2]
            self.bench.scheduler.resolved(host, self.bench.resolve(host.name))


def grouped(
    requests: list[SeenRequest], key: Callable[[Lease], str]
) -> dict[str, list[SeenRequest]]:
    """Requests by host or by address, in the order in which they began."""
    groups: dict[str, list[SeenRequest]] = defaultdict(list)
    for one in sorted(requests, key=lambda one: (one.began_s, one.lease.number)):
        groups[key(one.lease)].append(one)
    return groups


def shortest_margin_s(group: list[SeenRequest], delay_s: Callable[[SeenRequest], float]) -> float:
    """By how much the closest pair keeps its delay; negative if a rule was broken."""
    margins = [
        after.began_s - (before.ended_s + delay_s(before))
        for before, after in itertools.pairwise(group)
    ]
    return min(margins, default=0.0)
