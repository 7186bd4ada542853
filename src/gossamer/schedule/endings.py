"""What the end of a request means for its host, and when its URL is to be tried again.

A plain answer starts the politeness delay. A failure may be the host's (`host_troubles.py`), the
network's or the page's own (`politeness/retry.py`); an auxiliary fetch brings rules or more
sitemaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gossamer.base.clock import Clock
from gossamer.policies.stop import Stop
from gossamer.politeness.retry import wait_before_retry
from gossamer.records import Outcome, Purpose, Reason, Report
from gossamer.schedule.auxiliary import AuxiliaryFetches
from gossamer.schedule.host import Host
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.host_troubles import HostTroubles
from gossamer.settings import Settings

_HOST_FAULTS: Final = frozenset({Reason.DNS, Reason.CONNECT})
_PAGE: Final = Purpose.PAGE  # a global is read three times as fast as a member of its class
_BUSY: Final = Reason.BUSY


class Ending(NamedTuple):
    """The wall time at which the URL is to be tried again, None for never, and the hosts that are
    to be moved besides the one that was requested."""

    retry_us: int | None = None
    changed: Sequence[Host] = ()


_NOTHING_MORE: Final = Ending()


class Endings:
    """Learns from the ends of requests."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        hosts: HostCache,
        troubles: HostTroubles,
        auxiliary: AuxiliaryFetches,
        allowance: Stop,
    ) -> None:
        self._politeness = settings.politeness
        self._max_body_bytes = settings.fetch.max_body_bytes
        self._clock = clock
        self._hosts = hosts
        self._troubles = troubles
        self._auxiliary = auxiliary
        self._allowance = allowance

    def learn(self, host: Host, report: Report, now_s: float) -> Ending:
        """A request to a host has ended."""
        lease = report.lease
        if report.status:
            self._troubles.outage.answered()
        if report.reason is _BUSY or report.status in (429, 503):
            host.busy(now_s, report.took_s, lease.number, report.retry_after_s, report.detail)
        else:
            host.answered(now_s, report.took_s)
        self._allowance.wasted_bytes += report.wasted_bytes
        if report.reason is None and lease.purpose is _PAGE:  # an answer that we keep
            self._allowance.settle(lease.max_body_bytes)
            if host.silent or self._hosts.is_troubled(host):
                self._troubles.are_over(host)
            ending = _NOTHING_MORE
        else:
            ending = self._learn_more(host, report)
        self._hosts.note_delay(host, now_s)
        return ending

    def _learn_more(self, host: Host, report: Report) -> Ending:
        """The same for what is no page that we keep."""
        if report.lease.purpose is Purpose.ROBOTS:
            changed = self._auxiliary.learn_robots(host, report)
            if changed is not None:
                return Ending(None, changed)
            self._troubles.robots_unreachable(host, report)
            return _NOTHING_MORE
        if report.lease.purpose is Purpose.SITEMAP:
            return Ending(None, self._learn_sitemap(host, report))
        self._allowance.settle(report.lease.max_body_bytes)
        if report.reason in _HOST_FAULTS:
            return Ending(self._troubles.unreachable(host, report))
        self._troubles.are_over(host)
        if report.reason is _BUSY and host.is_too_busy:
            host.given_up(Reason.BUSY, report.detail)
            return _NOTHING_MORE
        self._allowance.is_spent |= self._is_past_limit(report)
        is_mute = report.reason is Reason.TIMEOUT and not report.status
        if is_mute and self._troubles.is_network_gone(host):
            return Ending(self._clock.wall_us())  # not its fault: its tries are not spent
        return Ending(self.retry_us(report))

    def _learn_sitemap(self, host: Host, report: Report) -> Sequence[Host]:
        if report.reason in _HOST_FAULTS:
            self._auxiliary.sitemaps.came_back(host, report.lease)
            self._troubles.unreachable(host, report)
            return ()
        self._troubles.are_over(host)
        changed = self._auxiliary.sitemaps.learn(host, report)
        if report.reason is _BUSY and host.is_too_busy:
            host.given_up(Reason.BUSY, report.detail)
        return changed

    def retry_us(self, report: Report) -> int | None:
        """When a URL is to be tried again, in wall time; None for never."""
        if self._is_past_limit(report):
            return self._clock.wall_us()
        if report.outcome is not Outcome.FAILED or report.reason is None:
            return None
        if report.status == 304 and not report.lease.tries:
            return self._clock.wall_us()  # it is requested again without conditions
        wait_s = wait_before_retry(report.reason, report.lease.tries, self._politeness)
        if report.retry_after_s > self._politeness.retry_after_max_s or wait_s is None:
            return None
        # A server that says when is believed; our own guess is for those that do not.
        return self._clock.wall_us() + round((report.retry_after_s or wait_s) * 1e6)

    def _is_past_limit(self, report: Report) -> bool:
        """Whether a page did not fit only because of what is left of `limits.max_bytes`."""
        return report.reason is Reason.SIZE and report.lease.max_body_bytes < self._max_body_bytes
