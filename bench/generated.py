"""A web without end, in a process of its own: any number of hosts below `localhost`, on one port.

    python -m bench.generated --port 0 --hosts 2000 [--misbehaves]     prints its port, and serves
    python -m bench.generated --hosts 2000 --answer-s 0.05             a client that asks for 50 at
                                                                       once gets 1,000 a second

Nothing is stored: a page is a function of its URL, so a million of them cost nothing. Page number i
stands on host i % hosts and links to pages 10 i + 1 ... 10 i + 10, which stand on others: from page
0 each page is reached once, by ten links of depth. Without `--pages` there is no end.

With `--misbehaves` some hosts are what crawlers meet: calendars that go on for ever, answers that
drip, connections that are reset, "too many requests" with a Retry-After.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, cast

from bench.crawlers import HERE

FAN_OUT: Final = 10
_SENTENCE: Final = (
    "the old crawler walks along the thread from host to host and leaves a mark where it has been "
    "so that nobody who follows has to ask the same question twice on the same evening"
)
_WORDS: Final = tuple(_SENTENCE.split())
_ROBOTS: Final = b"User-agent: *\nDisallow: /private/\n"
_DRIP_S: Final = 0.25
_DRIPS: Final = 8
_BUSY_EVERY: Final = 5  # of the requests to a busy host, one in so many is turned away


@dataclass(frozen=True, slots=True)
class Plan:
    """What the web holds. `pages` 0: no end. `answer_s`: how long an answer takes."""

    hosts: int
    pages: int = 0
    misbehaves: bool = False
    answer_s: float = 0.0


class Connection(asyncio.Protocol):
    """One client; requests in a row, answered in their order."""

    def __init__(self, plan: Plan, port: int) -> None:
        self._plan = plan
        self._port = port
        self._unread = b""
        self._asked = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while (end := self._unread.find(b"\r\n\r\n")) >= 0:
            request, self._unread = self._unread[:end], self._unread[end + 4 :]
            self._answer(request)

    def _answer(self, request: bytes) -> None:
        line, _, rest = request.partition(b"\r\n")
        path = line.split(b" ", 2)[1].decode()
        host = _host_in(rest)
        self._asked += 1
        kind = kind_of(host) if self._plan.misbehaves and path != "/robots.txt" else "good"
        match kind:
            case "reset" if self._asked % 3 == 0 or zlib.crc32(path.encode()) % 4 == 0:
                self._transport.abort()
            case "busy" if zlib.crc32(path.encode()) % _BUSY_EVERY == 0:
                self._send(b"too many", "429 Too Many Requests", "retry-after: 1\r\n")
            case "slow":
                self._drip(page(path, host, self._plan, self._port))
            case "trap":
                self._send(trap_page(path))
            case _:
                self._answer_well(path, host)

    def _answer_well(self, path: str, host: str) -> None:
        if path == "/robots.txt":
            self._send(_ROBOTS, type="text/plain")
            return
        body = page(path, host, self._plan, self._port)
        self._send(body, "200 OK" if body else "404 Not Found")

    def _send(
        self, body: bytes, status: str = "200 OK", more: str = "", type: str = "text/html"
    ) -> None:
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: {type}; charset=utf-8\r\n{more}"
            f"content-length: {len(body)}\r\n\r\n"
        )
        if not self._plan.answer_s:
            self._transport.write(head.encode() + body)
            return
        loop = asyncio.get_running_loop()
        loop.call_later(self._plan.answer_s, self._write_if_open, head.encode() + body)

    def _drip(self, body: bytes) -> None:
        """The answer in a few pieces, with time between them."""
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode())
        step = len(body) // _DRIPS + 1
        loop = asyncio.get_running_loop()
        for turn in range(_DRIPS):
            piece = body[turn * step : (turn + 1) * step]
            loop.call_later(_DRIP_S * (turn + 1), self._write_if_open, piece)

    def _write_if_open(self, piece: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(piece)


def _host_in(headers: bytes) -> str:
    for line in headers.split(b"\r\n"):
        if line[:5].lower() == b"host:":
            return line[5:].strip().decode().partition(":")[0]
    return ""


def host_name(number: int) -> str:
    return f"h{number:05d}.localhost"


def kind_of(host: str) -> str:
    """What is the matter with a host, by its number; six in ten are good."""
    kinds = ("good", "good", "good", "trap", "good", "slow", "good", "reset", "good", "busy")
    return kinds[int(host[1:6]) % 10] if host[1:6].isdigit() else "good"


def url_of(number: int, plan: Plan, port: int) -> str:
    return f"http://{host_name(number % plan.hosts)}:{port}/p{number // plan.hosts}"


def page(path: str, host: str, plan: Plan, port: int) -> bytes:
    """The page of a URL; nothing when there is none."""
    if not (path.startswith("/p") and path[2:].isdigit() and host[1:6].isdigit()):
        return b""
    number = int(path[2:]) * plan.hosts + int(host[1:6])
    if plan.pages and number >= plan.pages:
        return b""
    first = FAN_OUT * number + 1
    last = min(first + FAN_OUT, plan.pages or first + FAN_OUT)
    # A tree without end has numbers without end; past the first billion it folds onto hosts.
    links = "".join(
        f'<li><a href="{url_of(other, plan, port)}">page {other}</a>'
        for other in range(first, last)
    )
    title = f"Page {number % 10**12} of {host}"
    return (
        f"<!doctype html><title>{title}</title><h1>{title}</h1><ul>{links}</ul>"
        f'<p>{_prose(number)}<p><a href="/p0">home</a>'
    ).encode()


def trap_page(path: str) -> bytes:
    """A calendar: each day leads to the next, and to a session of its own."""
    day = int(path[5:]) if path.startswith("/day/") and path[5:].isdigit() else 0
    session = zlib.crc32(path.encode())
    return (
        f'<title>Day {day}</title><a href="/day/{day + 1}">next</a> '
        f'<a href="/day/{day}?session={session}">again</a> '
        f'<a href="{path.partition("?")[0]}/more/more">more</a><p>{_prose(day)}'
    ).encode()


def _prose(number: int) -> str:
    chosen = (_WORDS[(number * 7 + at * at) % len(_WORDS)] for at in range(120))
    return " ".join(chosen)


async def serve(plan: Plan, port: int) -> None:
    """Serve until the process is ended; the port is the first line on stdout."""
    loop = asyncio.get_running_loop()
    known = [port]
    server = await loop.create_server(
        lambda: Connection(plan, known[0]), "127.0.0.1", port, backlog=4096
    )
    known[0] = server.sockets[0].getsockname()[1]
    print(known[0], flush=True)
    await server.serve_forever()


@contextmanager
def generated(plan: Plan) -> Iterator[int]:
    """The web in a process of its own while the block lasts; its port."""
    given = ["--hosts", str(plan.hosts), "--pages", str(plan.pages)]
    given += ["--answer-s", str(plan.answer_s)]
    more = ["--misbehaves"] if plan.misbehaves else []
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.generated", *given, *more],
        cwd=HERE.parent,
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None, "it is a pipe"
        yield int(server.stdout.readline())
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def main(arguments: Sequence[str]) -> None:
    import uvloop

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--hosts", type=int, required=True)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--misbehaves", action="store_true")
    parser.add_argument("--answer-s", type=float, default=0.0)
    options = parser.parse_args(arguments)
    plan = Plan(options.hosts, options.pages, options.misbehaves, options.answer_s)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(plan, options.port))


if __name__ == "__main__":
    main(sys.argv[1:])
