"""Answers for test servers, valid and broken.

Valid and broken answers are raw bytes; behaviour that bytes cannot express is a `Misbehaviour`.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """An answer that controls the connection itself; the connection is closed afterwards."""

    act: Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes, status: str = "200 OK", headers: Mapping[str, str] | None = None) -> bytes:
    """A whole HTTP/1.1 answer with its length, unless `headers` give another or chunked."""
    named = {"content-length": str(len(body)), **(headers or {})}
    if "transfer-encoding" in named:
        del named["content-length"]
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def page(
    html: str | bytes, status: str = "200 OK", headers: Mapping[str, str] | None = None
) -> bytes:
    """An HTML page; text is sent as UTF-8, bytes unchanged."""
    body = html.encode() if isinstance(html, str) else html
    return answer(body, status, {"content-type": "text/html", **(headers or {})})


def robots(text: str) -> bytes:
    """A robots.txt."""
    return answer(text.encode(), headers={"content-type": "text/plain"})


def redirect(to: str, status: str = "302 Found") -> bytes:
    return page("moved", status, {"location": to})


def too_many(retry_after: str = "1") -> bytes:
    """A 429; `retry_after` is seconds or an HTTP date."""
    return page("slow down", "429 Too Many Requests", {"retry-after": retry_after})


def gzipped(html: str, headers: Mapping[str, str] | None = None) -> bytes:
    body = gzip.compress(html.encode(), mtime=0)
    return page(body, headers={"content-encoding": "gzip", **(headers or {})})


def chunked(html: str, piece_bytes: int = 7, headers: Mapping[str, str] | None = None) -> bytes:
    body, out = html.encode(), bytearray()
    for start in range(0, len(body), piece_bytes):
        piece = body[start : start + piece_bytes]
        out += f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    named = {"transfer-encoding": "chunked", **(headers or {})}
    return page(bytes(out) + b"0\r\n\r\n", headers=named)


def http_1_0(html: str) -> bytes:
    """An answer whose end is the end of the connection."""
    return b"HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n" + html.encode()


def after_interim(final: bytes, times: int = 1) -> bytes:
    """An answer with that many 103 blocks before it."""
    return b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n" * times + final


def http_0_9(html: str) -> bytes:
    """A body with no status line and no headers."""
    return html.encode()


def wrong_length(html: str, length: int) -> bytes:
    """Says `length` and sends `html`, then closes."""
    return page(html, headers={"content-length": str(length)})


def reset() -> Misbehaviour:
    """Read the request, then reset the connection."""
    return reset_after(b"")


def reset_after(start: bytes) -> Misbehaviour:
    """Send `start`, such as half an answer, then reset the connection."""

    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        # Without linger a close is a FIN; with linger of 0 s it is a RST.
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return Misbehaviour(act)


def hang(start: bytes = b"") -> Misbehaviour:
    """Send `start` and then nothing, until the client or the test has ended."""

    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await asyncio.Event().wait()

    return Misbehaviour(act)


def drip(whole: bytes, every_s: float = 0.05, piece_bytes: int = 1) -> Misbehaviour:
    """Send an answer in small pieces with a pause between them."""

    async def act(writer: asyncio.StreamWriter) -> None:
        for start in range(0, len(whole), piece_bytes):
            writer.write(whole[start : start + piece_bytes])
            await writer.drain()
            await asyncio.sleep(every_s)

    return Misbehaviour(act)


def endless_body(piece: bytes = b"all work and no play " * 400) -> Misbehaviour:
    """A page that never ends, as fast as the client reads it."""
    return _endless(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n", piece)


def endless_headers(line: bytes = b"x-more: and more\r\n") -> Misbehaviour:
    return _endless(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n", line * 100)


def endless_interim() -> Misbehaviour:
    """103 after 103, and never an answer."""
    return _endless(b"", b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n" * 50)


def _endless(start: bytes, piece: bytes) -> Misbehaviour:
    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)  # drain returns at once while the buffer has room

    return Misbehaviour(act)


NOT_FOUND: Final = page("<title>gone</title>gone", "404 Not Found")
