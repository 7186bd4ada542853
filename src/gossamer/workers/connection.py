"""The node's end of a worker's socket. Messages are read at once or a moment later.

A worker reports when it has few leases left, and its other reports follow a moment later in a
message of their own. After a pause the node's first report costs as much as six (40 microseconds
for its host alone, where the next take 7), because other processes used the caches meanwhile. So
reports of a worker with enough leases wait briefly for the next message of any worker. Messages of
one worker keep their order.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import Protocol, cast

from gossamer.base.processes import Child
from gossamer.records import Lease
from gossamer.workers import wire
from gossamer.workers.crash_marker import Place
from gossamer.workers.crash_state import Leftover


class Listener(Protocol):
    """Receives messages. The pool implements it."""

    def hear(self, hand: WorkerHandle, message: wire.ToNode) -> None:
        """Handle one message."""
        ...

    def hear_soon(self) -> None:
        """Make every connection read its messages within a few milliseconds."""
        ...

    def hear_all(self) -> None:
        """Make every connection read its messages now."""
        ...

    def fail(self, fault: BaseException) -> None:
        """Stop after an error that leaves the pool unusable."""
        ...

    def bury(self, hand: WorkerHandle) -> None:
        """Clean up after a dead worker, whose messages were all handled."""
        ...


@dataclass(slots=True, eq=False)
class WorkerHandle:
    """One worker as the node sees it."""

    name: str
    process: Child
    desk: WorkerConnection
    heard_s: float
    leases: dict[int, Lease] = field(default_factory=dict)
    left: dict[Place, Leftover] = field(
        default_factory=dict
    )  # of dead workers, for this one to read
    # WARC file -> offset up to which it is reported
    reported: dict[str, int] = field(default_factory=dict)
    file: str = ""  # the newest of these, which is open
    descriptor: int = -1  # of that file, for syncing
    is_closed: bool = False

    def let_go(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class WorkerConnection(asyncio.Protocol):
    """The node's end of a worker's socket."""

    def __init__(self, pool: Listener) -> None:
        self._pool = pool
        self._frames = wire.Frames(wire.read_by_node)
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []  # before the connection was made
        self._unheard: list[bytes] = []
        self._reports_unheard = 0
        self.hand: WorkerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not a subclass
        self._transport = cast("asyncio.Transport", transport)
        self._transport.writelines(self._unsent)

    def data_received(self, data: bytes) -> None:
        self._unheard.append(data)
        if self._can_wait(data):
            self._pool.hear_soon()
        else:
            self._pool.hear_all()

    def _can_wait(self, data: bytes) -> bool:
        """Whether these are reports of a worker that has at least as many leases left, so that it
        needs no new ones now.
        """
        assert self.hand is not None, "a desk has a worker before it has a connection"
        reports = wire.reports_in(data)
        self._reports_unheard += reports
        return reports > 0 and 2 * self._reports_unheard <= len(self.hand.leases)

    def hear(self) -> None:
        """Handle all data that has arrived."""
        if not self._unheard:
            return
        assert self.hand is not None, "a desk has a worker before it has a connection"
        unheard, self._unheard, self._reports_unheard = self._unheard, [], 0
        for data in unheard:
            try:
                for message in self._frames.feed(data):
                    self._pool.hear(self.hand, message)
            except Exception as fault:  # noqa: BLE001  # ours: the node stops, and says what it was
                self._pool.fail(fault)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self.hand is not None and not self.hand.is_closed:
            self.hear()
            self._pool.bury(self.hand)

    def send(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
        elif not self._transport.is_closing():
            self._transport.write(data)

    def hang_up(self) -> None:
        if self._transport is not None:
            self._transport.abort()
