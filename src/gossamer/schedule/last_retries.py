"""The end of a crawl, when nothing but retries is left to do.

People would see a crawl that does nothing for minutes. So it says what waits and for how long
(`left`), and retries come sooner and are fewer (`hasten`): a dead link must not keep a crawl alive.
Three waits keep their length. A host that said when to come back is believed. A host that has
answered before may be restarting, and all that is queued there would be lost. And no host is to
blame while the network is gone.

A connection that this very machine refuses is not retried at all then: no program listens there.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from itertools import islice
from typing import Final, NamedTuple

from gossamer.base.clock import Clock
from gossamer.fetch.faults import is_refused
from gossamer.frontier.frontier import HOST_BYTES, Frontier
from gossamer.frontier.rows import HostRow, UrlRow
from gossamer.politeness.outage import Outage
from gossamer.records import Reason
from gossamer.schedule.host import Host
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.host_queues import HostQueues
from gossamer.schedule.sitemap_fetches import SitemapFetches
from gossamer.schedule.skipped import SkippedUrls
from gossamer.settings import Politeness
from gossamer.urls.canonical import origin_of

_LOOK_EVERY_S: Final = 0.5
_FEW: Final = 100  # that are looked at to tell when the next one comes
_OF_HOST: Final = frozenset({Reason.DNS, Reason.CONNECT})
_GIVEN_UP: Final = "; given up early, because only retries were left"


class RetriesLeft(NamedTuple):
    """Nothing but these is left: so many URLs, the first of them in so many seconds."""

    urls: int
    next_in_s: float


@dataclass(slots=True, kw_only=True)
class LastRetries:
    """The end of a crawl that has failures to retry."""

    frontier: Frontier
    politeness: Politeness
    clock: Clock
    queues: HostQueues[Host]
    hosts: HostCache
    outage: Outage
    sitemaps: SitemapFetches
    skipped: SkippedUrls
    _next_look_s: float = 0.0

    def left(self) -> RetriesLeft | None:
        """What waits, if nothing but retries is left; else None."""
        held = self._held()
        if held is None:
            return None
        return RetriesLeft(self.frontier.to_do, self._next_in_s(held))

    def hasten(self) -> list[Host]:
        """Nothing is in flight: let the last retries come sooner, and give up those that had
        theirs. Cheap to call often. The hosts that it changed; the caller moves them."""
        now_s = self.clock.now_s()
        if now_s < self._next_look_s or not self.frontier.to_do:
            return []
        self._next_look_s = now_s + _LOOK_EVERY_S
        held = self._held()
        if held is None:
            return []
        if self.outage.is_out:
            self.outage.hasten()
            return []
        until_us = self.clock.wall_us() + round(self.politeness.idle_retry_wait_s * 1e6)
        self.skipped.dead_ports.hasten(until_us)
        for key, url in list(self.frontier.waiting_urls()):
            self._hasten_url(key, url, until_us)
        silent = ((k, row) for k, row in held if row.faults and not row.fetched and row.to_request)
        hosts = ((self.hosts.host(key), row) for key, row in silent)
        return [host for host, row in hosts if self._hasten_host(host, row, until_us)]

    def _held(self) -> list[tuple[bytes, HostRow]] | None:
        """Hosts in trouble that have work, if all work is theirs or waits for its time."""
        frontier = self.frontier
        if not frontier.to_do or self.queues.has_ready:
            return None
        held = list(frontier.held_hosts())
        if frontier.to_do > frontier.waiting + sum(row.to_request for _, row in held):
            return None
        if self.sitemaps.waiting:
            known = (self.hosts.find(key) for key, _ in held)
            if self.sitemaps.waiting > sum(len(host.sitemaps) for host in known if host):
                return None
        return held

    def _next_in_s(self, held: list[tuple[bytes, HostRow]]) -> float:
        now_s, now_us = self.clock.now_s(), self.clock.wall_us()
        if self.outage.next_try_s is not None:
            return max(0.0, self.outage.next_try_s - now_s)
        waits_s = [(row.due_us - now_us) / 1e6 for _, row in self.frontier.waiting_urls(_FEW)]
        hosts = (self.hosts.host(key) for key, row in islice(held, _FEW) if row.to_request)
        return max(
            0.0, min((*waits_s, *(host.pace.free_at_s - now_s for host in hosts)), default=0)
        )

    def _hasten_url(self, key: bytes, row: UrlRow, until_us: int) -> None:
        host = self.hosts.host(key[:HOST_BYTES])
        if row.reason in ("", Reason.BUSY):
            return
        is_dead_port = self.skipped.dead_ports.is_dead(origin_of(row.url))
        if row.reason in _OF_HOST and not is_dead_port and self.frontier.host(host.key).fetched:
            return
        if row.tries > self.politeness.idle_retries or _is_hopeless(host, row.detail):
            told, now_us = row.detail + _GIVEN_UP, self.clock.wall_us()
            self.skipped.give_up(key, Reason(row.reason), told, now_us)
        elif row.due_us > until_us:
            self.frontier.wait_until(key, until_us)

    def _hasten_host(self, host: Host, row: HostRow, until_us: int) -> bool:
        """A host that has never answered; whether it is to be moved."""
        if row.faults > self.politeness.idle_retries or _is_hopeless(host, row.trouble):
            host.given_up(host.fault, row.trouble + _GIVEN_UP)
            return True
        if not host.hastened(self.hosts.clock_time_s(until_us)):
            return False
        self.hosts.note_hastened(host, until_us)
        return True


def _is_hopeless(host: Host, detail: str) -> bool:
    """Whether this machine itself refused the connection."""
    is_ours = bool(host.addresses) and all(
        ip_address(each.partition("%")[0]).is_loopback for each in host.addresses
    )
    return is_ours and is_refused(detail)
