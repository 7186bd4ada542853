"""A real web server for tests. A test sets its pages and reads its requests.

    async with a_site({"/": page("<a href=/b>b</a>"), "/b": reset()}) as site:
        ...
    assert site.asked == ["/robots.txt", "/", "/b"]

An answer is raw bytes, a misbehaviour (`hang()`, `reset()`, `drip(...)`), a function of the request
that returns either, or a list of answers that are given in turn, the last one for ever. The path
`"*"` answers for every path that is not named; without it there is a 404. A connection stays open
after an answer that says how long it is, and is closed after any other.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import ssl
import threading
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, cast

from support.answers import (
    NOT_FOUND,
    Misbehaviour,
    after_interim,
    answer,
    chunked,
    drip,
    endless_body,
    endless_headers,
    endless_interim,
    gzipped,
    hang,
    http_0_9,
    http_1_0,
    page,
    redirect,
    reset,
    reset_after,
    robots,
    too_many,
    wrong_length,
)

__all__ = [
    "Misbehaviour",
    "Request",
    "SeenRequest",
    "Site",
    "a_site",
    "after_interim",
    "answer",
    "chunked",
    "drip",
    "endless_body",
    "endless_headers",
    "endless_interim",
    "gzipped",
    "hang",
    "http_0_9",
    "http_1_0",
    "page",
    "redirect",
    "reset",
    "reset_after",
    "robots",
    "site_in_thread",
    "too_many",
    "wrong_length",
]


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `target` is the path with its query, header names are lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    peer: tuple[str, int]

    @property
    def host(self) -> str:
        """The name in the Host header without its port; empty if there is none."""
        name = self.headers.get("host", "").lower()
        return name if name.endswith("]") else name.rpartition(":")[0] or name


_AT_ONCE: Final = 65_536  # the kernel accepts this much without waiting for the client

Plain = bytes | Misbehaviour
Answer = Plain | Callable[[Request], Plain | Awaitable[Plain]] | Sequence[Plain]
Pages = Mapping[str, Answer]


@dataclass(slots=True)
class SeenRequest:
    """One request as the server saw it. Times are of `time.monotonic`."""

    request: Request
    connection: int  # number of the connection, from 1
    began_s: float
    ended_s: float | None = None  # just before the last byte was sent; None while it is in flight

    @property
    def path(self) -> str:
        return self.request.target

    @property
    def host(self) -> str:
        return self.request.host

    @property
    def headers(self) -> Mapping[str, str]:
        return self.request.headers

    @property
    def peer(self) -> tuple[str, int]:
        return self.request.peer


@dataclass
class Site:
    """A running server. `pages` and `hosts` may be changed while it runs."""

    root: str  # "http://127.0.0.1:4711", without a slash at the end
    port: int
    pages: Pages
    hosts: Mapping[str, Pages]
    log: list[SeenRequest] = field(default_factory=list)
    connections: int = 0  # opened so far
    given: dict[tuple[str, str], int] = field(default_factory=dict)  # turns of listed answers

    @property
    def asked(self) -> list[str]:
        """The requested paths, in order."""
        return [asked.path for asked in self.log]

    def asked_of(self, host: str) -> list[str]:
        """The paths that were requested under one host name."""
        return [asked.path for asked in self.log if asked.host == host]

    def url(self, path: str = "/", host: str | None = None) -> str:
        """The URL of a path here, under a host name if one is given."""
        return f"{self.root}{path}" if host is None else f"http://{host}:{self.port}{path}"

    def gaps_s(self, host: str | None = None) -> list[float]:
        """Seconds between the end of each answer and the start of the next request; for a host or
        all.
        """
        log = [asked for asked in self.log if host in (None, asked.host)]
        return [
            after.began_s - before.ended_s
            for before, after in itertools.pairwise(log)
            if before.ended_s is not None
        ]

    def was_asked(self, times: int, *, ago_s: float) -> bool:
        """Whether the `times`-th request was at least `ago_s` seconds ago."""
        return len(self.log) >= times and time.monotonic() - self.log[times - 1].began_s > ago_s

    def most_at_once(self, host: str | None = None) -> int:
        """The largest number of concurrent requests."""
        steps: list[tuple[float, int]] = []
        for asked in self.log:
            if host in (None, asked.host):
                steps.append((asked.began_s, 1))
                steps.append((float("inf") if asked.ended_s is None else asked.ended_s, -1))
        return max(itertools.accumulate(step for _, step in sorted(steps)), default=0)


@asynccontextmanager
async def a_site(
    pages: Pages | None = None,
    *,
    hosts: Mapping[str, Pages] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Site]:
    """Serve until the block ends; then every connection is cut.

    `hosts` holds the pages of further names (as `a.localhost`); a Host header that is not among
    them gets `pages`. Port 0 is any free one.
    """
    site = Site("", 0, pages or {}, hosts or {})
    talks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
                await _talk(site, reader, writer)
        finally:
            talks.discard(task)
            writer.transport.abort() if task.cancelling() else writer.close()

    server = await asyncio.start_server(connected, host, port, ssl=tls, backlog=1024, limit=2**20)
    site.port = server.sockets[0].getsockname()[1]
    site.root = f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{site.port}"
    try:
        yield site
    finally:
        await _settle()  # before the close: a half-accepted connection would leak
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await server.wait_closed()
        await _settle()


async def _settle() -> None:
    """Let the event loop finish what it has begun.

    A connection accepted last needs four iterations to get its task, a closed one two to close its
    socket; asyncio offers nothing to wait for.
    """
    for _ in range(10):
        await asyncio.sleep(0)


async def _talk(site: Site, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection until one side closes it."""
    site.connections += 1
    connection = site.connections
    peer = writer.get_extra_info("peername")[:2]
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        request = _read_request(head, peer)
        asked = SeenRequest(request, connection, time.monotonic())
        site.log.append(asked)
        try:
            stays_open = await _give(await _choose(site, request), asked, reader, writer)
        finally:
            asked.ended_s = asked.ended_s or time.monotonic()
        if not stays_open:
            return


async def _give(
    given: Plain, asked: SeenRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Send an answer. Return whether the connection can be used for another.

    The end is recorded before the last byte is sent. The client may have all of it, and start its
    delay, long before a busy machine runs this code again: an end recorded later would make the
    delay look shorter.
    """
    if isinstance(given, Misbehaviour):
        acting = asyncio.ensure_future(given.act(writer))
        leaving = asyncio.ensure_future(reader.read(1))  # the client closes: no need to continue
        try:
            await asyncio.wait((acting, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            acting.cancel()
            leaving.cancel()
            await asyncio.gather(acting, leaving, return_exceptions=True)
        return False
    ends = is_framed(given)
    if asked.request.method == "HEAD":
        given = given[: given.find(b"\r\n\r\n") + 4]
    if len(given) > _AT_ONCE:
        writer.write(given[:-1])
        await writer.drain()
        given = given[-1:]
    asked.ended_s = time.monotonic()
    writer.write(given)
    await writer.drain()
    return ends and asked.headers.get("connection", "").lower() != "close"


def is_framed(given: bytes) -> bool:
    """Whether a raw answer states its length correctly and leaves the connection open."""
    while given.startswith(b"HTTP/1.1 1"):
        given = given.partition(b"\r\n\r\n")[2]
    head, end, body = given.partition(b"\r\n\r\n")
    if not end or not head.startswith(b"HTTP/1.1 "):
        return False
    named = _headers(head.split(b"\r\n")[1:])
    if named.get("connection", "").lower() == "close":
        return False
    if head[9:12] in (b"204", b"304"):
        return not body
    if named.get("transfer-encoding") == "chunked":
        return body.endswith(b"0\r\n\r\n") and "content-length" not in named
    return named.get("content-length") == str(len(body))


async def _choose(site: Site, request: Request) -> Plain:
    """The answer of the site to a request; listed answers advance by one."""
    pages = site.hosts.get(request.host, site.pages)
    held = pages.get(request.target, pages.get("*", NOT_FOUND))
    if isinstance(held, bytes | Misbehaviour):
        return held
    if isinstance(held, list | tuple):
        key = (request.host, request.target)
        turn = site.given.get(key, 0)
        site.given[key] = turn + 1
        turns: Sequence[Plain] = held
        return turns[min(turn, len(turns) - 1)]
    made = cast("Callable[[Request], Plain | Awaitable[Plain]]", held)(request)
    return await made if inspect.isawaitable(made) else made


def _read_request(head: bytes, peer: tuple[str, int]) -> Request:
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    method, target, *_ = first.decode("latin-1").split(" ")
    return Request(method, target, _headers(lines), peer)


def _headers(lines: Sequence[bytes]) -> dict[str, str]:
    parted = (line.decode("latin-1").partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in parted}


@contextmanager
def site_in_thread(
    pages: Pages | None = None,
    *,
    hosts: Mapping[str, Pages] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Site]:
    """`a_site` with its own event loop, for tests that block or run the program beside them."""
    started: list[Site | BaseException] = []
    is_up = threading.Event()
    loop = asyncio.new_event_loop()
    may_end = asyncio.Event()

    async def serve() -> None:
        try:
            async with a_site(pages, hosts=hosts, host=host, port=port, tls=tls) as site:
                started.append(site)
                is_up.set()
                await may_end.wait()
        except OSError as error:
            started.append(error)
            is_up.set()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    is_up.wait()
    try:
        first = started[0]
        if isinstance(first, BaseException):
            raise first
        yield first
    finally:
        loop.call_soon_threadsafe(may_end.set)
        thread.join()
        loop.close()
