"""How long does the server wait for somebody who says nothing, or takes nothing?

uvicorn gives up on a connection that rests between two requests, but not on one whose request
never ends, nor on one that never takes its answer: a few such could hold every place that there
is. Here a request's head must be there soon after its first byte, and an answer that nobody takes
is thrown away. `guard.py` does the same for bodies. One address has so many places at most, and
where all places are taken, the connection that has waited longest is closed
(`connection_limit.py`).

The parser of httptools takes 0.1 ms less for a request than h11's, but heads and trailers of any
length. So what is no body is counted, and a request that has too much of it is refused. Nor does it
read the body of a request that offers another protocol, as clients for HTTP/2 do with each (h2c).
So that offer, which we never take, is left out, and the request is read again.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gossamer.web.protect.connection_limit import ConnectionLimit
from gossamer.web.protect.guard import is_loopback
from gossamer.web.protect.proxies import Proxies

HEAD_S: Final = 10.0  # browsers send all of it at once
TAKE_S: Final = 30.0  # for a client to take TAKE_BYTES of what waits for it, or the rest
TAKE_BYTES: Final = 64 * 2**10  # the slowest modem took twice as many
MOST_OF_ONE: Final = 200  # connections of one address; a browser opens 6, a proxy some dozens
MAX_HEAD_BYTES: Final = 64 * 2**10  # of a request without its body; browsers send 2,000
LINGER_S: Final = 1.0  # after a refusal
_FED_BYTES: Final = 8 * 2**10  # at once, so that the count errs by that much at the most
_TOO_LARGE: Final = b"The head of the request is too large.\n"


class TimeoutProtocol(HttpToolsProtocol):
    """One connection, as uvicorn treats it, with the bounds above."""

    head_s = HEAD_S
    take_s = TAKE_S
    most_of_one = MOST_OF_ONE
    room = ConnectionLimit()  # each server has one of its own
    proxies = Proxies()  # each of those asks for many, and may have any number of places
    _giving_up: asyncio.TimerHandle | None = None
    _looking: asyncio.TimerHandle | None = None
    _left_bytes = 0  # of an answer at the last look, if it waited for the client then
    _head_bytes = 0  # of the request that is being read
    _is_refused = False
    _is_held = False  # the request, until it is read again without its offer
    _fed = b""  # what the parser reads just now

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self._are_too_many():
            transport.abort()
            return
        self._wait_for_head()
        self._look_later()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _FED_BYTES):
            if self._is_refused or self.transport.is_closing():  # nobody reads the rest
                return
            self._feed(data[start : start + _FED_BYTES])
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            if self.cycle.more_body:  # it can be asked to go as long as its request is not whole
                self.room.wait(self)
        else:
            self._wait_for_head()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle is not None and self.cycle.response_complete:  # no other request follows yet
            self.room.wait(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._looking is not None:
            self._looking.cancel()
        self.room.leave(self)
        super().connection_lost(exc)

    def on_body(self, body: bytes) -> None:
        self._head_bytes -= len(body)
        super().on_body(body)

    def on_headers_complete(self) -> None:
        self._is_held = self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"
        if not self._is_held:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        if not self._is_held:
            super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Read the request again. uvicorn calls this when the parser has stopped behind a head."""
        stopped = sys.exception()
        if not self._is_held or stopped is None:
            return
        rest, line = self._fed[stopped.args[0] :], (self.parser.get_method(), self.url)
        head = b"%b %b HTTP/%b\r\n" % (*line, self.parser.get_http_version().encode())
        kept = (b"%b: %b\r\n" % pair for pair in self.headers if pair[0] != b"upgrade")
        self._fed = b"".join((head, *kept, b"\r\n", rest))
        # The old one reads no further where this request was to be the last.
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        super().data_received(self._fed)

    def resume_writing(self) -> None:
        self._left_bytes = 0  # it takes
        super().resume_writing()

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(self.take_s, self._look)

    def _look(self) -> None:
        """Hang up where an answer waits for its client and too little was taken since the last
        look. One that is still made waits for nobody, unless it was told to pause."""
        left = self.transport.get_write_buffer_size()
        is_waiting = self.flow.write_paused or self.transport.is_closing()
        if is_waiting and self._left_bytes and left > max(0, self._left_bytes - TAKE_BYTES):
            self.transport.abort()
            return
        self._left_bytes = left if is_waiting else 0
        self._look_later()

    def _feed(self, data: bytes) -> None:
        self._fed = data
        super().data_received(data)
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._refuse()

    def _refuse(self) -> None:
        """Say that the head is too large, where no other answer has begun, and hang up.

        A moment later, and not before: who hangs up on a client that still sends takes from it the
        answer that it has not read.
        """
        self._is_refused = True
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(
                b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
                b"content-type: text/plain; charset=utf-8\r\n"
                b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(_TOO_LARGE), _TOO_LARGE)
            )
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.abort)

    def _make_room(self) -> None:
        """Close the connection that has waited longest, where there are too many."""
        longest = self.room.superfluous()
        if isinstance(longest, TimeoutProtocol):
            self.room.leave(longest)
            longest.transport.abort()

    def _wait_for_head(self) -> None:
        self.room.wait(self)
        if self._giving_up is None:
            self._giving_up = self.loop.call_later(self.head_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        self.room.work(self)
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _are_too_many(self) -> bool:
        """Whether this address has more than its share; this machine has no share."""
        host = self.client[0] if self.client else ""
        if not host or is_loopback(host) or self.proxies.trusts(host):
            return False
        clients = (getattr(other, "client", None) or ("",) for other in self.connections)
        return [client[0] for client in clients].count(host) > self.most_of_one
