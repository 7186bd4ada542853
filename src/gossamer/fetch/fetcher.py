"""The one way out: every request of this program goes through here, robots.txt included.

A lease says which address to ask. It is pinned, so that nothing is resolved a second time, and
judged again at the moment of connecting, so that neither a changed name nor a bug can lead
elsewhere. Redirects are answers, not followed here. Type and size are judged on the headers; a
body that is not wanted is never taken. Foreign errors end in `faults.py`.
"""

from __future__ import annotations

import asyncio
from typing import Final

import pycurl

from gossamer.base.clock import Clock
from gossamer.errors import SettingsError
from gossamer.fetch.faults import reason_of
from gossamer.fetch.guard import Guard
from gossamer.fetch.judge import Judge
from gossamer.fetch.transfer import Transfer
from gossamer.records import Answer, Failed, Fetched, Lease, Refused
from gossamer.settings import Fetch
from gossamer.urls.canonical import host_of, port_of, target_of
from gossamer.version import __version__

_PROTOCOLS: Final = {10: "http/1.0", 11: "http/1.1", 20: "h2", 30: "h3"}
_HTTP_VERSIONS: Final = {1: 10, 2: 11, 3: 20, 30: 30}  # libcurl's numbers for them


class Fetcher:
    """A pool of connections and transfers on the running event loop."""

    def __init__(self, settings: Fetch, judge: Judge, guard: Guard, clock: Clock) -> None:
        self._settings = settings
        self._judge = judge
        self._guard = guard
        self._clock = clock
        self.user_agent = user_agent(settings.contact)
        self._headers = [
            f"User-Agent: {self.user_agent}",
            f"Accept: {judge.accept}",
            "Accept-Encoding: gzip, deflate, br, zstd",
            *map(checked_header, settings.headers),
        ]
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, settings.connections + 16)
        self._idle: list[Transfer] = []

    async def fetch(self, lease: Lease) -> Answer:
        """Ask once. Returns what came of it; never raises for what the web does."""
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        curl = transfer.begin(lease)
        at_us, began_s = self._clock.wall_us(), self._clock.now_s()
        code, message = 0, ""
        try:
            await self._multi.add_handle(curl)
        except pycurl.error as fault:
            code, message = fault.args[0], str(fault.args[1])
        except asyncio.CancelledError:
            curl.close()
            raise
        took_s = self._clock.now_s() - began_s
        answer = self._answer(transfer, code, message, at_us, took_s)
        self._idle.append(transfer)
        return answer

    def _answer(
        self, transfer: Transfer, code: int, message: str, at_us: int, took_s: float
    ) -> Answer:
        url = transfer.lease.url
        if transfer.refusal is not None:
            reason, detail = transfer.refusal
            return Refused(url, reason, detail, at_us, took_s, transfer.status)
        if transfer.failure is not None:
            reason, detail = transfer.failure
            return Failed(url, reason, detail, at_us, took_s, transfer.status)
        if code and not transfer.cut:
            reason, detail = reason_of(code, message)
            return Failed(url, reason, detail, at_us, took_s, transfer.status)
        number = transfer.curl.getinfo(pycurl.INFO_HTTP_VERSION)
        protocol = _PROTOCOLS[_HTTP_VERSIONS.get(number, 11)]
        return Fetched(
            url=url,
            status=transfer.status,
            head=transfer.head,
            body=transfer.body,
            request=self._request_bytes(url, protocol),
            address=transfer.lease.address,
            protocol=protocol,
            at_us=at_us,
            took_s=took_s,
            cut=transfer.cut,
        )

    def _request_bytes(self, url: str, protocol: str) -> bytes:
        """The request as sent; HTTP/2 and 3 are written in the form of HTTP/1.1."""
        version = "HTTP/1.0" if protocol == "http/1.0" else "HTTP/1.1"
        default = 443 if url.startswith("https:") else 80
        port = port_of(url)
        host = host_of(url) + ("" if port == default else f":{port}")
        lines = [f"GET {target_of(url)} {version}", f"Host: {host}", *map(hidden, self._headers)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")

    def _new_transfer(self) -> Transfer:
        return Transfer(self._settings, self._headers, self._judge, self._guard)

    async def aclose(self) -> None:
        await self._multi.aclose()
        for transfer in self._idle:
            transfer.curl.close()
        self._idle.clear()


def user_agent(contact: str) -> str:
    """`gossamer/VERSION (+contact)`, or without a contact the name alone."""
    return f"gossamer/{__version__} (+{contact})" if contact else f"gossamer/{__version__}"


_SECRET: Final = ("authorization:", "cookie:", "proxy-authorization:")


def hidden(header: str) -> str:
    """A request header for the archive: credentials are not kept."""
    name, _, _ = header.partition(":")
    return f"{name}: (not kept)" if header.lower().startswith(_SECRET) else header


def checked_header(header: str) -> str:
    """A header of the operator's, or SettingsError."""
    name, colon, value = header.partition(":")
    is_token = name.isascii() and bool(name) and all(c.isalnum() or c in "-_." for c in name)
    if not colon or not is_token or any(c in header for c in "\r\n\0"):
        raise SettingsError("fetch.headers", f"has {header!r}, but it must be `Name: value`")
    if name.lower() in {"host", "content-length", "transfer-encoding", "connection"}:
        raise SettingsError("fetch.headers", f"may not set {name}: it belongs to the connection")
    return f"{name}: {value.strip()}"
