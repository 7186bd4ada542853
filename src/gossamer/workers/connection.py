"""The node's end of a worker's socket: what the worker says is heard, though not always at once.

A worker reports when it has little left to do, and what is left comes a moment later, in a message
of its own. After a sleep the node's first report costs as much as six (40 microseconds for its host
alone, where the next take 7), for others had the caches meanwhile. So reports of a worker that has
work enough wait for the next message of anybody, if not for long. Each is heard in its own order.
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
    """Whoever wants to hear; the crew."""

    def hear(self, hand: WorkerHandle, message: wire.ToNode) -> None:
        """One message."""
        ...

    def hear_soon(self) -> None:
        """Let every desk `hear` within a few milliseconds."""
        ...

    def hear_all(self) -> None:
        """Let every desk `hear` now."""
        ...

    def fail(self, fault: BaseException) -> None:
        """Nothing can go on."""
        ...

    def bury(self, hand: WorkerHandle) -> None:
        """A worker is gone, and all that it said was heard."""
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
    )  # of dead ones, to be read by this one
    reported: dict[str, int] = field(default_factory=dict)  # up to which byte of each WARC file
    file: str = ""  # the last of these, which is open
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
        # uvloop has transports of its own, which are no subclass
        self._transport = cast("asyncio.Transport", transport)
        self._transport.writelines(self._unsent)

    def data_received(self, data: bytes) -> None:
        self._unheard.append(data)
        if self._can_wait(data):
            self._pool.hear_soon()
        else:
            self._pool.hear_all()

    def _can_wait(self, data: bytes) -> bool:
        """Whether they are reports of a worker that has as many leases left: it needs no others
        this moment."""
        assert self.hand is not None, "a desk has a worker before it has a connection"
        reports = wire.reports_in(data)
        self._reports_unheard += reports
        return reports > 0 and 2 * self._reports_unheard <= len(self.hand.leases)

    def hear(self) -> None:
        """All that has come."""
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
