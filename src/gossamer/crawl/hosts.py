"""The hosts that have work, each in exactly one place: ready, resting, or waiting for something.

    asleep --work--> ready --lease--> ready | resting | full | waiting (name, robots.txt)
                       ^                          |
                       +-------- its time, an answer, a name -------+

Two heaps: `ready` gives the host whose first URL comes first, `resting` the one that is rested
first. An entry counts only while its host still stands where the entry says.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto

from gossamer.politeness.pace import AddressPace, HostPace


class Where(Enum):
    """In which place a host stands."""

    ASLEEP = auto()
    READY = auto()
    RESTING = auto()
    FULL = auto()  # as many requests under way as it may have
    WAITING = auto()  # for its name to be resolved, or for robots.txt


@dataclass(frozen=True, slots=True)
class Errand:
    """A robots.txt to be asked for: `url` is where the hops from `origin` have led."""

    origin: str
    url: str
    for_host: bytes  # key of the host that waits for it
    hops: int = 0


@dataclass(slots=True, eq=False)
class Host:
    """One host that has, or had, work."""

    key: bytes
    name: str
    is_typed: bool
    pace: HostPace = field(default_factory=HostPace)
    where: Where = Where.ASLEEP
    turn: int = 0
    addresses: tuple[str, ...] = ()
    resolved_until_s: float = 0.0
    is_resolving: bool = False
    is_open: bool = False
    errands: deque[Errand] = field(default_factory=deque)
    waits_for_robots: bool = False
    at_once: int = 1
    crawl_delay_s: float = 0.0

    @property
    def address(self) -> str:
        return self.addresses[0]

    def next_address(self) -> None:
        """The one in use did not answer: try the others first."""
        self.addresses = (*self.addresses[1:], *self.addresses[:1])


@dataclass(slots=True)
class Address:
    """An address, and the hosts that wait for it. One of them at a time is called."""

    pace: AddressPace
    called: Host | None = None
    waiters: deque[Host] = field(default_factory=deque)


class HostBoard:
    """Where each host stands."""

    def __init__(self) -> None:
        self._turns = itertools.count(1)
        self._ready: list[tuple[bytes, int, Host]] = []
        self._resting: list[tuple[float, int, Host]] = []
        self._addresses: dict[str, Address] = {}

    def make_ready(self, host: Host, place: bytes) -> None:
        self._move(host, Where.READY)
        heapq.heappush(self._ready, (place, host.turn, host))

    def rest(self, host: Host, until_s: float) -> None:
        self._move(host, Where.RESTING)
        heapq.heappush(self._resting, (until_s, host.turn, host))

    def put(self, host: Host, where: Where) -> None:
        self._move(host, where)

    def take_ready(self) -> Host | None:
        """The ready host whose first URL comes first; the caller puts it somewhere else."""
        while self._ready:
            _, turn, host = heapq.heappop(self._ready)
            if host.turn == turn:
                return host
        return None

    def take_rested(self, now_s: float) -> list[Host]:
        """Hosts whose rest is over."""
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

    def address(self, name: str, free_at_s: float = 0.0) -> Address:
        """The address; one not known yet is free at `free_at_s`."""
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = Address(AddressPace(free_at_s))
        return address

    def wait_for(self, address: Address, host: Host) -> None:
        """The address is not free: the host gets its turn when it is."""
        self.put(host, Where.WAITING)
        address.waiters.append(host)
        self.call_next(address)

    def call_next(self, address: Address) -> None:
        """Let the next waiter come when the address is rested."""
        if address.called is not None and address.called.where in (Where.RESTING, Where.READY):
            return
        address.called = None
        if address.pace.under_way == 0 and address.waiters:
            address.called = address.waiters.popleft()
            self.rest(address.called, address.pace.free_at_s)

    def take_waiters(self) -> list[Host]:
        """Everybody who waits for an address: for when nothing else is left to do."""
        waiters = [host for address in self._addresses.values() for host in address.waiters]
        for address in self._addresses.values():
            address.waiters.clear()
        return waiters

    def forget_rested_addresses(self, now_s: float) -> None:
        """Addresses that are free again need no memory."""
        self._addresses = {
            name: address
            for name, address in self._addresses.items()
            if address.pace.under_way
            or address.pace.free_at_s > now_s
            or address.waiters
            or address.called
        }

    def _move(self, host: Host, where: Where) -> None:
        host.where = where
        host.turn = next(self._turns)
