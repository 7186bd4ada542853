"""Commands to a running crawl: one line of JSON in, one line of JSON out.

They use a Unix socket in the run/ directory of the collection, which only its owner may open.
Without Unix sockets (Windows), or if the path is too long for one (108 bytes), they use a loopback
port and a token that only the owner can read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from gossamer.base.files import delete_if_possible
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import GossamerError

Answerer = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]

_LONGEST_PATH: Final = 100
_LINE_BYTES: Final = 2**20
_WAIT_S: Final = 10.0


class NotRunning(GossamerError):
    """No crawl is running in the collection."""


def _socket_path(paths: CollectionPaths) -> Path:
    return paths.run.resolve() / "control"


def _port_path(paths: CollectionPaths) -> Path:
    return paths.run / "control.json"


def _has_sockets(paths: CollectionPaths) -> bool:
    return sys.platform != "win32" and len(bytes(_socket_path(paths))) <= _LONGEST_PATH


@asynccontextmanager
async def listening(paths: CollectionPaths, answer: Answerer) -> AsyncIterator[None]:
    """Accept commands while the block runs. The caller holds the lock of the collection."""
    token = None if _has_sockets(paths) else secrets.token_urlsafe(24)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_WAIT_S):
                order = json.loads(await reader.readline())
            writer.write(json.dumps(_reply(order, token, answer)).encode() + b"\n")
            await writer.drain()
        except (ValueError, OSError, TimeoutError, asyncio.LimitOverrunError):
            pass  # an invalid or closed connection does not stop the crawl
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    server = await _start(paths, token, serve)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()
        delete_if_possible(_socket_path(paths))
        delete_if_possible(_port_path(paths))


async def _start(paths: CollectionPaths, token: str | None, serve: Any) -> asyncio.Server:
    if token is None:
        path = _socket_path(paths)
        path.unlink(missing_ok=True)  # left by a killed process: this process holds the lock
        server = await asyncio.start_unix_server(serve, path, limit=_LINE_BYTES)
        path.chmod(0o600)
        return server
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=_LINE_BYTES)
    port = server.sockets[0].getsockname()[1]
    descriptor = os.open(_port_path(paths), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(json.dumps({"port": port, "token": token}))
    return server


def _reply(order: Any, token: str | None, answer: Answerer) -> Mapping[str, Any]:
    """`token` None: access to the socket proves that the sender is the owner."""
    if not isinstance(order, dict) or not isinstance(order.get("order"), str):
        return {"error": "a command must be an object with the text `order`"}
    if token is not None and not hmac.compare_digest(str(order.get("token")), token):
        return {"error": "the token is wrong"}
    return answer(order["order"], order)


def send(
    paths: CollectionPaths, order: str, *, wait_s: float = _WAIT_S, **facts: Any
) -> Mapping[str, Any]:
    """Send a command and wait up to `wait_s` for the answer. Raises NotRunning."""
    message: dict[str, Any] = {"order": order, **facts}
    try:
        with _connect(paths, message) as connection:
            connection.settimeout(wait_s)
            connection.sendall(json.dumps(message).encode() + b"\n")
            with connection.makefile("rb") as lines:
                reply = json.loads(lines.readline(_LINE_BYTES))
    except (OSError, ValueError, KeyError) as fault:
        raise NotRunning(f"no crawl is running in {paths.path}") from fault
    if not isinstance(reply, dict):
        raise NotRunning(f"the process that answers in {paths.path} is not a crawl")
    return reply


def _connect(paths: CollectionPaths, message: dict[str, Any]) -> socket.socket:
    if _has_sockets(paths):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(_WAIT_S)
            connection.connect(str(_socket_path(paths)))
        except OSError:
            connection.close()
            raise
        return connection
    where = json.loads(_port_path(paths).read_text(encoding="utf-8"))
    message["token"] = where["token"]
    return socket.create_connection(("127.0.0.1", where["port"]), timeout=_WAIT_S)
