"""The demo web on a port of this machine, in a thread of its own.

It speaks as much HTTP/1.1 as a crawler or a browser needs: GET and HEAD, connections kept open.
Names under `.localhost` mean this machine everywhere, so nothing leaves it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from gossamer.demo.pages import DemoAnswer
from gossamer.demo.web import answer, build_web, seeds_at

# A request head of a browser is under 2 kB; longer ones are not answered.
MAX_HEAD_BYTES: Final = 64 * 2**10

# (host, target, headers of the request by their names in lower case): the answer
Responder = Callable[[str, str, Mapping[str, str]], DemoAnswer]


@dataclass(frozen=True, slots=True)
class DemoWeb:
    """A demo web that is being served."""

    port: int
    seeds: tuple[str, ...]


def bundled_web(port: int) -> Responder:
    """The pages that come with the package."""
    web = build_web(port)
    return lambda host, target, _headers: answer(web, host, target)


@contextmanager
def serve(
    port: int = 0, responder_at: Callable[[int], Responder] = bundled_web
) -> Iterator[DemoWeb]:
    """Serve until the block ends; port 0 is any free one. Raises OSError when it is taken.

    `responder_at` makes the responder for the port.
    """
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    is_up = threading.Event()
    outcome: list[int | OSError] = []

    async def run() -> None:
        try:
            async with _listening(port, responder_at) as taken:
                outcome.append(taken)
                is_up.set()
                await stop.wait()
        except OSError as error:
            outcome.append(error)
        finally:
            is_up.set()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), name="demo web")
    thread.daemon = True
    thread.start()
    is_up.wait()
    try:
        taken = outcome[0]
        if isinstance(taken, OSError):
            raise taken
        yield DemoWeb(taken, seeds_at(taken))
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@asynccontextmanager
async def _listening(port: int, responder_at: Callable[[int], Responder]) -> AsyncIterator[int]:
    """Answer on the port, and give its number; at the end cut every connection."""
    talks: set[asyncio.Task[None]] = set()
    responder: list[Responder] = []  # known with the port

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            # A client that leaves, or sends what is no request, ends its own connection only.
            with suppress(OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                await _talk(responder[0], reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()  # the server ends; nobody waits for this task's result
        finally:
            talks.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port, limit=MAX_HEAD_BYTES)
    taken = int(server.sockets[0].getsockname()[1])
    responder.append(responder_at(taken))
    try:
        yield taken
    finally:
        await _settle()  # before the close: a connection half accepted then would leak
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await server.wait_closed()
        await _settle()


async def _settle() -> None:
    """Let the loop finish what it has begun.

    A connection accepted last needs four turns to have its task, a closed one two to close its
    socket; asyncio offers nothing to wait for.
    """
    for _ in range(10):
        await asyncio.sleep(0)


async def _talk(
    respond: Responder, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer one request after the other until the client has had enough."""
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split("\r\n", 1)[0].split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
        }
        host = headers.get("host", "").lower().partition(":")[0]
        if method in ("GET", "HEAD"):
            said = respond(host, target, headers)
        else:
            said = DemoAnswer(405, (("allow", "GET, HEAD"),), b"")
        writer.write(_bytes_of(said, with_body=method != "HEAD"))
        await writer.drain()
        if headers.get("connection", "").lower() == "close":
            return


def _bytes_of(said: DemoAnswer, *, with_body: bool) -> bytes:
    lines = [f"HTTP/1.1 {said.status} {HTTPStatus(said.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in said.headers]
    lines += [f"content-length: {len(said.body)}"] if said.status != 304 else []
    lines += ["", ""]
    return "\r\n".join(lines).encode() + (said.body if with_body else b"")
