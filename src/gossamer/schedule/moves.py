"""The queues that a host can be in, and the value that says where it goes next.

`Host` (host.py) decides, `HostQueues` (host_queues.py) carries out. Neither knows the other.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from typing import Any, Final, Generic, NamedTuple, TypeVar

from gossamer.politeness.pace import AddressPace


class Queue(Enum):
    """Where a host is. It is in exactly one of them."""

    IDLE = auto()  # it has no work
    READY = auto()  # ready queue: a request may be sent now
    DELAYED = auto()  # delay queue: until a time
    FULL = auto()  # as many requests in flight as allowed; an answer moves it on
    NAME = auto()  # until its name is resolved
    ROBOTS = auto()  # until its robots.txt is known
    ADDRESS = auto()  # in line for an address that it shares with other hosts
    GIVEN_UP = auto()  # its URLs are skipped, some at a time; in the delay queue between two times


class Move(NamedTuple):
    """The queue that a host goes to. `until_s` counts for DELAYED and GIVEN_UP, `key` for READY:
    it is the priority key of the host's first URL, and empty where an auxiliary fetch comes first.
    """

    queue: Queue
    until_s: float = 0.0
    key: bytes = b""


IDLE: Final = Move(Queue.IDLE)
FULL: Final = Move(Queue.FULL)
NAME: Final = Move(Queue.NAME)
ROBOTS: Final = Move(Queue.ROBOTS)
GIVEN_UP: Final = Move(Queue.GIVEN_UP)
AUXILIARY: Final = Move(Queue.READY)


class QueuedHost:
    """What `HostQueues` notes on a host. All but `key` and `site` is written by nothing else."""

    __slots__ = ("called_by", "key", "queue", "ready_key", "site", "turn", "waits_for")

    def __init__(self, key: bytes, site: str) -> None:
        self.key = key
        self.site = site  # sites take turns in the ready queue
        self.queue = Queue.IDLE
        self.turn = 0  # grows with each move: older entries of the host in a heap are void
        self.ready_key = b""  # its key in the ready queue; empty elsewhere
        self.waits_for: AddressState[Any] | None = None
        self.called_by: AddressState[Any] | None = None


H = TypeVar("H", bound=QueuedHost)


class AddressState(Generic[H]):
    """An address, and the hosts in line for it. At most one of them is called at a time."""

    __slots__ = ("called", "pace", "waiters")

    def __init__(self, free_at_s: float) -> None:
        self.pace = AddressPace(free_at_s)
        self.called: H | None = None
        self.waiters: deque[H] = deque()
