"""The hosts that are in memory, and their rows in the state.

A host is made from its row when it is first needed: with what is left of the committed delay, as a
time of the monotonic clock. After a kill each host gets a full delay from the start on, because the
last process may have requested any of them just before it ended. A host that has no work and no
delay needs no memory.

What the next process must know is written to the row here and in no other file of this folder: the
delay, faults and busy answers in a row, the Crawl-delay, and the trouble that people are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from operator import attrgetter
from typing import Final

from gossamer.base.clock import Clock
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import HostRow
from gossamer.politeness.pace import busy_delay, delay_after
from gossamer.records import Reason, Report
from gossamer.schedule.holdups import Holdup, holdups
from gossamer.schedule.host import Host
from gossamer.schedule.moves import Queue
from gossamer.settings import Politeness
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys
from gossamer.urls.site import last_labels, site_of

_IDLE_HOSTS: Final = 20_000  # hosts kept in memory before those without work are dropped
_FEW_HOSTS: Final = 16
_NOT_WAITING: Final = (Queue.IDLE, Queue.READY)


class HostCache:
    """The hosts of a crawl that are in memory, each once."""

    def __init__(
        self,
        frontier: Frontier,
        keys: Keys,
        politeness: Politeness,
        clock: Clock,
        typed_hosts: Iterable[str],
        *,
        is_unclean: bool,
    ) -> None:
        """`is_unclean`: the last process was killed, and may have requested any host just now."""
        self._frontier = frontier
        self._keys = keys
        self._politeness = politeness
        self._clock = clock
        self._typed = frozenset(typed_hosts)
        self._unclean_since_s = clock.now_s() if is_unclean else None
        self._hosts: dict[bytes, Host] = {}

    def host(self, key: bytes) -> Host:
        """The host of a key, from memory or made from its row."""
        host = self._hosts.get(key)
        if host is None:
            host = self._hosts[key] = self._made(key)
        return host

    def find(self, key: bytes) -> Host | None:
        """The host of a key, if it is in memory."""
        return self._hosts.get(key)

    def host_for(self, url: str) -> Host:
        """The host that an auxiliary fetch leads to, with a name and a row: perhaps no link to it
        has been admitted."""
        name = host_of(url)
        self._row(name)
        host = self.host(self._keys.host(name))
        if not host.site:
            host.named(name, site_of(name))
        return host

    def forget_idle(self) -> None:
        """Drop the hosts without work whose delay is over."""
        if len(self._hosts) <= _IDLE_HOSTS:
            return
        now_s = self._clock.now_s()
        self._hosts = {
            key: host
            for key, host in self._hosts.items()
            if host.queue is not Queue.IDLE
            or host.pace.free_at_s > now_s
            or host.pace.under_way
            or host.is_resolving
            or host.waits_for_robots
        }

    # -- rows

    def note_delay(self, host: Host, now_s: float) -> None:
        """A request has ended: its delay, and how often it was busy in a row."""
        row = self._frontier.touch(host.key)
        row.free_us = self._clock.wall_us()
        if host.pace.free_at_s > now_s:
            row.free_us += round((host.pace.free_at_s - now_s) * 1e6)
        row.busy = host.pace.busy_in_a_row

    def note_hastened(self, host: Host, until_us: int) -> None:
        """Its delay ends no later than that."""
        self._frontier.touch(host.key).free_us = until_us

    def note_trouble(self, host: Host, detail: str) -> None:
        """Why it is not requested, for people."""
        self._frontier.touch(host.key).trouble = detail

    def note_fault(self, host: Host, detail: str, *, is_new: bool) -> int:
        """It could not be reached: how often in a row. What is not new is not counted."""
        row = self._frontier.touch(host.key)
        row.faults += is_new
        row.trouble = detail
        return row.faults

    def is_troubled(self, host: Host) -> bool:
        """Whether its row says that it could not be reached, or why it is not requested."""
        row = self._frontier.host(host.key)
        return bool(row.faults or row.trouble)

    def note_reached(self, host: Host) -> None:
        """It could be reached, and its troubles are over."""
        row = self._frontier.touch(host.key)
        row.faults, row.trouble = 0, ""

    def note_rules(self, host: Host, trouble: str) -> None:
        """Its robots.txt is known; `trouble` says why nothing may be requested, if so."""
        row = self._frontier.touch(host.key)
        row.trouble, row.crawl_delay_s = trouble, host.crawl_delay_s

    def note_robots_answer(self, host: Host) -> None:
        """It answered a request for a robots.txt, its own or another's."""
        self._frontier.touch(host.key).faults = 0

    def replay_rules(self, name: str, crawl_delay_s: float) -> None:
        """A robots.txt from the archive that was not committed before a kill."""
        row = self._row(name)
        row.crawl_delay_s = crawl_delay_s

    def replay(self, report: Report) -> None:
        """An exchange from the archive that was not committed before a kill: its host's row gets
        the delay that it brought. The host is made again from the row."""
        lease, politeness = report.lease, self._politeness
        row = self._row(lease.host)
        is_busy = report.reason is Reason.BUSY
        row.busy = row.busy + 1 if is_busy else 0
        delay_s = delay_after(
            politeness,
            took_s=report.took_s,
            crawl_delay_s=row.crawl_delay_s,
            is_open=lease.is_trusted,
        )
        if is_busy:
            wanted_s = report.retry_after_s or busy_delay(politeness.busy_rest_s, row.busy)
            delay_s = max(delay_s, wanted_s)
            row.trouble = report.detail
        row.free_us = max(row.free_us, report.at_us + round((report.took_s + delay_s) * 1e6))
        self._hosts.pop(self._keys.host(lease.host), None)

    def _row(self, name: str) -> HostRow:
        """The row of a host, which may be new."""
        row = self._frontier.touch(self._keys.host(name))
        row.name = row.name or name
        return row

    # -- telling

    def waiting(self) -> int:
        """How many hosts have work and may not be requested this moment."""
        return sum(
            bool(host.robots_fetches or host.sitemaps)
            or self._frontier.host(host.key).to_request > host.pace.under_way
            for host in self._waiting()
        )

    def addresses(self) -> set[str]:
        """The address of each host that has been looked up."""
        return {host.address for host in self._hosts.values() if host.addresses}

    def holdups(self) -> tuple[Holdup, ...]:
        """The hosts with the longest queues among those that may not be requested this moment."""
        rows = ((host, self._frontier.host(host.key)) for host in self._waiting())
        with_work = ((h, row) for h, row in rows if row.to_request + row.waiting > h.pace.under_way)
        return holdups(with_work, self._clock.now_s())

    def troubles(self, limit: int) -> list[str]:
        """Why hosts with work are not requested, a few of them."""
        rows = nsmallest(limit, self._frontier.troubled_hosts(), key=attrgetter("name"))
        return [f"{row.name}: {row.trouble}" for row in rows]

    def clock_time_s(self, wall_us: int) -> float:
        """A wall time on the monotonic clock; never further away than a Retry-After may be."""
        wait_s = (wall_us - self._clock.wall_us()) / 1e6
        return self._clock.now_s() + min(max(wait_s, 0.0), self._politeness.retry_after_max_s)

    def _waiting(self) -> Iterable[Host]:
        return (host for host in self._hosts.values() if host.queue not in _NOT_WAITING)

    def _made(self, key: bytes) -> Host:
        row = self._frontier.host(key)
        host = Host(
            key,
            row.name,
            self._politeness,
            is_typed=row.name in self._typed,
            site=self._site_of(row.name),
        )
        wait_s = (row.free_us - self._clock.wall_us()) / 1e6
        is_away = row.busy and wait_s > self._politeness.retry_after_max_s
        host.restored(
            crawl_delay_s=row.crawl_delay_s,
            busy_in_a_row=row.busy,
            free_at_s=self.clock_time_s(row.free_us),
            away=(row.trouble or "it sent Retry-After") if is_away else "",
        )
        if self._unclean_since_s is not None:
            host.delayed_until(self._unclean_since_s + host.delay_after(0.0))
        return host

    def _site_of(self, name: str) -> str:
        """The site of a host. With few hosts a guess is enough: the list of public suffixes takes
        45 ms to read, which a crawl of one host need not spend."""
        return site_of(name) if len(self._hosts) > _FEW_HOSTS else last_labels(name)
