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
from gossamer.workers.crash_marker import ExchangePosition
from gossamer.workers.crash_state import Leftover


class Listener(Protocol):
    """Receives messages. The pool implements it."""

    def receive(self, handle: WorkerHandle, message: wire.ToNode) -> None:
        """Handle one message."""
        ...

    def read_soon(self) -> None:
        """Make every connection read its messages within a few milliseconds."""
        ...

    def read_all(self) -> None:
        """Make every connection read its messages now."""
        ...

    def fail(self, fault: BaseException) -> None:
        """Stop after an error that leaves the pool unusable."""
        ...

    def reap(self, handle: WorkerHandle) -> None:
        """Clean up after a dead worker, whose messages were all handled."""
        ...


@dataclass(slots=True, eq=False)
class WorkerHandle:
    """One worker as the node sees it."""

    name: str
    process: Child
    connection: WorkerConnection
    last_message_s: float
    leases: dict[int, Lease] = field(default_factory=dict)
    left: dict[ExchangePosition, Leftover] = field(
        default_factory=dict
    )  # of dead workers, for this one to read
    # WARC file -> offset up to which it is reported
    reported: dict[str, int] = field(default_factory=dict)
    file: str = ""  # the newest of these, which is open
    descriptor: int = -1  # of that file, for syncing
    is_closed: bool = False

    def close_file(self) -> None:
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
        self._unread: list[bytes] = []
        self._unread_reports = 0
        self.handle: WorkerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not a subclass
        self._transport = cast("asyncio.Transport", transport)
        self._transport.writelines(self._unsent)

    def data_received(self, data: bytes) -> None:
        self._unread.append(data)
        if self._can_wait(data):
            self._pool.read_soon()
        else:
            self._pool.read_all()

    def _can_wait(self, data: bytes) -> bool:
        """Whether these are reports of a worker that has at least as many leases left, so that it
        needs no new ones now.
        """
        assert self.handle is not None, "the handle is set before the connection is made"
        reports = wire.reports_in(data)
        self._unread_reports += reports
        return reports > 0 and 2 * self._unread_reports <= len(self.handle.leases)

    def receive(self) -> None:
        """Handle all data that has arrived."""
        if not self._unread:
            return
        assert self.handle is not None, "the handle is set before the connection is made"
        unread, self._unread, self._unread_reports = self._unread, [], 0
        for data in unread:
            try:
                for message in self._frames.feed(data):
                    self._pool.receive(self.handle, message)
            except Exception as fault:  # noqa: BLE001  # a bug: the node stops and reports it
                self._pool.fail(fault)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self.handle is not None and not self.handle.is_closed:
            self.receive()
            self._pool.reap(self.handle)

    def send(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
        elif not self._transport.is_closing():
            self._transport.write(data)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
