"""robots.txt: the rules of origins, and the fetches that bring them.

A host whose rules are not known makes a fetch of its own first (`Host.robots_needed`). Redirects
may lead it to other hosts and their delays. The answer is kept by origin: in the state, and in
memory for those that were used lately. A fetch without an answer says nothing about the rules;
then the host is in trouble, and `host_troubles.py` decides.

Nothing here moves a host: each method returns the hosts that it changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from gossamer.base.clock import Clock
from gossamer.fetch.guard import forbidden_port
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import StateTable
from gossamer.politeness.access import MAX_HOPS, Access
from gossamer.records import Lease, Outcome, Purpose, Reason, Report
from gossamer.schedule.host import Host, RobotsFetch
from gossamer.schedule.host_cache import HostCache
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of, origin_of, port_of
from gossamer.urls.host_limit import HostLimit
from gossamer.urls.keys import Keys

# Parsed robots.txt kept in memory, all together: 23,000 with a rule each. A page whose rules are
# here costs 20 microseconds less than one for which they are read from the state. They are counted
# in bytes: the longest file that is read has 31,000 rules, and strangers can make up many hosts.
_ROOM_BYTES: Final = 32 * 2**20
_USUAL_BYTES: Final = 1000  # of one, whatever it says
_RULE_BYTES: Final = 200
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class RobotsAnswer(NamedTuple):
    """What a robots.txt answer changed: the hosts to be moved, and the rules that are new."""

    changed: tuple[Host, ...] = ()
    origin: str = ""
    access: Access | None = None


class FetchedRobots(NamedTuple):
    """An answer to a robots.txt, for other crawlers and from them."""

    origin: str
    status: int
    body: bytes
    at_us: int


class RobotsFetches:
    """The rules of origins, and the fetches in flight."""

    def __init__(
        self, frontier: Frontier, settings: Settings, keys: Keys, clock: Clock, hosts: HostCache
    ) -> None:
        self._frontier = frontier
        self._settings = settings
        self._politeness = settings.politeness
        self._keys = keys
        self._clock = clock
        self._hosts = hosts
        self._accesses: OrderedDict[str, tuple[Access, int]] = OrderedDict()  # with their size
        self._bytes = 0  # of all in memory
        self._in_flight: dict[int, RobotsFetch] = {}  # by number of the lease
        self._host_limit = HostLimit(settings.scope.hosts)
        self.on_answer: Callable[[FetchedRobots], None] | None = None  # is told of each answer

    def access(self, origin: str) -> Access | None:
        """The rules of an origin; None if they were never fetched."""
        known = self._accesses.get(origin)
        if known is not None:
            self._accesses.move_to_end(origin)
            return known[0]
        row = self._frontier.pending.find(StateTable.ORIGIN, origin.encode())
        if row is None:
            return None
        access = Access.decode(row)
        self._remember(origin, access, row)
        return access

    def lease(self, host: Host, number: int, secret_origins: frozenset[str]) -> Lease:
        """The first fetch of a host, as a lease; it has one. `secret_origins` may be sent the
        operator's secrets."""
        fetch = self._in_flight[number] = host.robots_fetch_taken()
        return Lease(
            number=number,
            url=fetch.url,
            key=self._keys.of(fetch.url),
            host=host.name,
            address=host.address,
            purpose=Purpose.ROBOTS,
            redirects=fetch.hops,
            via=f"{fetch.origin}/robots.txt" if fetch.hops else "",
            is_trusted=host.is_typed,
            gets_secrets=host.is_typed and origin_of(fetch.url) in secret_origins,
            must_be_public=host.must_be_public,
            max_body_bytes=self._politeness.robots_max_bytes,
        )

    def came_back(self, host: Host, lease: Lease) -> None:
        """The lease was not carried out: the fetch is to be made again."""
        host.robots_fetch_added(self._in_flight.pop(lease.number))

    def abandon(self, host: Host, detail: str) -> list[RobotsAnswer]:
        """Nothing of a host can be requested: hosts that wait for an answer from there get one."""
        return [
            self._conclude(fetch, self._failure(fetch, detail))
            for fetch in host.robots_fetches_dropped()
            if fetch.for_host != host.key
        ]

    def learn(self, host: Host, report: Report) -> RobotsAnswer | None:
        """A fetch ended. None if the host gave no answer about its own: it is in trouble."""
        fetch = self._in_flight.pop(report.lease.number)
        if report.outcome is not Outcome.FETCHED and report.reason is not Reason.BUSY:
            if fetch.for_host == host.key:
                return None
            return self._conclude(fetch, self._failure(fetch, report.detail))
        host.reached()
        if self._leads_on(report) and fetch.hops < MAX_HOPS:
            if not self._host_limit.allows(host_of(report.redirect)):
                return self._conclude(fetch, self._out_of_reach(report.redirect))
            return self._follow(fetch, report.redirect)
        now_us, tries = self._clock.wall_us(), self._tries(fetch.origin)
        access = Access.from_answer(report.status, report.body, now_us, self._politeness, tries)
        self._hosts.note_robots_answer(host)
        if self.on_answer is not None:
            self.on_answer(FetchedRobots(fetch.origin, report.status, report.body, now_us))
        return self._conclude(fetch, access)

    def replay(self, report: Report) -> RobotsAnswer:
        """An answer from the archive that was not committed before a kill."""
        origin = origin_of(report.lease.via or report.lease.url)
        before = self.access(origin)
        if before is not None and before.at_us >= report.at_us:
            return RobotsAnswer()
        if report.outcome is not Outcome.FETCHED or report.redirect:
            return RobotsAnswer()
        access = Access.from_answer(
            report.status, report.body, report.at_us, self._politeness, self._tries(origin)
        )
        self._keep(origin, access)
        self._hosts.replay_rules(host_of(f"{origin}/"), access.crawl_delay_s or 0.0)
        return RobotsAnswer((), origin, access)

    def _tries(self, origin: str) -> int:
        before = self.access(origin)
        return before.tries if before else 0

    def _leads_on(self, report: Report) -> bool:
        """Whether it is a redirect, and to a port that may be requested."""
        if report.status not in _REDIRECTS or not report.redirect:
            return False
        return forbidden_port(port_of(report.redirect), self._settings.fetch.ports) is None

    def _follow(self, fetch: RobotsFetch, url: str) -> RobotsAnswer:
        target = self._hosts.host_for(url)
        target.robots_fetch_added(RobotsFetch(fetch.origin, url, fetch.for_host, fetch.hops + 1))
        return RobotsAnswer((target,))

    def _failure(self, fetch: RobotsFetch, detail: str) -> Access:
        """An origin's robots.txt cannot be fetched where its redirects led."""
        tries = self._tries(fetch.origin)
        return Access.from_failure(detail, self._clock.wall_us(), self._politeness, tries)

    def _out_of_reach(self, url: str) -> Access:
        """A robots.txt is where this crawl may not request anything: nobody knows the rules, and
        to wait would change nothing."""
        detail = f"it redirects to {host_of(url)}, which is not among scope.hosts"
        tries = self._politeness.robots_tries - 1
        return Access.from_failure(detail, self._clock.wall_us(), self._politeness, tries)

    def share(self, answer: FetchedRobots) -> RobotsAnswer:
        """Use an answer that another crawler got lately, unless a newer one is known or it says
        nothing of the rules."""
        origin, status, body, at_us = answer
        before = self.access(origin)
        if 300 <= status < 400 or (before is not None and before.at_us >= at_us):
            return RobotsAnswer()
        access = Access.from_answer(status, body, at_us, self._politeness)
        if access.is_denied_all or not access.is_fresh(self._clock.wall_us()):
            return RobotsAnswer()
        self._keep(origin, access)
        host = self._hosts.host_for(f"{origin}/")
        host.robots_known(access.crawl_delay_s or 0.0, self._clock.now_s())
        self._hosts.note_rules(host, "")
        return RobotsAnswer((host,), origin, access)

    def _remember(self, origin: str, access: Access, row: bytes) -> None:
        """Keep the rules of an origin in memory, and of others as many as there is room for."""
        size = _USUAL_BYTES + 2 * len(row) + _RULE_BYTES * len(access.robots.rules)
        self._bytes += size - self._accesses.pop(origin, (None, 0))[1]
        self._accesses[origin] = access, size
        while self._bytes > _ROOM_BYTES and len(self._accesses) > 1:
            self._bytes -= self._accesses.popitem(last=False)[1][1]

    def _keep(self, origin: str, access: Access) -> None:
        row = access.encode()
        self._remember(origin, access, row)
        self._frontier.pending.put(StateTable.ORIGIN, origin.encode(), row)

    def _conclude(self, fetch: RobotsFetch, access: Access) -> RobotsAnswer:
        """An origin's rules are known now: the host that waited for them goes on."""
        self._keep(fetch.origin, access)
        host = self._hosts.host(fetch.for_host)
        host.robots_known(access.crawl_delay_s or 0.0, self._clock.now_s())
        self._hosts.note_rules(host, access.detail if access.is_denied_all else "")
        return RobotsAnswer((host,), fetch.origin, access)
