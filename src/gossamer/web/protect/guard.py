"""The outer layer of the server: checks requests first and adds headers to every response.

It refuses requests under a foreign host name, so DNS rebinding reaches nothing. It refuses browser
requests made by pages of other sites, except links that people follow, so such pages cannot load,
count or time anything here. It refuses too large requests before reading them, and too slow ones
while reading. Every response gets headers that forbid browsers what the pages do not need.
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
# A text to find copies of; a form sends a Chinese character as nine bytes.
MAX_TEXT_BYTES: Final = 2 * 2**20
MAX_JOBS_BYTES: Final = 12 * 2**20  # a file of jobs for a hub
_WITH_TEXTS: Final = {
    "/copies": MAX_TEXT_BYTES,
    "/api/copies": MAX_TEXT_BYTES,
    "/api/fleet/jobs": MAX_JOBS_BYTES,
}
MAX_QUERY_BYTES: Final = 16 * 2**10
BODY_S: Final = 20.0  # for 64 kB: the slowest modem took 10
SEND_S: Final = 60.0  # for a client to accept the next part of a response
CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    # With no-referrer browsers send the origin `null` for our own forms, which would be refused.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-dns-prefetch-control": "off",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_RAW: Final = tuple((name.encode(), value.encode()) for name, value in _HEADERS.items())


class TooLarge(Exception):  # a protocol event, handled in `endpoint.py`
    """The body exceeds the limit; the response is `too_large`."""


class TooSlow(Exception):  # the same
    """The body did not arrive in time; the response is `too_slow`."""


def host_in(header: str) -> str:
    """Return the name or address in a Host header, without port and brackets; empty if invalid."""
    name, bracket, rest = header.strip().lower().partition("]")
    if bracket:
        port = rest.removeprefix(":")
        return name.removeprefix("[") if not rest or port.isdigit() else ""
    name, colon, port = name.partition(":")
    return name.removesuffix(".") if not colon or port.isdigit() else ""


@lru_cache(maxsize=256)  # called twice per request, mostly with the same name
def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Names:
    """The host names that the server accepts."""

    def __init__(self, bound: str, allowed: Collection[str] = ()) -> None:
        self._allowed = {name.lower().removesuffix(".") for name in (bound, *allowed)}
        self._is_public = not is_loopback(bound)

    def allow(self, header: str) -> bool:
        """Accept any address, because it needs no DNS; a name must be in the list."""
        host = host_in(header)
        if is_loopback(host) or host in self._allowed:
            return True
        return self._is_public and _is_address(host)


class RequestGuard:
    """An ASGI application around the server's own."""

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
            counted = _Counted(receive, self._body_s, _most_bytes(scope))
            await self._app(scope, counted, _sealing(send))
        except* (_NotTaken, ClientDisconnect):  # the client has gone
            pass

    def _fault(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._names.allow(hosts[0]):
            return PlainTextResponse(
                "This server does not accept that host name. Allow it with "
                "`gossamer serve --allow-host NAME`.\n",
                421,
            )
        if not _may_come(scope, headers):
            return PlainTextResponse("The request came from a page of another site.\n", 403)
        if len(scope.get("query_string", b"")) > MAX_QUERY_BYTES:
            return PlainTextResponse("The URL is too long.\n", 414)
        length = headers.get("content-length", "0")
        if not length.isdigit() or len(length) > 15 or int(length) > _most_bytes(scope):
            return too_large(_most_bytes(scope))
        return None


def _may_come(scope: Scope, headers: Headers) -> bool:
    """Whether the request comes from our own pages, no page, or a followed link.

    A copy has its own origin, so its links count as coming from another site.
    """
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    is_followed = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in ("GET", "HEAD")
    is_shown = headers.get("sec-fetch-dest") == "document" or scope["path"] == "/cached"
    return is_followed and is_shown


def too_slow() -> PlainTextResponse:
    return PlainTextResponse("The request did not arrive in time.\n", 408)


def too_large(most_bytes: int = MAX_BODY_BYTES) -> PlainTextResponse:
    return PlainTextResponse(f"The request exceeds {most_bytes:,} bytes.\n", 413)


def _most_bytes(scope: Scope) -> int:
    """Return the largest body that a path accepts."""
    return _WITH_TEXTS.get(scope["path"], MAX_BODY_BYTES)


class _NotTaken(Exception):  # handled in `RequestGuard`
    """The client does not accept the rest of its response."""


class _Counted:
    """Receives a body up to its limits; a chunked one does not announce its length."""

    def __init__(self, receive: Receive, within_s: float, most_bytes: int) -> None:
        self._receive = receive
        self._left = most_bytes
        self._within_s = within_s
        self._until_s: float | None = None  # in the loop's time; None before the first read
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:  # the next message is the disconnect
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
