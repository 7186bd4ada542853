"""A dry run: which requests a crawl would send first, which URLs it would skip, and why.

The frontier and the scheduler of a crawl run over the stored state, or over an empty one
(`start/assemble.py`). The clock jumps from one event to the next, and the answers are made up: each
comes at once, an unknown robots.txt forbids nothing, no page has links. So the order is that of a
crawl, and the times are the earliest possible. No name is resolved and no request is sent. Nothing
is written: what the frontier learns stays in memory and is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gossamer.base.clock import Clock
from gossamer.collection.configure import Configured, configure
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.forgotten import read_forgotten
from gossamer.collection.stored_settings import (
    changed_settings,
    stored_seeds,
    stored_settings,
    without_secrets,
)
from gossamer.errors import UsageError
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.request import user_agent, without_userinfo
from gossamer.fetch.resolve import ResolvedHost, address_in
from gossamer.frontier.frontier import Refusal
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import MemoryStore, StateTable, Store
from gossamer.node.build import check_usable
from gossamer.node.new_sites import new_sites
from gossamer.node.session import CrawlPlan
from gossamer.node.start.assemble import Listeners, assemble, policies_for, read_stored
from gossamer.node.starts.planned_points import planned_points
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.node.visits.revisit_run import revisit_run
from gossamer.policies.throttle import Throttle
from gossamer.records import Found, Lease, Outcome, Purpose, Report, Stored
from gossamer.schedule.host import Host
from gossamer.settings import Settings, values_of
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import SALT_BYTES
from gossamer.urls.site import site_of

_FIRST: Final = 20
_STEPS: Final = 10_000  # of the made-up crawl: a state with many delayed hosts ends, too
_NOBODY: Final = "nobody@example.org"  # stands for the contact that the crawl itself needs


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """A request that the crawl would make, `in_s` seconds from now at the earliest."""

    in_s: float
    purpose: str
    url: str
    score: Mapping[str, Any] | None = None  # its parts (`policies/orders/explained.py`)


@dataclass(frozen=True, slots=True)
class NotRequested:
    """A URL that the crawl would not request."""

    url: str
    reason: str  # of docs/reasons.md; "known" where it has an outcome already
    detail: str


@dataclass(frozen=True, slots=True)
class HostForecast:
    """How one host would be treated."""

    host: str
    queued: int
    delay_s: float
    at_once: int
    rests_s: float  # from now, before its first request
    robots: str  # "known", "asked first" or "not asked" (politeness.own_hosts)


@dataclass(slots=True)
class Forecast:
    """What a dry run found."""

    collection: str
    is_new: bool
    settings: Mapping[str, object]
    origin: Mapping[str, str]
    seeds: Sequence[str]
    fetched: int
    queued: int
    revisits: int = 0  # known pages that would be visited again
    changed: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    first: list[PlannedRequest] = field(default_factory=list)
    not_asked: list[NotRequested] = field(default_factory=list)
    not_asked_count: int = 0
    hosts: list[HostForecast] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class _JumpingClock:
    """A clock that stands still until it is told where to jump to."""

    def __init__(self, wall_us: int) -> None:
        self._began_us = wall_us
        self._now_s = 0.0

    def now_s(self) -> float:
        return self._now_s

    def wall_us(self) -> int:
        return self._began_us + round(self._now_s * 1e6)

    async def sleep_until(self, when_s: float) -> None:
        raise NotImplementedError("a dry run never waits")

    def jump_to(self, when_s: float) -> None:
        self._now_s = max(self._now_s, when_s)


def make_forecast(plan: CrawlPlan, clock: Clock) -> Forecast:
    """The first requests of a crawl. Raises what the crawl itself would raise before it begins."""
    paths = plan.paths
    if paths.is_state_lost:
        raise paths.missing()
    store = open_to_read(paths) if paths.exists else _empty_store()
    try:
        return _make_forecast(plan, paths, store, clock)
    finally:
        store.close()


def _empty_store() -> Store:
    """The state of a collection that does not exist yet. Its salt decides nothing here."""
    store = MemoryStore()
    store.write({StateTable.META: {SALT_KEY: bytes(SALT_BYTES)}})
    return store


def _make_forecast(plan: CrawlPlan, paths: CollectionPaths, store: Store, clock: Clock) -> Forecast:
    configured = configure(plan.collection, plan.flags, base=stored_settings(store))
    settings = configured.settings
    points = planned_points(settings, is_new=not paths.exists, flags=plan.flags)
    if not paths.exists and not plan.seeds and not points.is_asked:
        raise UsageError(f"no crawl to resume in {plan.collection}; add a start URL")
    plan = replace(plan, seeds=tuple(dict.fromkeys((*plan.seeds, *points.urls))))
    check_usable(settings, [*stored_seeds(store), *plan.seeds])
    user_agent(settings.fetch.contact)  # raises for one that cannot be sent
    changed = changed_settings(store, settings, may_change=plan.may_change)
    run = DryRun(paths, store, settings, plan.seeds, clock.wall_us(), plan.revisit)
    forecast = _begun(plan, configured, run)
    forecast.changed = changed
    forecast.first = run.first()
    forecast.not_asked, forecast.not_asked_count = run.not_asked()
    forecast.hosts = run.hosts()
    forecast.remarks = list(_remarks(settings, plan.seeds, clock.wall_us(), forecast))
    for site in () if plan.may_add else new_sites(store, settings, plan.seeds):
        if site not in {site_of(host_of(url)) for url in points.urls}:
            forecast.remarks.append(f"{site} is new to this collection: the crawl needs --add")
    forecast.remarks += [
        f"{without_userinfo(engine)} was not searched; its results would be further seeds"
        for engine in points.engines
    ]
    return forecast


def _begun(plan: CrawlPlan, configured: Configured, run: DryRun) -> Forecast:
    counts = run.frontier.counts
    return Forecast(
        collection=str(plan.collection),
        is_new=not plan.paths.exists,
        settings=values_of(without_secrets(configured.settings)),
        origin=configured.origin,
        seeds=list(plan.seeds),
        fetched=counts.pages_had,
        queued=counts.queued,
        revisits=counts.revisits,
    )


def _remarks(
    settings: Settings, seeds: Sequence[str], now_us: int, forecast: Forecast
) -> list[str]:
    said = []
    if any(not address_in(host_of(request.url)) for request in forecast.first):
        said.append("host names were not resolved; one that does not exist fails")
    if any(host.robots == "asked first" for host in forecast.hosts):
        said.append("a robots.txt that is not known yet may forbid these requests, or delay them")
    if not settings.fetch.contact and _has_others(seeds):
        said.append("without --user-agent-contact only loopback and private hosts are requested")
    if not Throttle(settings.node.hours, 0).is_open(now_us):
        said.append(f"nothing is requested outside the hours {settings.node.hours}")
    if not forecast.first:
        said.append("there is nothing to request")
    return said


def _has_others(seeds: Sequence[str]) -> bool:
    """Whether a seed's host may be somebody else's."""
    everybody = AddressGuard()
    hosts = {host_of(seed) for seed in seeds}
    addresses = (address_in(host) for host in hosts if not host.endswith("localhost"))
    return any(not a or everybody.forbids(a, is_trusted=False) is None for a in addresses)


class DryRun:
    """A crawl that sends no request."""

    def __init__(
        self,
        paths: CollectionPaths,
        store: Store,
        settings: Settings,
        seeds: Sequence[str],
        now_us: int,
        revisit: RevisitFilter | None = None,
    ) -> None:
        self._clock = _JumpingClock(now_us)
        contact = settings.fetch.contact or _NOBODY
        self._settings = replace(settings, fetch=replace(settings.fetch, contact=contact))
        self._refused: list[UrlRow | Refusal] = []
        self._known: list[NotRequested] = []
        self._robots_first: set[str] = set()
        self._numbers = itertools.count(1)
        crawl = read_stored(store, seeds, read_forgotten(paths.takedowns))
        self._keys = crawl.keys
        self.core = assemble(
            crawl,
            self._settings,
            policies_for(self._settings),
            self._clock,
            Listeners(self._refused.extend, self._refused.append),
        )
        self.frontier, self._scheduler = self.core.frontier, self.core.scheduler
        selection = self.frontier.selection
        if selection is not None and not selection.is_restored:
            from gossamer.node.selection.restore import Restorer  # loads NumPy

            Restorer(selection, store, paths.graph, crawl.keys).restore()
        self._admit(crawl.seeds)
        admission, frontier = self.core.admission, self.core.frontier
        revisiting = revisit_run(frontier, store, admission, self._clock, revisit)
        if revisiting is not None:
            revisiting.choose_all()
        self._known += [
            NotRequested(seed, "banned", "it was taken down") for seed in crawl.forgotten_seeds
        ]
        self._scheduler.open_sitemaps(store, is_changed=False)
        self._began: dict[str, tuple[float, int]] = {}  # of each host: when, and how many queued

    def _admit(self, seeds: Sequence[str]) -> None:
        for seed in seeds:
            key = self._keys.of(seed)
            row = self.frontier.find(key)
            if row is not None and row.outcome is not Outcome.QUEUED:
                reason = f" ({row.reason})" if row.reason else ""
                self._known.append(
                    NotRequested(seed, "known", f"it is {row.outcome}{reason} already")
                )
            self.frontier.admit([Found(seed, key, 0)], self._clock.wall_us())

    def first(self) -> list[PlannedRequest]:
        """The first requests, in order."""
        found: list[PlannedRequest] = []
        for _ in range(_STEPS):
            if len(found) == _FIRST:
                break
            lease = self._scheduler.next_lease()
            if lease is not None:
                in_s = round(self._clock.now_s(), 3)
                queued = self.frontier.host(self._keys.host(lease.host)).to_request
                self._began.setdefault(lease.host, (in_s, queued))
                score = self._score_of(lease)
                found.append(PlannedRequest(in_s, lease.purpose.value, lease.url, score))
                self._answer(lease)
            elif not self._advance():
                break
        return found

    def _score_of(self, lease: Lease) -> Mapping[str, Any] | None:
        selection = self.frontier.selection
        if selection is None or lease.purpose is not Purpose.PAGE:
            return None
        parts = selection.explain(self._settings.frontier.order, lease.key)
        return parts.as_json() if parts is not None else None

    def _advance(self) -> bool:
        """Resolve names, or jump to the next event; False if there is none."""
        if hosts := self._scheduler.take_unresolved():
            for host in hosts:
                self._scheduler.resolved(host, self._resolved(host))
            return True
        due_us = self.frontier.next_due_us()
        moments = [] if due_us is None else [(due_us - self._clock.wall_us()) / 1e6]
        moments = [self._clock.now_s() + max(0.0, wait_s) for wait_s in moments]
        if (next_s := self._scheduler.next_time_s()) is not None:
            moments.append(next_s)
        if not moments:
            return False
        self._clock.jump_to(max(min(moments), self._clock.now_s() + 1e-6))
        self.frontier.wake_due(self._clock.wall_us())
        return True

    def _resolved(self, host: Host) -> ResolvedHost:
        """An address stands for itself. A name gets an address of its own, public and unused."""
        literal = address_in(host.name)
        return ResolvedHost((literal or f"2600::{next(self._numbers):x}",), float("inf"))

    def _answer(self, lease: Lease) -> None:
        is_robots = lease.purpose is Purpose.ROBOTS
        if is_robots:
            self._robots_first.add(lease.host)
        report = Report(
            lease=lease,
            outcome=Outcome.FETCHED,
            at_us=self._clock.wall_us(),
            took_s=0.0,
            stored=Stored("", 0, 0, 0),
            status=404 if is_robots else 200,
        )
        retry_us = self._scheduler.ended(report)
        if lease.purpose is Purpose.PAGE:
            self.frontier.report(report, retry_us)

    def not_asked(self) -> tuple[list[NotRequested], int]:
        """Some of the URLs that would not be requested, and how many they are."""
        refused = [NotRequested(row.url, row.reason, row.detail) for row in self._refused]
        found = [*self._known, *refused]
        return found[:_FIRST], len(found)

    def hosts(self) -> list[HostForecast]:
        """The hosts that are requested first."""
        return [self._host(name) for name in self._began]

    def _host(self, name: str) -> HostForecast:
        host = self._scheduler.host(self._keys.host(name))
        own_hosts = self._settings.politeness.own_hosts
        robots = "asked first" if name in self._robots_first else "known"
        rests_s, queued = self._began[name]
        return HostForecast(
            host=name,
            queued=queued,
            delay_s=host.delay_after(0.0),
            at_once=host.at_once,
            rests_s=rests_s,
            robots="not asked" if name in own_hosts else robots,
        )


def as_json(forecast: Forecast) -> dict[str, Any]:
    """The forecast for scripts. Its keys are public: they stay as they are."""
    settings = {
        key: {"value": value, "origin": forecast.origin.get(key, "default")}
        for key, value in forecast.settings.items()
    }
    return {
        "schema": 1,
        "collection": forecast.collection,
        "new": forecast.is_new,
        "settings": settings,
        "changed": {key: list(both) for key, both in forecast.changed.items()},
        "seeds": list(forecast.seeds),
        "fetched": forecast.fetched,
        "queued": forecast.queued,
        "revisits": forecast.revisits,
        "first": [
            {"in_s": a.in_s, "purpose": a.purpose, "url": a.url, "score": a.score}
            for a in forecast.first
        ],
        "not_asked": [
            {"url": n.url, "reason": n.reason, "detail": n.detail} for n in forecast.not_asked
        ],
        "not_asked_count": forecast.not_asked_count,
        "hosts": [
            {
                "host": h.host, "queued": h.queued, "delay_s": h.delay_s, "at_once": h.at_once,
                "rests_s": h.rests_s, "robots": h.robots,
            }
            for h in forecast.hosts
        ],
        "remarks": list(forecast.remarks),
    }  # fmt: skip
