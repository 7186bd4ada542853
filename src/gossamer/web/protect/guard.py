"""The first thing that a request meets and the last that an answer passes.

A request under a foreign name is refused: a page of a stranger whose name was made to point here
(DNS rebinding) reaches nothing. What a browser asks for a page of another site is refused, links
that people follow apart: no such page can load, count or time anything of ours. A request that is
too large is refused before it is read, one that is too slow while it is. Every answer leaves with
headers that forbid browsers whatever our pages do not need.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES: Final = 64 * 2**10
MAX_QUERY_BYTES: Final = 16 * 2**10
BODY_S: Final = 20.0  # for 64 kB: the slowest modem took 10
SEND_S: Final = 60.0  # for a client to take the next piece of an answer
CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    # With no-referrer browsers call the origin of our own forms null, and they would be refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-dns-prefetch-control": "off",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_RAW: Final = tuple((name.encode(), value.encode()) for name, value in _HEADERS.items())


class TooLarge(Exception):  # an event of the protocol, which ends in `endpoint.py`
    """The body is longer than it may be; `too_large` is the answer to it."""


class TooSlow(Exception):  # the same
    """The body did not come in time; `too_slow` is the answer to it."""


def host_in(header: str) -> str:
    """The name or address in a Host header, without port and brackets; empty when it is neither."""
    name, bracket, rest = header.strip().lower().partition("]")
    if bracket:
        port = rest.removeprefix(":")
        return name.removeprefix("[") if not rest or port.isdigit() else ""
    name, colon, port = name.partition(":")
    return name.removesuffix(".") if not colon or port.isdigit() else ""


@lru_cache(maxsize=256)  # asked twice a request, mostly of the same name
def is_loopback(host: str) -> bool:
    """Whether a name or address means this very machine."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Names:
    """The names under which the server may be asked."""

    def __init__(self, bound: str, allowed: Collection[str] = ()) -> None:
        self._allowed = {name.lower().removesuffix(".") for name in (bound, *allowed)}
        self._is_public = not is_loopback(bound)

    def allow(self, header: str) -> bool:
        """An address needs no DNS, so it cannot be bent; a name must be one of ours."""
        host = host_in(header)
        if is_loopback(host) or host in self._allowed:
            return True
        return self._is_public and _is_address(host)


class Guard:
    """An ASGI application around ours."""

    def __init__(self, app: ASGIApp, names: Names, body_s: float = BODY_S) -> None:
        self._app = app
        self._names = names
        self._body_s = body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fault = self._fault(scope)
        if fault is not None:
            await fault(scope, receive, _sealing(send))
            return
        try:
            await self._app(scope, _Counted(receive, self._body_s), _sealing(send))
        except* (_NotTaken, ClientDisconnect):  # nobody is there to be told
            pass

    def _fault(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._names.allow(hosts[0]):
            return PlainTextResponse(
                "This server is not known by that name; `gossamer serve --allow-host NAME` "
                "makes it so.\n",
                421,
            )
        if not _may_come(scope, headers):
            return PlainTextResponse("That was asked by a page of another site.\n", 403)
        if len(scope.get("query_string", b"")) > MAX_QUERY_BYTES:
            return PlainTextResponse("The address is too long.\n", 414)
        length = headers.get("content-length", "0")
        if not length.isdigit() or len(length) > 15 or int(length) > MAX_BODY_BYTES:
            return too_large()
        return None


def _may_come(scope: Scope, headers: Headers) -> bool:
    """Whether our own pages, no page at all, or somebody who followed a link asks for this.

    A copy stands on an origin of its own, so that its links come from another site, too.
    """
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    is_followed = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in ("GET", "HEAD")
    is_shown = headers.get("sec-fetch-dest") == "document" or scope["path"] == "/cached"
    return is_followed and is_shown


def too_slow() -> PlainTextResponse:
    return PlainTextResponse("The request did not come in time.\n", 408)


def too_large() -> PlainTextResponse:
    return PlainTextResponse(f"A request may have {MAX_BODY_BYTES:,} bytes.\n", 413)


class _NotTaken(Exception):  # ends in `Guard`
    """The client takes no more of its answer."""


class _Counted:
    """Receives a body up to its limits; a chunked one does not say how long it will be."""

    def __init__(self, receive: Receive, within_s: float) -> None:
        self._receive = receive
        self._left = MAX_BODY_BYTES
        self._within_s = within_s
        self._until_s: float | None = None  # in the loop's time; none before it is asked for
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:  # what comes now is that the client has left
            return await self._receive()
        if self._until_s is None:
            self._until_s = asyncio.get_running_loop().time() + self._within_s
        try:
            async with asyncio.timeout_at(self._until_s):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow from None
        self._is_whole = not message.get("more_body", False)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise TooLarge
        return message


def _sealing(send: Send) -> Send:
    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = message["headers"]
            names = {name.lower() for name, _ in given}
            message["headers"] = [*given, *(pair for pair in _RAW if pair[0] not in names)]
        try:
            async with asyncio.timeout(SEND_S):
                await send(message)
        except TimeoutError:
            raise _NotTaken from None

    return sealed
