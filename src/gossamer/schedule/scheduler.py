"""Which URL may be requested now? The frontier's order and the rules of politeness meet here.

A lease is given only if its host and its address have had their delay, its robots.txt is known and
allows it, its name is resolved and its address is allowed. What is missing is fetched first
(robots.txt, as a lease of its own) or resolved (`take_unresolved`); what is forbidden is skipped
on the spot. Nothing here waits or does I/O.

    next_leases   take the due hosts from the delay queue and the next host from the ready queue,
                  have a lease made (leases.py), and move the host on
    resolved      a name was looked up (host_names.py)
    ended         a request ended (endings.py)

Each of them tells the hosts concerned what happened (host.py), then moves them (placement.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gossamer.base.clock import Clock
from gossamer.fetch.resolve import ResolvedHost
from gossamer.frontier.frontier import HOST_BYTES, Frontier
from gossamer.frontier.rows import QueueEntry, UrlRow
from gossamer.frontier.store import Store
from gossamer.policies.stop import Allowance, Stop
from gossamer.records import Lease, Purpose, Reason, Report
from gossamer.schedule.auxiliary import AuxiliaryFetches
from gossamer.schedule.connection_shares import ConnectionShares
from gossamer.schedule.endings import Endings
from gossamer.schedule.holdups import Holdup
from gossamer.schedule.host import Host
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.host_names import HostNames
from gossamer.schedule.host_queues import HostQueues
from gossamer.schedule.host_troubles import HostTroubles
from gossamer.schedule.last_retries import LastRetries, RetriesLeft
from gossamer.schedule.leases import LeaseMaker
from gossamer.schedule.moves import FULL, Queue
from gossamer.schedule.placement import Placement
from gossamer.schedule.robots_fetches import FetchedRobots, RobotsFetches
from gossamer.schedule.rules import CrawlRules
from gossamer.schedule.sitemap_fetches import SitemapFetches
from gossamer.schedule.skipped import AT_ONCE, SkippedUrls
from gossamer.settings import Settings

_READY: Final = Queue.READY
_IDLE: Final = Queue.IDLE  # a global is read three times as fast as a member of its class


class Scheduler:
    """Gives out leases and learns from their ends."""

    def __init__(
        self,
        frontier: Frontier,
        settings: Settings,
        clock: Clock,
        rules: CrawlRules,
        on_decided: Callable[[UrlRow], None],
        *,
        is_unclean: bool = False,
    ) -> None:
        """`on_decided` is told of every URL that is skipped. `is_unclean`: the last process was
        killed, and may have requested any host just now."""
        self._frontier = frontier
        self._clock = clock
        self._keys = rules.keys
        self.key_of = rules.keys.of
        self._max_body_bytes = settings.fetch.max_body_bytes
        self.under_way = 0
        self._pace_factors: Mapping[str, float] = {}
        self._used: dict[str, tuple[float, float]] | None = None  # delay, end of the last answer
        self.allowance: Stop = rules.stop or Allowance(settings.limits)
        politeness = settings.politeness
        # The last process left a record of the hosts that it requested, but not of addresses.
        delay_s = politeness.address_delay_s if is_unclean or frontier.counts.known else 0.0
        self._queues: HostQueues[Host] = HostQueues(clock.now_s() + delay_s, frontier.selection)
        self._shares = ConnectionShares(settings.fetch.connections)
        self._hosts = HostCache(
            frontier, rules.keys, politeness, clock, rules.typed_hosts, is_unclean=is_unclean
        )
        self._names = HostNames(
            frontier.pending, rules.guard, has_contact=bool(settings.fetch.contact)
        )
        self._skipped = SkippedUrls(frontier, politeness, clock, on_decided)
        self._auxiliary = AuxiliaryFetches(
            RobotsFetches(frontier, settings, rules.keys, clock, self._hosts),
            SitemapFetches(frontier, settings, rules, self._hosts, on_decided),
        )
        self._placement = Placement(
            frontier, clock, self._hosts, self._queues, self._auxiliary, self._skipped
        )
        self._join(settings, rules)

    def _join(self, settings: Settings, rules: CrawlRules) -> None:
        """Make the parts that decide, on top of those that hold state."""
        frontier, clock, politeness = self._frontier, self._clock, settings.politeness
        hosts, auxiliary, skipped = self._hosts, self._auxiliary, self._skipped
        self._troubles = HostTroubles(
            frontier, politeness, clock, hosts, auxiliary.robots, skipped.dead_ports
        )
        self._outage = self._troubles.outage
        self._leases = LeaseMaker(
            frontier=frontier,
            settings=settings,
            rules=rules,
            hosts=hosts,
            auxiliary=auxiliary,
            skipped=skipped,
            allowance=self.allowance,
        )
        self._endings = Endings(settings, clock, hosts, self._troubles, auxiliary, self.allowance)
        self._last_retries = LastRetries(
            frontier=frontier,
            politeness=politeness,
            clock=clock,
            queues=self._queues,
            hosts=hosts,
            outage=self._outage,
            sitemaps=auxiliary.sitemaps,
            skipped=skipped,
        )

    # -- giving out

    def next_lease(self) -> Lease | None:
        """A URL that may be requested this very moment, or None."""
        leases = self.next_leases(1)
        return leases[0] if leases else None

    def next_leases(self, most: int) -> list[Lease]:
        """URLs that may be requested this very moment, at most so many."""
        leases: list[Lease] = []
        now_s, room = self._clock.now_s(), self._room()
        self._leases.now_us = self._clock.wall_us()
        self._skipped.count = 0
        for key in self._frontier.take_awake():
            host = self._hosts.host(key)
            if host.queue is _IDLE:
                self._placement.place(host, now_s)
        for key in self._frontier.take_moved():  # another URL of the host may come first now
            host = self._hosts.host(key)
            if host.queue is _READY:
                self._placement.place(host, now_s)
        is_bound, outage = self.allowance.is_bound, self._outage
        while len(leases) < most and room:
            if outage.is_out and not outage.may_request(now_s, self.under_way):
                break
            lease = self._first_lease(now_s, room)
            if lease is None:
                break
            leases.append(lease)
            if is_bound:
                room = self._room()
        return leases

    def _first_lease(self, now_s: float, room: int) -> Lease | None:
        for host in self._queues.take_due(now_s):
            self._placement.place(host, now_s)
        while self._skipped.count < AT_ONCE:
            ready = self._queues.take_ready()
            if ready is None:
                return None
            lease = self._lease_from(ready, now_s, room)
            if lease is not None:
                return lease
        return None

    def _lease_from(self, host: Host, now_s: float, room: int) -> Lease | None:
        """A lease for a body of at most `room` bytes from a host whose turn it is; None after
        moving the host to where it belongs."""
        if host.needs_name(now_s):
            self._names.request(host)
            self._placement.place(host, now_s)
            return None
        address = self._queues.address(host.addresses[0])
        if not host.needs_no_delay and not self._queues.may_request(address, host, now_s):
            self._queues.wait_for(address, host)
            return None
        if self.under_way >= self._shares.half and self._is_held(host):
            return None
        made = self._leases.make(host, now_s, room)
        if made is None:
            self._placement.place(host, now_s)
            return None
        if not isinstance(made, Lease):
            self._queues.apply(host, made)
            return None
        self.under_way += 1
        self._shares.begin(host.site, made.address)
        host.leased(made.number)
        self._queues.started(host, address)
        self._placement.place(host, now_s)
        return made

    def _is_held(self, host: Host) -> bool:
        """Whether its site or range uses its share of the connections; then it waits for an end."""
        has_others = self._queues.has_ready_besides(host.site)
        over = self._shares.over(host.site, host.addresses[0], has_others=has_others)
        if over is None:
            return False
        self._queues.apply(host, FULL)
        self._shares.hold(over, host)
        return True

    def _room(self) -> int:
        counts = self._frontier.counts
        return self.allowance.room_for_body(
            fetched=counts.pages_had,
            bytes_had=counts.bytes_had,
            max_body_bytes=self._max_body_bytes,
        )

    # -- learning

    def take_unresolved(self) -> list[Host]:
        """Hosts whose names must be resolved; `resolved` is owed for each."""
        return self._names.take()

    def resolved(self, host: Host, answer: ResolvedHost) -> None:
        """A host's name has been looked up."""
        problem = self._names.answered(host, answer)
        if problem is not None:
            reason, detail, is_definite = problem
            if reason is Reason.DNS:
                self._troubles.fault(host, reason, detail, is_definite=is_definite)
            else:
                host.given_up(reason, detail)
        self._placement.place(host, self._clock.now_s())

    def ended(self, report: Report) -> int | None:
        """A lease ended. For a failure to be tried again, the wall time of the next try."""
        lease, now_s = report.lease, self._clock.now_s()
        host = self._hosts.host(lease.key[:HOST_BYTES])
        self._free(host, lease, now_s)
        retry_us, changed = self._endings.learn(host, report, now_s)
        if (factor := self._pace_factors.get(lease.address, 1.0)) > 1.0:
            host.delayed_until(now_s + factor * host.delay_after(report.took_s))
            self._hosts.note_delay(host, now_s)
        if self._used is not None:
            self._used[host.name] = max(0.0, host.pace.free_at_s - now_s), now_s
        if changed:
            self._placement.place_all(changed, now_s)
        self._placement.place(host, now_s)
        return retry_us

    def came_back(self, lease: Lease) -> None:
        """The worker of a lease died: its host is delayed as after an answer, and the URL is
        queued again."""
        now_s = self._clock.now_s()
        host = self._hosts.host(self._keys.host(lease.host))
        self._free(host, lease, now_s)
        host.answered(now_s, 0.0)
        if lease.purpose is not Purpose.PAGE:
            self._auxiliary.came_back(host, lease)
        else:
            self.allowance.settle(lease.max_body_bytes)
            via = self._keys.of(lease.via) if lease.via else b""
            entry = QueueEntry(lease.key, lease.url, lease.depth, lease.tries, lease.redirects, via)
            self._frontier.give_back(entry._replace(run=lease.run))
        self._placement.place(host, now_s)

    def replayed(self, report: Report) -> int | None:
        """An exchange of the archive that was not committed before a kill, before anything is
        leased. The wall time of the next try, None for never."""
        self._auxiliary.replay(report)
        self._hosts.replay(report)
        return self._endings.retry_us(report)

    def open_sitemaps(self, store: Store, *, is_changed: bool) -> None:
        """Recovery is over: let the sitemaps that the state knows wait at their hosts.
        `is_changed`: the operator may want other sitemaps than before."""
        changed = self._auxiliary.sitemaps.open(store, is_changed=is_changed)
        self._placement.place_all(changed, self._clock.now_s())

    def want_sitemaps(self, urls: Iterable[str]) -> None:
        """Fetch sitemaps that the operator named."""
        changed = self._auxiliary.sitemaps.want(urls)
        self._placement.place_all(changed, self._clock.now_s())

    def read_sitemaps_again(self, store: Store, *, needs_lists: bool = False) -> None:
        """Fetch all known sitemaps once more. `needs_lists`: each is read whole once in a run."""
        changed = self._auxiliary.sitemaps.again(store, needs_lists=needs_lists)
        self._placement.place_all(changed, self._clock.now_s())

    def hasten_retries(self) -> None:
        """Call it when no lease could be given: if nothing but retries is left, they come sooner
        and are fewer."""
        if not self.under_way:
            self._placement.place_all(self._last_retries.hasten(), self._clock.now_s())

    def forget_idle(self) -> None:
        """Hosts without work whose delay is over need no memory."""
        self._queues.forget_free_addresses(self._clock.now_s())
        self._hosts.forget_idle()

    def resize(self, connections: int) -> None:
        """So many requests may be in flight, all together."""
        self._shares.resize(connections)

    def _free(self, host: Host, lease: Lease, now_s: float) -> None:
        """A request has ended: hosts that waited for its end may be requested."""
        self.under_way -= 1
        if lease.purpose is Purpose.PAGE and not (lease.level or lease.previous):
            host.plain_ended()
        for held in self._shares.end(host.site, lease.address):
            if held.queue is Queue.FULL:
                self._placement.place(held, now_s)
        delay_s = host.address_delay_s * self._pace_factors.get(lease.address, 1.0)
        self._queues.ended(lease.address, now_s, delay_s)

    # -- one of many crawlers

    def set_pace(self, factors: Mapping[str, float]) -> None:
        """Other crawlers request these addresses, too: wait so many times the usual delay."""
        self._pace_factors = {address: max(1.0, factor) for address, factor in factors.items()}

    def hold_until(self, name: str, wall_us: int) -> None:
        """Another crawler has requested a host: do not request it before a time."""
        now_s = self._clock.now_s()
        host = self._hosts.host_for(f"http://[{name}]/" if ":" in name else f"http://{name}/")
        host.delayed_until(self._hosts.clock_time_s(wall_us))
        self._hosts.note_delay(host, now_s)
        self._placement.place(host, now_s)

    def share_robots(self, answer: FetchedRobots) -> None:
        """Another crawler has fetched a robots.txt."""
        changed = self._auxiliary.share_robots(answer)
        self._placement.place_all(changed, self._clock.now_s())

    def tell_others(self, listener: Callable[[FetchedRobots], None]) -> None:
        """`listener` is told of every robots.txt that is fetched from now on, and `take_used` tells
        which hosts are requested."""
        self._auxiliary.robots.on_answer = listener
        self._used = {}

    def addresses(self) -> set[str]:
        """The addresses of the hosts in memory that have been looked up."""
        return self._hosts.addresses()

    def take_used(self) -> dict[str, tuple[float, float]]:
        """The hosts that were requested since the last call: the seconds for which each is left
        alone after an answer, and the seconds since the last one. After `tell_others` only."""
        used, self._used = self._used or {}, {}
        now_s = self._clock.now_s()
        return {name: (delay_s, now_s - ended_s) for name, (delay_s, ended_s) in used.items()}

    # -- telling

    def host(self, key: bytes) -> Host:
        """The host of a key."""
        return self._hosts.host(key)

    def next_time_s(self) -> float | None:
        """When to call `next_leases` again, unless a report or a name comes first; None if time
        alone changes nothing."""
        if not self._room():
            return None
        if self._outage.next_try_s is not None:
            return self._outage.next_try_s
        return self._clock.now_s() if self._queues.has_ready else self._queues.next_due_s()

    @property
    def has_ready(self) -> bool:
        """Whether a host may be requested now."""
        return self._queues.has_ready

    @property
    def sitemaps_waiting(self) -> int:
        """Sitemaps to be fetched, without those in flight."""
        return self._auxiliary.sitemaps.waiting

    @property
    def hosts_waiting(self) -> int:
        """Hosts that have work and may not be requested this moment."""
        return self._hosts.waiting()

    def holdups(self) -> tuple[Holdup, ...]:
        """The three hosts that hold the crawl up most."""
        return self._hosts.holdups()

    def troubles(self, limit: int = 5) -> tuple[str, ...]:
        """Why hosts with work are not requested, a few of them."""
        gone = ["the network seems to be down; retrying from time to time"]
        found = gone if self._outage.is_out else []
        return (*found, *self._hosts.troubles(limit - len(found)))

    def retries_left(self) -> RetriesLeft | None:
        """What waits to be retried, if nothing else is left to do."""
        return self._last_retries.left()


assert HOST_BYTES == 8, "a host's key is the first half of a URL's key"
