"""Messages between the server and a search process.

    kind (1 byte), length (8 bytes, big endian), body

A message may be larger than the buffers of the system, so both sides read and write until it is
complete. The server's end never blocks: a thread waits for it with a time limit, a task of an event
loop without holding a thread. uvloop makes a socket non-blocking when it waits for it, for good; so
this end is non-blocking from the start and EAGAIN only means "wait". The end of the search process
blocks.

Every method raises EOFError or OSError if the other side is gone, and TimeoutError if it takes too
long. After either, and after a cancelled wait, a message may be half read: the channel must not be
used again.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
import struct
from contextlib import suppress
from typing import Final

from gossamer.base.clock import SystemClock
from gossamer.base.processes import socket_pair

_HEAD: Final = struct.Struct("!BQ")
_PIECE: Final = 256 * 2**10

Message = tuple[int, bytes]


def pair() -> tuple[ServerEnd, socket.socket]:
    """The server's end, and a socket for the other process (`receive` and `send` below)."""
    ours, theirs = socket_pair()
    return ServerEnd(ours), theirs


class ServerEnd:
    """The end that never blocks. One question at a time."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours
        self._clock = SystemClock()

    def exchange(self, question: bytes, within_s: float) -> Message:
        """Send a question and wait for its answer, in a thread."""
        until_s = self._clock.now_s() + within_s
        unsent = self._send_some(_framed(0, question))
        while unsent:
            self._wait(selectors.EVENT_WRITE, until_s)
            unsent = self._send_some(unsent)
        answer = _Answer()
        while not answer.is_whole:
            self._wait(selectors.EVENT_READ, until_s)
            with suppress(BlockingIOError):
                answer.add(self._socket.recv(_PIECE))
        return answer.message

    async def exchange_async(self, question: bytes, within_s: float) -> Message:
        """The same for a task of an event loop."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(within_s):
            unsent = self._send_some(_framed(0, question))
            if unsent:
                await loop.sock_sendall(self._socket, unsent)
            answer = _Answer()
            while not answer.is_whole:
                answer.add(await loop.sock_recv(self._socket, _PIECE))
            return answer.message

    def close(self) -> None:
        self._socket.close()

    def _send_some(self, message: bytes) -> bytes:
        """Send as much as the system accepts at once. Return the rest."""
        try:
            return message[self._socket.send(message) :]
        except BlockingIOError:
            return message

    def _wait(self, event: int, until_s: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, event)
            if not selector.select(max(0.0, until_s - self._clock.now_s())):
                raise TimeoutError


class _Answer:
    """A message that arrives in pieces. Nothing follows it, because only one is in flight at a
    time.
    """

    def __init__(self) -> None:
        self._got = bytearray()
        self._size = _HEAD.size  # of the head; of the whole message when the head is complete

    def add(self, piece: bytes) -> None:
        _check(piece)
        self._got += piece
        if self._size == _HEAD.size and len(self._got) >= _HEAD.size:
            self._size += _HEAD.unpack_from(self._got)[1]

    @property
    def is_whole(self) -> bool:
        return len(self._got) >= max(self._size, _HEAD.size)

    @property
    def message(self) -> Message:
        return self._got[0], bytes(memoryview(self._got)[_HEAD.size :])


def send(to: socket.socket, kind: int, body: bytes) -> None:
    """Send a message from the search process."""
    to.sendall(_framed(kind, body))


def receive(source: socket.socket) -> Message:
    """Wait for the next message in the search process."""
    kind, length = _HEAD.unpack(_read_blocking(source, _HEAD.size))
    return kind, _read_blocking(source, length)


def _read_blocking(source: socket.socket, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        piece = source.recv(min(_PIECE, count - len(got)))
        _check(piece)
        got += piece
    return bytes(got)


def _framed(kind: int, body: bytes) -> bytes:
    return _HEAD.pack(kind, len(body)) + body


def _check(piece: bytes) -> None:
    if not piece:
        raise EOFError("the other side is gone")
