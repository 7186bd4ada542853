"""Whose robots.txt is known, and who is out to ask for one?

A host whose rules are not known sends an errand: a lease for its robots.txt, which redirects may
lead to other hosts and their rests. What comes back is kept by origin, in the state and, for those
asked for of late, in memory. That no answer came says nothing about the rules; it is the host that
is in trouble then, and `scheduler.py` sees to that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.fetch.guard import forbidden_port
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import Table
from gossamer.politeness.access import MAX_HOPS, Access
from gossamer.records import Lease, Outcome, Purpose, Reason, Report
from gossamer.schedule.auxiliary import host_to_ask
from gossamer.schedule.host_queues import AuxiliaryFetch, Host
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of, origin_of, port_of
from gossamer.urls.keys import Keys

# Parsed robots.txt kept in memory, all together: 23,000 with a rule each. A page whose rules are
# here costs 20 microseconds less than one for which they are read from the state. They are counted
# in bytes: the longest file that is read has 31,000 rules, and strangers can make up many hosts.
_ROOM_BYTES: Final = 32 * 2**20
_USUAL_BYTES: Final = 1000  # of one, whatever it says
_RULE_BYTES: Final = 200
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class RobotsFetches:
    """The rules of origins, and the errands that bring them."""

    def __init__(
        self,
        frontier: Frontier,
        settings: Settings,
        keys: Keys,
        clock: Clock,
        host_of_key: Callable[[bytes], Host],
        place: Callable[[Host], None],
        on_rules: Callable[[str, Access], None],
    ) -> None:
        """`place` puts a host where it belongs, after its errands or its rules have changed;
        `on_rules` hears of every origin whose rules have come.
        """
        self._frontier = frontier
        self._settings = settings
        self._manners = settings.politeness
        self._keys = keys
        self._clock = clock
        self._host = host_of_key
        self._place = place
        self._on_rules = on_rules
        self._accesses: OrderedDict[str, tuple[Access, int]] = OrderedDict()  # with their size
        self._bytes = 0  # of all in memory
        self._out: dict[int, AuxiliaryFetch] = {}  # by number of the lease

    def access(self, origin: str) -> Access | None:
        """The rules of an origin; None when they were never asked for."""
        known = self._accesses.get(origin)
        if known is not None:
            self._accesses.move_to_end(origin)
            return known[0]
        row = self._frontier.pending.find(Table.ORIGIN, origin.encode())
        if row is None:
            return None
        access = Access.decode(row)
        self._remember(origin, access, row)
        return access

    def want(self, host: Host, origin: str) -> None:
        """The host waits for an origin's rules; the caller places it."""
        host.errands.append(AuxiliaryFetch(origin, f"{origin}/robots.txt", host.key))
        host.waits_for_robots = True

    def lease(self, host: Host, number: int) -> Lease:
        """The first errand of a host, as a lease; it has one."""
        errand = self._out[number] = host.errands.pop(0)
        return Lease(
            number=number,
            url=errand.url,
            key=self._keys.of(errand.url),
            host=host.name,
            address=host.address,
            purpose=Purpose.ROBOTS,
            redirects=errand.hops,
            via=f"{errand.origin}/robots.txt" if errand.hops else "",
            is_trusted=host.is_typed,
            must_be_public=host.must_be_public,
            max_body_bytes=self._manners.robots_max_bytes,
        )

    def came_back(self, host: Host, lease: Lease) -> None:
        """The lease came to nothing: the errand is to be run again; the caller places the host."""
        host.errands.append(self._out.pop(lease.number))

    def abandon(self, host: Host, detail: str) -> None:
        """Nothing of a host can be asked: who waits for an answer from there hears so."""
        host.waits_for_robots = False
        errands, host.errands = host.errands, []
        for errand in errands:
            if errand.for_host != host.key:
                self._conclude(errand, self._failure(errand, detail))

    def learn(self, host: Host, report: Report) -> bool:
        """An errand ended. False when the host that wanted it gave no answer: it is in trouble."""
        errand = self._out.pop(report.lease.number)
        if report.outcome is not Outcome.FETCHED and report.reason is not Reason.BUSY:
            if errand.for_host == host.key:
                return False
            self._conclude(errand, self._failure(errand, report.detail))
            return True
        host.silent = frozenset()
        if self._leads_on(report) and errand.hops < MAX_HOPS:
            self._send(
                AuxiliaryFetch(errand.origin, report.redirect, errand.for_host, errand.hops + 1)
            )
            return True
        now_us, tries = self._clock.wall_us(), self._tries(errand.origin)
        access = Access.from_answer(report.status, report.body, now_us, self._manners, tries)
        self._frontier.touch(host.key).faults = 0
        self._conclude(errand, access)
        return True

    def replay(self, report: Report) -> None:
        """An answer about robots.txt from the archive: it was not committed before a kill."""
        origin = origin_of(report.lease.via or report.lease.url)
        before = self.access(origin)
        if before is not None and before.at_us >= report.at_us:
            return
        if report.outcome is Outcome.FETCHED and not report.redirect:
            access = Access.from_answer(
                report.status, report.body, report.at_us, self._manners, self._tries(origin)
            )
            self._keep(origin, access)
            name = host_of(f"{origin}/")
            row = self._frontier.touch(self._keys.host(name))
            row.name = row.name or name
            row.crawl_delay_s = access.crawl_delay_s or 0.0

    def _tries(self, origin: str) -> int:
        before = self.access(origin)
        return before.tries if before else 0

    def _leads_on(self, report: Report) -> bool:
        """Whether it is a redirect, and to a port that may be asked."""
        if report.status not in _REDIRECTS or not report.redirect:
            return False
        return forbidden_port(port_of(report.redirect), self._settings.fetch.ports) is None

    def _failure(self, errand: AuxiliaryFetch, detail: str) -> Access:
        """An origin's robots.txt cannot be had where its redirects led."""
        tries = self._tries(errand.origin)
        return Access.from_failure(detail, self._clock.wall_us(), self._manners, tries)

    def _send(self, errand: AuxiliaryFetch) -> None:
        target = host_to_ask(errand.url, self._frontier, self._keys, self._host)
        target.errands.append(errand)
        self._place(target)

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
        self._frontier.pending.put(Table.ORIGIN, origin.encode(), row)
        self._on_rules(origin, access)

    def _conclude(self, errand: AuxiliaryFetch, access: Access) -> None:
        """An origin's rules are known now: its host goes on."""
        self._keep(errand.origin, access)
        host = self._host(errand.for_host)
        host.waits_for_robots = False
        host.crawl_delay_s = access.crawl_delay_s or 0.0
        row = self._frontier.touch(host.key)
        row.trouble = access.detail if access.is_denied_all else ""
        row.crawl_delay_s = host.crawl_delay_s
        rest_s = host.crawl_delay_s
        host.pace.free_at_s = max(host.pace.free_at_s, self._clock.now_s() + rest_s)
        self._place(host)
