"""The queues of hosts: ready, delayed, and in line for an address.

A host is in exactly one queue (`moves.py`); which one is right is the host's own decision
(`host.py`). In the ready queue sites take turns (`ready/ready_hosts.py`), or the host that is worth
most comes first (`ready/ready_by_value.py`). The delay queue is a heap by time. An entry counts
only while its host has not moved since: `turn` tells.

Hosts that share an address stand in line for it. The first one is called: it comes when the
address is free, and sends its request before any other host may. A called host that cannot come
after all (its name must be resolved again, its own delay is longer, it has no work left) passes its
call on to the next.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import Final, Generic

from gossamer.schedule.moves import AddressState, H, Move, Queue
from gossamer.schedule.ready.ready_by_value import HostValues, ReadyByValue
from gossamer.schedule.ready.ready_hosts import ReadyHosts

_READY: Final = Queue.READY  # a global is read three times as fast as a member of its class
_DELAYED: Final = Queue.DELAYED
_GIVEN_UP: Final = Queue.GIVEN_UP
_FEW_ADDRESSES: Final = 1_000  # walked in a tenth of a millisecond


class HostQueues(Generic[H]):
    """Which host is in which queue."""

    def __init__(self, addresses_free_at_s: float = 0.0, values: HostValues | None = None) -> None:
        """No address that is new to this process is requested before that time. With `values` the
        most valuable host is next; otherwise sites take turns."""
        self._turns = itertools.count(1)
        self._ready: ReadyHosts[H] | ReadyByValue[H] = (
            ReadyHosts() if values is None else ReadyByValue(values)
        )
        self._delayed: list[tuple[float, int, H]] = []
        self._addresses: dict[str, AddressState[H]] = {}
        self._addresses_free_at_s = addresses_free_at_s
        self._many_addresses = _FEW_ADDRESSES

    # -- moving

    def apply(self, host: H, move: Move) -> None:
        """Put a host where it belongs."""
        queue, until_s, key = move
        if queue is _READY:
            self._make_ready(host, key)
            return
        self._leave(host, queue)
        if queue is _DELAYED or queue is _GIVEN_UP:
            heapq.heappush(self._delayed, (until_s, host.turn, host))

    def _make_ready(self, host: H, key: bytes) -> None:
        if key and key == host.ready_key:
            return  # it is there: most answers change nothing for a host with many in flight
        # As `_leave` does, but one that was called may still come.
        host.queue = _READY
        host.turn = next(self._turns)
        host.ready_key = key
        host.waits_for = None
        self._ready.add(host, key)

    def _leave(self, host: H, queue: Queue) -> None:
        host.queue = queue
        host.turn = next(self._turns)
        host.ready_key = b""
        host.waits_for = None
        if host.called_by is not None:
            self._call_next(self._uncall(host))

    # -- ready and delayed

    def take_ready(self) -> H | None:
        """The ready host whose turn it is; the caller moves it."""
        host = self._ready.take()
        if host is not None:
            host.ready_key = b""
        return host

    def take_due(self, now_s: float) -> Sequence[H]:
        """Hosts whose delay is over; the caller moves them."""
        delayed = self._delayed
        if not delayed or delayed[0][0] > now_s:
            return ()
        due = []
        while delayed and delayed[0][0] <= now_s:
            _, turn, host = heapq.heappop(delayed)
            if host.turn == turn:
                due.append(host)
        return due

    def next_due_s(self) -> float | None:
        """When the next delay is over."""
        delayed = self._delayed
        while delayed and delayed[0][1] != delayed[0][2].turn:
            heapq.heappop(delayed)
        return delayed[0][0] if delayed else None

    @property
    def has_ready(self) -> bool:
        return bool(self._ready)

    def has_ready_besides(self, site: str) -> bool:
        """Whether a host of another site is ready."""
        return self._ready.has_besides(site)

    # -- addresses

    def address(self, name: str) -> AddressState[H]:
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = AddressState(self._addresses_free_at_s)
        return address

    def may_request(self, address: AddressState[H], host: H, now_s: float) -> bool:
        """Whether the address is free, and no other host was in line for it before this one."""
        if not address.pace.may_request(now_s):
            return False
        return address.called is host or not (address.called or address.waiters)

    def wait_for(self, address: AddressState[H], host: H) -> None:
        """The host gets its turn when the address is free; the first turn if it was called."""
        was_called = host.called_by is address
        if was_called:
            self._uncall(host)
        self._leave(host, Queue.ADDRESS)
        host.waits_for = address
        if was_called:
            address.waiters.appendleft(host)
        else:
            address.waiters.append(host)
        self._call_next(address)

    def started(self, host: H, address: AddressState[H]) -> None:
        """A request of a host goes out: if it was called, its call is over."""
        address.pace.requested()
        if host.called_by is not None:
            self._call_next(self._uncall(host))

    def ended(self, address_name: str, now_s: float, delay_s: float) -> None:
        """A request has ended: the address is free after the delay."""
        address = self.address(address_name)
        address.pace.answered(at_s=now_s, delay_s=delay_s)
        if address.waiters:
            self._call_next(address)

    def forget_free_addresses(self, now_s: float) -> None:
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

    def _call_next(self, address: AddressState[H]) -> None:
        """Let the next in line come when the address is free."""
        if address.called is not None or address.pace.under_way:
            return
        while address.waiters:
            host = address.waiters.popleft()
            if host.waits_for is address:  # else it has gone elsewhere
                self.apply(host, Move(_DELAYED, address.pace.free_at_s))
                address.called, host.called_by = host, address
                return

    def _uncall(self, host: H) -> AddressState[H]:
        address = host.called_by
        assert address is not None, "only a host that was called"
        address.called = host.called_by = None
        return address
