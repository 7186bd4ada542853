"""How long does the server wait for somebody who says nothing, or takes nothing?

uvicorn gives up on a connection that rests between two requests, but not on one whose request
never ends, nor on one that never takes its answer: a few such could hold every place that there
is. Here a request's head must be there soon after its first byte, and an answer that nobody takes
is thrown away. `guard.py` does the same for bodies. One address has so many places at most.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from gossamer.web.guard import is_loopback

HEAD_S: Final = 10.0  # browsers send all of it at once
TAKE_S: Final = 30.0  # for the rest of an answer, after the connection was to be closed
MOST_OF_ONE: Final = 200  # connections of one address; a browser opens 6, a proxy some dozens


class Patience(H11Protocol):
    """One connection, as uvicorn treats it, with the bounds above."""

    head_s = HEAD_S
    most_of_one = MOST_OF_ONE
    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self._are_too_many():
            transport.abort()
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        else:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self.loop.call_later(TAKE_S, self.transport.abort)  # nothing, if it was closed by then

    def _wait_for_head(self) -> None:
        if self._giving_up is None:
            self._giving_up = self.loop.call_later(self.head_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _are_too_many(self) -> bool:
        """Whether this address has more than its share; this machine may have any number."""
        host = self.client[0] if self.client else ""
        if not host or is_loopback(host):
            return False
        clients = (getattr(other, "client", None) or ("",) for other in self.connections)
        return [client[0] for client in clients].count(host) > self.most_of_one
