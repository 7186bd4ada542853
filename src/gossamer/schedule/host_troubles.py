"""Hosts that cannot be reached, or may not be.

Another address of the host is tried; then it is delayed, longer each time; in the end it is given
up. No host is blamed while the network is gone (`politeness/outage.py`). Leases of a host that fail
together count as one fault. Each method notes on the host what happened, and says when a URL is to
be tried again; whoever calls it moves the host.
"""

from __future__ import annotations

from gossamer.base.clock import Clock
from gossamer.fetch.faults import is_refused
from gossamer.frontier.frontier import Frontier
from gossamer.politeness.outage import Outage
from gossamer.politeness.retry import wait_before_retry
from gossamer.records import Lease, Reason, Report
from gossamer.schedule.dead_ports import DeadPorts
from gossamer.schedule.host import Host
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.robots_fetches import RobotsFetches
from gossamer.settings import Politeness
from gossamer.urls.canonical import origin_of


class HostTroubles:
    """The troubles of all hosts."""

    def __init__(
        self,
        frontier: Frontier,
        politeness: Politeness,
        clock: Clock,
        hosts: HostCache,
        robots: RobotsFetches,
        dead_ports: DeadPorts,
    ) -> None:
        self._frontier = frontier
        self._politeness = politeness
        self._clock = clock
        self._hosts = hosts
        self._robots = robots
        self._dead_ports = dead_ports
        self.outage = Outage()

    def are_over(self, host: Host) -> None:
        """A host could be reached."""
        host.reached()
        self._hosts.note_reached(host)

    def unreachable(self, host: Host, report: Report) -> int | None:
        """No connection: the other addresses of the name come first, then the host is at fault.
        The wall time of the next try, None for never."""
        lease, reason = report.lease, report.reason or Reason.CONNECT
        if reason is Reason.CONNECT and host.address_failed(lease.address):
            host.robots_failed()
            return self._clock.wall_us()
        is_new = not host.was_in_flight(lease.number)
        return self.fault(host, reason, report.detail, is_new=is_new)

    def robots_unreachable(self, host: Host, report: Report) -> None:
        """The same for its robots.txt; perhaps only one port is dead."""
        if report.reason is Reason.PRIVATE:
            host.given_up(report.reason, report.detail)
        elif report.reason is Reason.CONNECT and self._answers_elsewhere(host, report.lease):
            host.robots_failed()
            origin = origin_of(report.lease.url)
            self._dead_ports.failed(origin, report.detail, self._clock.wall_us())
        else:
            self.unreachable(host, report)

    def _answers_elsewhere(self, host: Host, lease: Lease) -> bool:
        """Whether only this port of a host was never reached, at all of its addresses."""
        is_new = self._robots.access(origin_of(lease.url)) is None
        is_known = self._frontier.host(host.key).fetched > 0
        return is_new and is_known and not host.address_failed(lease.address)

    def is_network_gone(self, host: Host) -> bool:
        """A host cannot be reached: whether that is the network's fault and not its own."""
        is_known = self._frontier.host(host.key).fetched > 0
        return self.outage.unreachable(host.name, self._clock.now_s(), is_known=is_known)

    def fault(
        self,
        host: Host,
        reason: Reason,
        detail: str,
        *,
        is_new: bool = True,
        is_definite: bool = False,
    ) -> int | None:
        """The host cannot be reached: it is delayed, and given up if it never answers. The wall
        time of the next try, None for never.

        `is_definite`: a name server said that its name does not exist, so the network is there. A
        host that never answered is given up at once then: most dead links are of that kind.
        """
        is_dead = is_definite and not self._frontier.host(host.key).fetched
        # A refused connection is an answer of the host's network: it came through.
        if not (is_definite or is_refused(detail)) and self.is_network_gone(host):
            self._hosts.note_trouble(host, f"the network seems to be down ({detail})")
            host.robots_failed()
            return self._clock.wall_us()
        is_new = is_new or not self._frontier.host(host.key).faults
        faults = self._hosts.note_fault(host, detail, is_new=is_new)
        host.faulted(reason, is_new=is_new)
        counts = self._frontier.counts
        is_first_contact = not counts.fetched and not counts.redirects
        wait_s = wait_before_retry(reason, faults - 1, self._politeness)
        if wait_s is None or is_first_contact or is_dead:
            host.given_up(reason, detail)
            return None
        host.delayed_until(self._clock.now_s() + wait_s)
        host.robots_failed()
        return self._clock.wall_us() + round(wait_s * 1e6)
