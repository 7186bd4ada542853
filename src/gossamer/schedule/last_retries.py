"""What if nothing but retries is left to do?

Then people see a crawl that does nothing, for minutes. So it says what waits and for how long
(`left`), and retries come sooner and are fewer (`hasten`): a dead link must not keep a crawl alive.
Three waits keep their length. A host that said when to come back is believed. A host that has
answered before may be restarting, and all that is queued there would be lost. And while the
network is gone nobody is to blame.

A connection that this very machine refuses is not retried at all then: nobody listens there.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from itertools import islice
from typing import Final

from gossamer.base.clock import Clock
from gossamer.base.values import dataclass
from gossamer.fetch.faults import is_refused
from gossamer.frontier.frontier import HOST_BYTES, Frontier
from gossamer.frontier.rows import HostRow, UrlRow
from gossamer.records import Reason
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.host_queues import Host, HostQueues
from gossamer.schedule.host_troubles import HostTroubles
from gossamer.schedule.sitemap_fetches import SitemapFetches
from gossamer.schedule.skipped import SkippedUrls
from gossamer.settings import Politeness
from gossamer.urls.canonical import origin_of

_LOOK_EVERY_S: Final = 0.5
_FEW: Final = 100  # that are looked at to tell when the next one comes
_OF_HOST: Final = frozenset({Reason.DNS, Reason.CONNECT})
_GIVEN_UP: Final = "; given up early: nothing but retries was left to do"


@dataclass(frozen=True, slots=True)
class RetriesLeft:
    """Nothing but these is left: so many URLs, the first of them in so many seconds."""

    urls: int
    next_in_s: float


class LastRetries:
    """The end of a crawl that has failures to retry."""

    def __init__(
        self,
        frontier: Frontier,
        manners: Politeness,
        clock: Clock,
        board: HostQueues,
        roll: HostCache,
        troubles: HostTroubles,
        sitemaps: SitemapFetches,
        unasked: SkippedUrls,
        place: Callable[[Host], None],
    ) -> None:
        """`place` puts a host where it belongs."""
        self._frontier = frontier
        self._manners = manners
        self._clock = clock
        self._board = board
        self._roll = roll
        self._troubles = troubles
        self._sitemaps = sitemaps
        self._unasked = unasked
        self._place = place
        self._next_look_s = 0.0

    def left(self) -> RetriesLeft | None:
        """What waits, when nothing but retries is left; else None."""
        held = self._held()
        if held is None:
            return None
        return RetriesLeft(self._frontier.counts.queued, self._next_in_s(held))

    def hasten(self) -> None:
        """Nothing is under way: let the last retries come sooner, and give up those that had
        theirs. Cheap to call often."""
        now_s = self._clock.now_s()
        if now_s < self._next_look_s or not self._frontier.counts.queued:
            return
        self._next_look_s = now_s + _LOOK_EVERY_S
        held = self._held()
        if held is None:
            return
        if self._troubles.outage.is_out:
            self._troubles.outage.hasten()
            return
        until_us = self._clock.wall_us() + round(self._manners.idle_retry_wait_s * 1e6)
        self._unasked.dead_ports.hasten(until_us)
        for key, url in list(self._frontier.waiting_urls()):
            self._hasten_url(key, url, until_us)
        for key, row in held:
            if row.faults and not row.fetched and row.queued:
                self._hasten_host(self._roll.host(key), row, until_us)

    def _held(self) -> list[tuple[bytes, HostRow]] | None:
        """Hosts in trouble that have work, where all work is theirs or waits for its time."""
        frontier = self._frontier
        if not frontier.counts.queued or self._board.has_ready:
            return None
        held = list(frontier.held_hosts())
        if frontier.counts.queued > frontier.waiting + sum(row.queued for _, row in held):
            return None
        if self._sitemaps.waiting:
            known = (self._roll.find(key) for key, _ in held)
            if self._sitemaps.waiting > sum(len(host.sitemaps) for host in known if host):
                return None
        return held

    def _next_in_s(self, held: list[tuple[bytes, HostRow]]) -> float:
        now_s, now_us = self._clock.now_s(), self._clock.wall_us()
        if self._troubles.outage.next_try_s is not None:
            return max(0.0, self._troubles.outage.next_try_s - now_s)
        waits_s = [(row.due_us - now_us) / 1e6 for _, row in self._frontier.waiting_urls(_FEW)]
        hosts = (self._roll.host(key) for key, row in islice(held, _FEW) if row.queued)
        return max(
            0.0, min((*waits_s, *(host.pace.free_at_s - now_s for host in hosts)), default=0)
        )

    def _hasten_url(self, key: bytes, row: UrlRow, until_us: int) -> None:
        host = self._roll.host(key[:HOST_BYTES])
        if row.reason in ("", Reason.BUSY):
            return
        is_doubted = self._unasked.dead_ports.is_doubted(origin_of(row.url))
        if row.reason in _OF_HOST and not is_doubted and self._frontier.host(host.key).fetched:
            return
        if row.tries > self._manners.idle_retries or _is_hopeless(host, row.detail):
            told, now_us = row.detail + _GIVEN_UP, self._clock.wall_us()
            self._unasked.give_up(key, Reason(row.reason), told, now_us)
        elif row.due_us > until_us:
            self._frontier.wait_until(key, until_us)

    def _hasten_host(self, host: Host, row: HostRow, until_us: int) -> None:
        """One that has never answered."""
        if row.faults > self._manners.idle_retries or _is_hopeless(host, row.trouble):
            self._troubles.give_up(host, host.fault, row.trouble + _GIVEN_UP)
            return
        until_s = self._roll.now_of(until_us)
        if host.pace.free_at_s > until_s:
            host.pace.free_at_s = until_s
            self._frontier.touch(host.key).free_us = until_us
            self._place(host)


def _is_hopeless(host: Host, detail: str) -> bool:
    """Whether this machine itself refused the connection."""
    is_ours = bool(host.addresses) and all(
        ip_address(each.partition("%")[0]).is_loopback for each in host.addresses
    )
    return is_ours and is_refused(detail)
