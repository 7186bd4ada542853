"""Timeouts for clients that send nothing or accept nothing.

uvicorn closes a connection that is idle between two requests, but not one whose request never ends,
nor one that never accepts its response: a few of these could hold every slot. Here a request's head
must be complete soon after its first byte, and a response that the client does not accept is
dropped. `guard.py` does the same for bodies. One address has a limited number of slots, and when
all slots are taken, the connection that has been idle longest is closed (`connection_limit.py`).

The parser of httptools takes 0.1 ms less per request than h11's, but accepts heads and trailers of
any length. So bytes outside the body are counted, and a request with too many is refused. It also
does not read the body of a request that offers another protocol, as HTTP/2 clients do (h2c). So
that offer, which the server never accepts, is removed, and the request is parsed again.
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
TAKE_S: Final = 30.0  # for a client to accept TAKE_BYTES of a response, or its rest
TAKE_BYTES: Final = 64 * 2**10  # the slowest modem took twice as many
MOST_OF_ONE: Final = 200  # connections of one address; a browser opens 6, a proxy some dozens
MAX_HEAD_BYTES: Final = 64 * 2**10  # of a request without its body; browsers send 2,000
LINGER_S: Final = 1.0  # after a refusal
_FED_BYTES: Final = 8 * 2**10  # fed to the parser at once: the most by which the count is wrong
_TOO_LARGE: Final = b"The head of the request is too large.\n"


class TimeoutProtocol(HttpToolsProtocol):
    """One uvicorn connection with the limits above."""

    head_s = HEAD_S
    take_s = TAKE_S
    most_of_one = MOST_OF_ONE
    room = ConnectionLimit()  # each server has one of its own
    proxies = Proxies()  # these serve many clients and may have any number of slots
    _giving_up: asyncio.TimerHandle | None = None
    _looking: asyncio.TimerHandle | None = None
    _left_bytes = 0  # unsent bytes at the last check, if the response waited for the client
    _head_bytes = 0  # of the current request
    _is_refused = False
    _is_held = False  # the request, until it is parsed again without its offer
    _fed = b""  # the current input of the parser

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
            if self._is_refused or self.transport.is_closing():  # the rest is not read
                return
            self._feed(data[start : start + _FED_BYTES])
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            if self.cycle.more_body:  # idle as long as its request is incomplete
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
        """Parse the request again. uvicorn calls this when the parser has stopped after a head."""
        stopped = sys.exception()
        if not self._is_held or stopped is None:
            return
        rest, line = self._fed[stopped.args[0] :], (self.parser.get_method(), self.url)
        head = b"%b %b HTTP/%b\r\n" % (*line, self.parser.get_http_version().encode())
        kept = (b"%b: %b\r\n" % pair for pair in self.headers if pair[0] != b"upgrade")
        self._fed = b"".join((head, *kept, b"\r\n", rest))
        # The old parser stops here if this was to be the last request.
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        super().data_received(self._fed)

    def resume_writing(self) -> None:
        self._left_bytes = 0  # the client accepts data
        super().resume_writing()

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(self.take_s, self._look)

    def _look(self) -> None:
        """Close the connection if the client has accepted too little of a waiting response since
        the last check. A response that is still being produced counts only if it is paused."""
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
        """Respond that the head is too large, unless a response has begun, and close.

        It closes a moment later: closing while the client still sends would discard the response
        that it has not read.
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
        """Close the connection that has been idle longest, if there are too many."""
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
        """Whether this address has more than its share; this machine has no limit."""
        host = self.client[0] if self.client else ""
        if not host or is_loopback(host) or self.proxies.trusts(host):
            return False
        clients = (getattr(other, "client", None) or ("",) for other in self.connections)
        return [client[0] for client in clients].count(host) > self.most_of_one
