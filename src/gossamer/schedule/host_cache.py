"""Which hosts are in memory, and what of their past counts?

A host is made of its row when it is first asked for: the rest that is left of what was committed,
as a time of the growing clock, and after a kill a full rest from the start on, for nobody knows
whom the last process asked just before it ended. One that has no work and is rested needs no
memory. How hosts stand now is `host_queues.py`'s; what they are asked is `scheduler.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from operator import attrgetter
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.politeness.pace import address_rest_after, is_hurried, rest_after
from gossamer.schedule.holdups import Holdup, holdups
from gossamer.schedule.host_queues import Host, Where
from gossamer.settings import Politeness
from gossamer.urls.site import last_labels, site_of

_IDLE_HOSTS: Final = 20_000  # hosts kept in memory before those without work are let go
_FEW_HOSTS: Final = 16
_WAITING: Final = (Where.RESTING, Where.WAITING, Where.FULL)


class HostCache:
    """The hosts of a crawl that are in memory, each once."""

    def __init__(
        self,
        frontier: Frontier,
        manners: Politeness,
        clock: Clock,
        typed_hosts: Iterable[str],
        *,
        is_unclean: bool,
    ) -> None:
        """`is_unclean`: the last process was killed, and may have asked anybody just now."""
        self._frontier = frontier
        self._manners = manners
        self._clock = clock
        self._typed = frozenset(typed_hosts)
        self._unclean_since_s = clock.now_s() if is_unclean else None
        self._hosts: dict[bytes, Host] = {}

    def host(self, key: bytes) -> Host:
        """The host of a key, from memory or made of its row."""
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = self._made(key)
        return host

    def find(self, key: bytes) -> Host | None:
        """The host of a key, when it is in memory."""
        return self._hosts.get(key)

    def rest_s(self, host: Host, *, took_s: float) -> float:
        """How long a host rests after an answer that took so long."""
        return rest_after(
            self._manners,
            took_s=took_s,
            crawl_delay_s=host.crawl_delay_s,
            is_open=host.is_open,
        )

    def address_rest_s(self, host: Host) -> float:
        """How long a host's address rests after an answer."""
        return address_rest_after(self._manners, is_open=host.is_open)

    def note_open(self, host: Host, *, is_open: bool) -> None:
        """It is known whether the operator typed or allowed the host."""
        host.is_open = is_open
        host.is_hurried = is_hurried(self._manners, is_open=is_open)
        if not host.is_hurried:
            host.at_once = 1

    def forget(self, key: bytes) -> None:
        """Its row has changed: the next who asks has it made anew."""
        self._hosts.pop(key, None)

    def forget_idle(self) -> None:
        """Let go of those without work whose rest is over."""
        if len(self._hosts) <= _IDLE_HOSTS:
            return
        now_s = self._clock.now_s()
        self._hosts = {
            key: host
            for key, host in self._hosts.items()
            if host.where is not Where.ASLEEP
            or host.pace.free_at_s > now_s
            or host.pace.under_way
            or host.is_resolving
            or host.waits_for_robots
        }

    def waiting(self) -> int:
        """Hosts that have work and may not be asked this moment."""
        return sum(
            host.where in _WAITING
            and (
                bool(host.errands or host.sitemaps)
                or self._frontier.host(host.key).queued > host.pace.under_way
            )
            for host in self._hosts.values()
        )

    def holdups(self) -> tuple[Holdup, ...]:
        """The hosts with the longest queues among those that may not be asked this moment."""
        rows = (
            (h, self._frontier.host(h.key)) for h in self._hosts.values() if h.where in _WAITING
        )
        with_work = ((h, row) for h, row in rows if row.queued + row.waiting > h.pace.under_way)
        return holdups(with_work, self._clock.now_s())

    def troubles(self, limit: int) -> list[str]:
        """Why hosts with work are not asked, a few of them."""
        rows = nsmallest(limit, self._frontier.troubled_hosts(), key=attrgetter("name"))
        return [f"{row.name}: {row.trouble}" for row in rows]

    def _made(self, key: bytes) -> Host:
        row = self._frontier.host(key)
        host = Host(key, row.name, row.name in self._typed, self._site_of(row.name))
        self.note_open(host, is_open=host.is_typed)
        host.crawl_delay_s = row.crawl_delay_s
        host.pace.busy_in_a_row = row.busy
        host.pace.free_at_s = self.now_of(row.free_us)
        wait_s = (row.free_us - self._clock.wall_us()) / 1e6
        if row.busy and wait_s > self._manners.retry_after_max_s:
            host.away = row.trouble or "it asked to be left alone"
        if self._unclean_since_s is not None:
            rest_s = self.rest_s(host, took_s=0.0)
            host.pace.free_at_s = max(host.pace.free_at_s, self._unclean_since_s + rest_s)
        return host

    def _site_of(self, name: str) -> str:
        """Whose a host is. Of few hosts it is told roughly: the list of suffixes takes 45 ms to
        read, which a crawl of one host need not spend."""
        return site_of(name) if len(self._hosts) > _FEW_HOSTS else last_labels(name)

    def now_of(self, wall_us: int) -> float:
        """A wall time as a time of the growing clock; never further off than is ever asked for."""
        wait_s = (wall_us - self._clock.wall_us()) / 1e6
        return self._clock.now_s() + min(max(wait_s, 0.0), self._manners.retry_after_max_s)
