"""A scheduler with a clock that stands still and a web that is a function: nothing is sent.

`Bench` gives single steps to tests that look at one rule; `virtual_run.py` lets it go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gossamer.base.clock import ManualClock
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.resolve import ResolvedHost
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import MemoryStore, Store
from gossamer.policies.order import Order
from gossamer.policies.policies import Policies
from gossamer.policies.stop import Allowance
from gossamer.records import Found, Lease, Outcome, Purpose, Reason, Report, Stored
from gossamer.schedule.rules import CrawlRules
from gossamer.schedule.scheduler import Scheduler
from gossamer.settings import Settings, with_values
from gossamer.urls.keys import Keys

KEYS = Keys(b"salt" * 4)
PUBLIC = "8.8.8."  # addresses that a link may lead to
A, B = "http://a.example", "http://b.example"
HURRIED = {"politeness.host_delay_s": 0, "politeness.per_host": 4}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request: when it began and ended, and its lease."""

    began_s: float
    ended_s: float
    lease: Lease
    retry_after_s: float = 0.0


@dataclass
class Bench:
    """A scheduler, its frontier, and what has happened."""

    values: Mapping[str, object] = field(default_factory=dict)
    typed: Iterable[str] = ()
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    store: Store = field(default_factory=MemoryStore)
    clock: ManualClock = field(default_factory=ManualClock)
    is_unclean: bool = False
    order: Order | None = None  # instead of the one that the settings name

    def __post_init__(self) -> None:
        self.settings = with_values(Settings(), {"fetch.contact": "a@b.example", **self.values})
        self.decided: list[UrlRow] = []
        self.requests: list[SeenRequest] = []
        self.looked_up: list[str] = []
        self._began_s: dict[int, float] = {}
        self._uncommitted: list[Report] = []
        self.open()

    def open(self) -> None:
        """A new process on the same store; it reads again what the archive has beyond it."""
        self._began_s.clear()
        self.stop = Allowance(self.settings.limits)
        policies = Policies(order=self.order) if self.order is not None else None
        self.frontier = Frontier(
            self.store, self.settings.frontier, lambda _: None, policies=policies
        )
        self.scheduler = Scheduler(
            self.frontier,
            self.settings,
            self.clock,
            CrawlRules(
                keys=KEYS,
                guard=AddressGuard(self.settings.fetch.allow_private),
                stop=self.stop,
                typed_hosts=self.typed,
            ),
            self.decided.append,
            is_unclean=self.is_unclean,
        )
        for report in self._uncommitted:
            self._learn(report, self.scheduler.replayed(report))

    # -- steps

    def admit(self, *urls: str) -> None:
        self.frontier.admit((Found(url, KEYS.of(url), 0) for url in urls), self.clock.wall_us())

    def lease(self) -> Lease | None:
        """What may be requested now; names are resolved at once."""
        while True:
            lease = self.scheduler.next_lease()
            if lease is not None:
                self.note_begin(lease)
                return lease
            hosts = self.scheduler.take_unresolved()
            if not hosts:
                return None
            for host in hosts:
                self.looked_up.append(host.name)
                self.scheduler.resolved(host, self.resolve(host.name))

    def note_begin(self, lease: Lease) -> None:
        self._began_s[lease.number] = self.clock.now_s()

    def resolve(self, name: str) -> ResolvedHost:
        addresses = self.names.get(name, (PUBLIC + "8",))
        keep_s = self.settings.fetch.dns_keep_s if addresses else 0.0
        return ResolvedHost(
            addresses, self.clock.now_s() + keep_s, "" if addresses else "no such name"
        )

    def get(self, url: str = "") -> Lease:
        """A lease, of that URL when one is named; the test fails where there is none."""
        lease = self.lease()
        assert lease is not None, f"nothing may be requested at {self.clock.now_s()} s"
        assert not url or lease.url == url, lease.url
        return lease

    async def wait(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def next_lease_after(self, limit_s: float = 1e9) -> tuple[float, Lease | None]:
        """Seconds until a lease is given, and the lease; commits as a node does."""
        began_s = self.clock.now_s()
        while self.clock.now_s() - began_s <= limit_s:
            lease = self.lease()
            if lease is not None:
                return self.clock.now_s() - began_s, lease
            self.commit()
            if self.frontier.wake_due(self.clock.wall_us()):
                continue
            moments = [self.scheduler.next_time_s(), self.due_s()]
            times = [moment for moment in moments if moment is not None]
            if not times:
                break
            await self.wait(max(min(times) - self.clock.now_s(), 1e-6))
        return self.clock.now_s() - began_s, None

    def due_s(self) -> float | None:
        due_us = self.frontier.next_due_us()
        if due_us is None:
            return None
        return self.clock.now_s() + max(0.0, (due_us - self.clock.wall_us()) / 1e6)

    def commit(self) -> None:
        self._uncommitted.clear()
        changes = self.frontier.begin_commit()
        self.store.write(changes)
        self.frontier.end_commit(changes)

    # -- answers

    def end(self, report: Report) -> None:
        """What a node does with a report."""
        retry_us = self.scheduler.ended(report)
        lease = report.lease
        began_s = self._began_s.pop(lease.number)
        now_s = self.clock.now_s()
        self.requests.append(SeenRequest(began_s, now_s, lease, report.retry_after_s))
        self._uncommitted.append(report)
        self._learn(report, retry_us)

    def _learn(self, report: Report, retry_us: int | None) -> None:
        if report.lease.purpose is Purpose.PAGE and self.frontier.report(report, retry_us):
            self.frontier.admit(report.found, report.at_us)

    def answer(self, lease: Lease, status: int = 200, body: bytes = b"", **more: object) -> None:
        self.end(self.report(lease, Outcome.FETCHED, status=status, body=body, **more))

    def busy(self, lease: Lease, retry_after_s: float = 0.0) -> None:
        self.end(
            self.report(
                lease,
                Outcome.FAILED,
                reason=Reason.BUSY,
                status=503,
                detail="status 503",
                retry_after_s=retry_after_s,
            )
        )

    def fail(self, lease: Lease, reason: Reason) -> None:
        self.end(self.report(lease, Outcome.FAILED, reason=reason, detail=f"{reason} it was"))

    def refuse(self, lease: Lease, reason: Reason) -> None:
        self.end(self.report(lease, Outcome.REFUSED, reason=reason, detail=f"{reason} it was"))

    def report(self, lease: Lease, outcome: Outcome, **more: object) -> Report:
        now_s = self.clock.now_s()
        took_s = now_s - self._began_s.get(lease.number, now_s)
        values: dict[str, object] = {
            "lease": lease,
            "outcome": outcome,
            "at_us": self.clock.wall_us() - round(took_s * 1e6),
            "took_s": took_s,
            "stored": Stored("a.warc.gz", 0, 0, 1),
            "size_bytes": 100 if outcome is Outcome.FETCHED else 0,
            **more,
        }
        return Report(**values)  # type: ignore[arg-type]

    def pass_robots(self, url: str, body: bytes = b"") -> Lease:
        """The lease of a page whose robots.txt is fetched first, and answered here."""
        robots = self.get()
        assert robots.purpose is Purpose.ROBOTS, robots
        self.answer(robots, 200, body)
        return self.after_delay(url)

    def after_delay(self, url: str = "") -> Lease:
        """The next lease after the delay of its host; no test sleeps."""
        lease = self.lease()
        while lease is None:
            when_s = self.scheduler.next_time_s()
            assert when_s is not None, "nothing rests"
            self.clock._now_s = max(when_s, self.clock.now_s())
            lease = self.lease()
        assert not url or lease.url == url, lease.url
        return lease

    def row(self, url: str) -> UrlRow:
        row = self.frontier.find(KEYS.of(url))
        assert row is not None
        return row

    def outcome_of(self, url: str) -> tuple[Outcome, str]:
        row = self.row(url)
        return row.outcome, row.reason


def a_bench(
    *urls: str,
    typed: tuple[str, ...] = ("a.example",),
    needs_no_delay: bool = False,
    **values: object,
) -> Bench:
    """A bench with some URLs queued; b.example has an address of its own."""
    settings = {key.replace("__", "."): value for key, value in values.items()}
    settings.update(HURRIED if needs_no_delay else {})
    bench = Bench(values=settings, typed=typed, names={"b.example": (PUBLIC + "9",)})
    bench.admit(*urls)
    return bench


def after_a_page(**values: float) -> Bench:
    """A bench in which one page was fetched: what fails now is no first contact."""
    settings = {key.replace("__", "."): value for key, value in values.items()}
    bench = Bench(values=settings, typed=("a.example",), names={"first.example": (PUBLIC + "1",)})
    bench.admit("http://first.example/")
    bench.answer(bench.pass_robots("http://first.example/"))
    return bench


def seconds_until_next(bench: Bench) -> tuple[float, Lease | None]:
    return asyncio.run(bench.next_lease_after())
