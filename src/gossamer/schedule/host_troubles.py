"""What becomes of a host that says "too many", that cannot be reached, or may not be?

It rests, longer each time; another address of it is tried; in the end it is given up, and all that
it has queued gets the reason. Nobody is blamed while the network is gone (`politeness/outage.py`).
Many leases of a host fail as one: those that were out already when it was last in trouble say
nothing new. The scheduler hears here when a URL is to be tried again; nothing here waits.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.base.clock import Clock
from gossamer.fetch.faults import is_refused
from gossamer.frontier.frontier import Frontier
from gossamer.politeness.outage import Outage
from gossamer.politeness.retry import wait_before_retry
from gossamer.records import Lease, Reason, Report
from gossamer.schedule.host_queues import Host, HostQueues, Where
from gossamer.schedule.robots_fetches import RobotsFetches
from gossamer.schedule.sitemap_fetches import SitemapFetches
from gossamer.schedule.skipped import SkippedUrls
from gossamer.settings import Politeness
from gossamer.urls.canonical import origin_of


class HostTroubles:
    """The troubles of all hosts."""

    def __init__(
        self,
        frontier: Frontier,
        manners: Politeness,
        clock: Clock,
        board: HostQueues,
        robots: RobotsFetches,
        sitemaps: SitemapFetches,
        unasked: SkippedUrls,
        place: Callable[[Host], None],
        last_lease: Callable[[], int],
    ) -> None:
        """`place` puts a host where it belongs; `last_lease` is the number of the newest lease."""
        self._frontier = frontier
        self._manners = manners
        self._clock = clock
        self._board = board
        self._robots = robots
        self._sitemaps = sitemaps
        self._unasked = unasked
        self._place = place
        self._last_lease = last_lease
        self.outage = Outage()

    def are_over(self, host: Host) -> None:
        """A host could be reached."""
        host.silent = frozenset()
        row = self._frontier.touch(host.key)
        row.faults, row.trouble = 0, ""

    # -- "too many"

    def was_busy(self, host: Host, report: Report, now_s: float, rest_s: float) -> None:
        """It said so: it rests, at least for `rest_s`."""
        if _is_old(host, report.lease) and host.pace.busy_in_a_row:
            host.pace.busy_in_a_row -= 1
        host.trouble_number = self._last_lease()
        host.pace.was_busy(
            at_s=now_s,
            rest_s=rest_s,
            busy_rest_s=self._manners.busy_rest_s,
            retry_after_s=report.retry_after_s or None,
        )
        if report.retry_after_s > self._manners.retry_after_max_s:
            host.away = report.detail

    def is_too_busy(self, host: Host, report: Report) -> bool:
        """Whether a host has said "too many" too often, or wants to be left alone for too long."""
        is_over = bool(host.away) or host.pace.busy_in_a_row > self._manners.busy_retries
        return report.reason is Reason.BUSY and is_over

    # -- out of reach

    def unreachable(self, host: Host, report: Report) -> int | None:
        """No connection: the other addresses of the name come first, then the host is at fault.
        The wall time of the next try, None for never."""
        lease, reason = report.lease, report.reason or Reason.CONNECT
        if reason is Reason.CONNECT and host.avoid(lease.address):
            host.waits_for_robots = False
            return self._clock.wall_us()
        return self.fault(host, reason, report.detail, is_new=not _is_old(host, lease))

    def robots_unreachable(self, host: Host, report: Report) -> None:
        """The same for its robots.txt: that one port is dead may be all there is to it."""
        if report.reason is Reason.PRIVATE:
            self.give_up(host, report.reason, report.detail)
        elif report.reason is Reason.CONNECT and self._answers_elsewhere(host, report.lease):
            host.waits_for_robots = False
            origin = origin_of(report.lease.url)
            self._unasked.dead_ports.blame(origin, report.detail, self._clock.wall_us())
        else:
            self.unreachable(host, report)

    def _answers_elsewhere(self, host: Host, lease: Lease) -> bool:
        """Whether only this port of a host was never reached, at all of its addresses."""
        is_new = self._robots.access(origin_of(lease.url)) is None
        is_known = self._frontier.host(host.key).fetched > 0
        return is_new and is_known and not host.avoid(lease.address)

    def is_network_gone(self, host: Host) -> bool:
        """A host is out of reach: whether that is the network's fault and not its own."""
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
        """The host cannot be reached: it rests, and when it never answers it is given up. The wall
        time of the next try, None for never.

        `is_definite`: its name does not exist, as the network says, which is there then. A host
        that never answered is given up at once: most dead links are of that kind.
        """
        row = self._frontier.touch(host.key)
        is_dead = is_definite and not row.fetched
        # A refusal is an answer of its network: it came through.
        if not (is_definite or is_refused(detail)) and self.is_network_gone(host):
            row.trouble = f"the network seems to be gone ({detail})"
            host.waits_for_robots = False
            self._place(host)
            return self._clock.wall_us()
        if is_new or not row.faults:
            row.faults += 1
            host.trouble_number = self._last_lease()
        row.trouble, host.fault = detail, reason
        counts = self._frontier.counts
        is_first_contact = not counts.fetched and not counts.redirects
        wait_s = wait_before_retry(reason, row.faults - 1, self._manners)
        if wait_s is None or is_first_contact or is_dead:
            self.give_up(host, reason, detail)
            return None
        host.pace.free_at_s = max(host.pace.free_at_s, self._clock.now_s() + wait_s)
        host.waits_for_robots = False
        self._place(host)
        return self._clock.wall_us() + round(wait_s * 1e6)

    # -- the end

    def give_up(self, host: Host, reason: Reason, detail: str) -> None:
        """Nothing of a host can be asked: all that is queued gets the reason."""
        self._frontier.touch(host.key).trouble = detail
        self._robots.abandon(host, detail)
        self._sitemaps.abandon(host, reason, detail, self._clock.wall_us())
        host.verdict = reason, detail
        self.sweep(host, self._clock.now_s())

    def sweep(self, host: Host, now_s: float) -> None:
        """Some of what a given-up host has queued gets the verdict; the rest waits a little."""
        wait_s = self._unasked.sweep(host)
        if wait_s is None:
            self._board.put(host, Where.ASLEEP)
        else:
            self._board.rest(host, now_s + wait_s)


def _is_old(host: Host, lease: Lease) -> bool:
    """Whether it was out already when its host was last in trouble."""
    return lease.number <= host.trouble_number
