"""The hosts that have work, each in exactly one place: ready, resting, or waiting for something.

    asleep --work--> ready --lease--> ready | resting | full | waiting (name, robots.txt)
                       ^                          |
                       +-------- its time, an answer, a name -------+

`ready` lets sites take turns (`ready_hosts.py`), the heap `resting` gives the host that is rested
first. An entry counts only while its host still stands where the entry says.

Hosts that share an address stand in line for it: the first is called, comes when the address is
rested, and asks before anybody else may. One that cannot come after all (its name must be looked
up again, its own rest is longer, it has no work left) gives its call to the next.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Sequence
from dataclasses import field
from enum import Enum, auto
from typing import Final

from gossamer.base.values import dataclass
from gossamer.politeness.pace import AddressPace, HostPace
from gossamer.records import Reason
from gossamer.schedule.ready_hosts import ReadyHosts


class Where(Enum):
    """In which place a host stands."""

    ASLEEP = auto()
    READY = auto()
    RESTING = auto()
    FULL = auto()  # as many requests under way as it may have
    WAITING = auto()  # for its name to be resolved, or for robots.txt


_READY: Final = Where.READY  # to ask the class for it takes three times as long
_FEW_ADDRESSES: Final = 1_000  # walked in a tenth of a millisecond


@dataclass(frozen=True, slots=True)
class AuxiliaryFetch:
    """A robots.txt to be asked for: `url` is where the hops from `origin` have led."""

    origin: str
    url: str
    for_host: bytes  # key of the host that waits for it
    hops: int = 0


@dataclass(frozen=True, slots=True)
class SitemapFetch:
    """A sitemap to be asked for: `via` names it, `level` counts the indexes that led to it."""

    url: str
    via: str
    hops: int = 0
    level: int = 1
    tries: int = 0


@dataclass(slots=True, eq=False)
class Host:
    """One host that has, or had, work."""

    key: bytes
    name: str
    is_typed: bool
    site: str = ""  # whose it is: sites take turns
    pace: HostPace = field(default_factory=HostPace)
    where: Where = Where.ASLEEP
    turn: int = 0
    ready_place: bytes = b""  # under which it stands among those that are ready; empty elsewhere
    addresses: tuple[str, ...] = ()
    resolved_until_s: float = 0.0
    is_resolving: bool = False
    is_open: bool = False
    must_be_public: bool = False  # a typed name that was public when it was first looked up
    is_hurried: bool = False  # it rests as long as its robots.txt wants, and its address not at all
    errands: list[AuxiliaryFetch] = field(default_factory=list)  # few; a deque takes 600 bytes
    waits_for_robots: bool = False
    sitemaps: list[SitemapFetch] = field(default_factory=list)
    is_sitemaps_turn: bool = False  # a page was asked last: they take turns
    at_once: int = 1
    crawl_delay_s: float = 0.0
    is_looked_up: bool = False  # its name was resolved and not used yet, however long ago
    silent: frozenset[str] = frozenset()  # addresses that took no connection
    trouble_number: int = 0  # leases up to this one were out when it was last in trouble
    verdict: tuple[Reason, str] | None = None  # it is given up, and this is said of its URLs
    fault: Reason = Reason.CONNECT  # why it could not be reached the last time
    away: str = ""  # it wants to be left alone for longer than we wait, in its words
    waits_for: Address | None = None
    called_by: Address | None = None
    via: tuple[bytes, str] = (b"", "")  # the last page that named a URL of it, key and URL

    @property
    def address(self) -> str:
        return self.addresses[0]

    def avoid(self, address: str) -> bool:
        """An address took no connection: use another. False when each has been tried."""
        self.silent |= {address}
        left = [each for each in self.addresses if each not in self.silent]
        if not left:
            self.silent = frozenset()
            return False
        self.addresses = (*left, *(each for each in self.addresses if each in self.silent))
        return True


@dataclass(slots=True, eq=False)
class Address:
    """An address, and the hosts that wait for it. One of them at a time is called."""

    pace: AddressPace
    called: Host | None = None
    waiters: deque[Host] = field(default_factory=deque)


class HostQueues:
    """Where each host stands."""

    def __init__(self) -> None:
        self._turns = itertools.count(1)
        self._ready: ReadyHosts[Host] = ReadyHosts()
        self._resting: list[tuple[float, int, Host]] = []
        self._addresses: dict[str, Address] = {}
        self._many_addresses = _FEW_ADDRESSES

    def make_ready(self, host: Host, place: bytes) -> None:
        if place and place == host.ready_place:
            return  # it stands there: most answers change nothing for a host with many at once
        # As `_move` does: one that was called may still come.
        host.where = _READY
        host.turn = next(self._turns)
        host.ready_place = place
        host.waits_for = None
        self._ready.add(host, place)

    def rest(self, host: Host, until_s: float) -> None:
        self._move(host, Where.RESTING)
        heapq.heappush(self._resting, (until_s, host.turn, host))

    def put(self, host: Host, where: Where) -> None:
        self._move(host, where)

    def take_ready(self) -> Host | None:
        """The ready host whose turn it is; the caller puts it somewhere else."""
        host = self._ready.take()
        if host is not None:
            host.ready_place = b""
        return host

    def take_rested(self, now_s: float) -> Sequence[Host]:
        """Hosts whose rest is over."""
        if not self._resting or self._resting[0][0] > now_s:
            return ()
        rested = []
        while self._resting and self._resting[0][0] <= now_s:
            _, turn, host = heapq.heappop(self._resting)
            if host.turn == turn:
                rested.append(host)
        return rested

    def next_rested_s(self) -> float | None:
        """When the next host is rested."""
        while self._resting and self._resting[0][1] != self._resting[0][2].turn:
            heapq.heappop(self._resting)
        return self._resting[0][0] if self._resting else None

    @property
    def has_ready(self) -> bool:
        return bool(self._ready)

    def has_ready_besides(self, site: str) -> bool:
        """Whether a host of another site is ready."""
        return self._ready.has_besides(site)

    def address(self, name: str, free_at_s: float = 0.0) -> Address:
        """The address; one not known yet is free at `free_at_s`."""
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = Address(AddressPace(free_at_s))
        return address

    def may_ask(self, address: Address, host: Host, now_s: float) -> bool:
        """Whether the address is free, and nobody was in line for it before this host."""
        if not address.pace.may_ask(now_s):
            return False
        return address.called is host or not (address.called or address.waiters)

    def wait_for(self, address: Address, host: Host) -> None:
        """The host gets its turn when the address is free; at once when it had been called."""
        was_called = host.called_by is address
        if was_called:
            self._uncall(host)
        self.put(host, Where.WAITING)
        host.waits_for = address
        if was_called:
            address.waiters.appendleft(host)
        else:
            address.waiters.append(host)
        self.call_next(address)

    def call_next(self, address: Address) -> None:
        """Let the next in line come when the address is rested."""
        if address.called is not None or address.pace.under_way:
            return
        while address.waiters:
            host = address.waiters.popleft()
            if host.waits_for is address:  # else it has gone elsewhere
                self.rest(host, address.pace.free_at_s)
                address.called, host.called_by = host, address
                return

    def serve(self, host: Host) -> None:
        """The host has asked: its call is over."""
        if host.called_by is not None:
            self.call_next(self._uncall(host))

    def forget_rested_addresses(self, now_s: float) -> None:
        """Addresses that are free again, and sites that had their turns, need no memory.

        Called each second: many are walked only when twice as many are there as the last walk
        left, or 200,000 of them would cost a tenth of all time.
        """
        if _FEW_ADDRESSES < len(self._addresses) < self._many_addresses:
            return
        self._addresses = {
            name: address
            for name, address in self._addresses.items()
            if address.pace.under_way
            or address.pace.free_at_s > now_s
            or address.waiters
            or address.called
        }
        self._many_addresses = max(_FEW_ADDRESSES, 2 * len(self._addresses))
        self._ready.forget_idle()

    def _move(self, host: Host, where: Where) -> None:
        host.where = where
        host.turn = next(self._turns)
        host.ready_place = b""
        host.waits_for = None
        if host.called_by is not None and where is not Where.READY:
            self.call_next(self._uncall(host))

    def _uncall(self, host: Host) -> Address:
        address = host.called_by
        assert address is not None, "only a host that was called"
        address.called = host.called_by = None
        return address
