"""Seeds typed without a scheme: `example.org/docs` becomes a URL that can be requested.

A bare name has two candidates, https first, then http. The first whose server accepts a connection
is used. For https the TLS handshake must succeed. The certificate is not checked here: the crawl
does that, and a bad certificate must not cause a silent fallback to http. If neither connects,
https is used, so that the crawl records the failure.

Only the handshake is sent, and an address that `guard` forbids is not connected to.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gossamer.base.clock import SystemClock
from gossamer.fetch.guard import AddressGuard, forbidden_port
from gossamer.fetch.resolve import Resolver, address_in
from gossamer.urls.canonical import NormalForm, host_of, origin_of, port_of

CONNECT_S: Final = 5.0  # for one connection and its handshake
_AT_ONCE: Final = 20
_MOST_PROBED: Final = 200  # hosts; further bare names get https without a probe
_ADDRESSES: Final = 2  # tried per host
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_LOCAL: Final = re.compile(r"localhost\.?(:\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A seed as typed, the URL used for it, and the reason."""

    typed: str
    url: str
    why: str = ""  # empty if a whole URL was typed

    @property
    def message(self) -> str:
        """One sentence for a person; empty if there was nothing to choose."""
        return f"Using {self.url} for {self.typed}: {self.why}." if self.why else ""


def is_bare(text: str) -> bool:
    """Whether a text is a host name, with or without port and path, and has no scheme."""
    typed = text.strip()
    host = re.split(r"[/?#]", typed, maxsplit=1)[0]
    if not host or "@" in host or any(char.isspace() for char in typed) or _SCHEME.match(typed):
        return False
    return "." in host or host.startswith("[") or bool(_LOCAL.fullmatch(host))


def candidates(text: str) -> tuple[str, ...]:
    """The URLs that a typed seed may mean, the preferred one first."""
    typed = text.strip()
    return (f"https://{typed}", f"http://{typed}") if is_bare(typed) else (typed,)


async def choose_urls(
    texts: Iterable[str],
    guard: AddressGuard | None = None,
    *,
    is_trusted: bool = True,
    probe: bool = True,
) -> list[Chosen]:
    """Each typed seed with the URL to use for it, in order.

    `is_trusted`: the person who typed the names may use private addresses. Without `probe`, as
    behind a proxy, no connection is made, and bare names become https.
    """
    typed = [text.strip() for text in texts]
    bare = list(dict.fromkeys(text for text in typed if is_bare(text)))
    found: dict[str, Chosen] = {}
    if bare and probe:
        found = await _probe_all(bare, _Prober(guard or AddressGuard(), is_trusted))
    return [found.get(text) or _untried(text) for text in typed]


def _untried(text: str) -> Chosen:
    if not is_bare(text):
        return Chosen(text, text)
    return Chosen(text, candidates(text)[0], "https is the default")


async def _probe_all(bare: Sequence[str], prober: _Prober) -> dict[str, Chosen]:
    form = NormalForm()
    by_origin: dict[str, list[str]] = {}
    for text in bare:
        url = form.find(candidates(text)[0])
        if url is not None:  # `read_seeds` reports texts that are not URLs
            by_origin.setdefault(origin_of(url), []).append(text)
    origins = list(by_origin)[:_MOST_PROBED]
    turns = asyncio.Semaphore(_AT_ONCE)

    async def probed(origin: str) -> tuple[str, str]:
        async with turns:
            return await prober.scheme_of(by_origin[origin][0])

    try:
        answers = await asyncio.gather(*map(probed, origins))
    finally:
        prober.close()
    return {
        text: Chosen(text, f"{scheme}://{text}", why)
        for origin, (scheme, why) in zip(origins, answers, strict=True)
        for text in by_origin[origin]
    }


class _Prober:
    """Connects to servers and closes the connection."""

    def __init__(self, guard: AddressGuard, is_trusted: bool) -> None:
        self._guard = guard
        self._is_trusted = is_trusted
        self._resolver = Resolver(SystemClock(), 60.0)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls.check_hostname = False
        self._tls.verify_mode = ssl.CERT_NONE  # the crawl checks the certificate
        self._form = NormalForm()

    def close(self) -> None:
        self._resolver.close()

    async def scheme_of(self, text: str) -> tuple[str, str]:
        """The scheme to use for a bare name, and the reason."""
        secure, plain = (self._form.find(url) for url in candidates(text))
        if secure is None or plain is None:
            return "https", "https is the default"
        addresses = await self._addresses(host_of(secure))
        if not addresses:
            return "https", "https is the default"
        fault = await self._connect(secure, addresses, self._tls)
        if not fault:
            return "https", "https connects"
        if not await self._connect(plain, addresses, None):
            return "http", f"https does not connect ({fault}), http does"
        return "https", f"neither https ({fault}) nor http connects"

    async def _addresses(self, host: str) -> list[str]:
        found = (await self._resolver.resolve(host)).addresses
        is_literal = bool(address_in(host))
        allowed = (
            a
            for a in found
            if not self._guard.forbids(a, is_trusted=self._is_trusted, is_literal=is_literal)
        )
        return list(allowed)[:_ADDRESSES]

    async def _connect(self, url: str, addresses: Sequence[str], tls: ssl.SSLContext | None) -> str:
        """An empty string if one address accepts a connection, else the error of the last
        address.
        """
        port, fault = port_of(url), ""
        if forbidden_port(port):
            return f"port {port} is never used"
        name = host_of(url).strip("[]") if tls else None
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_S):
                    _, writer = await asyncio.open_connection(
                        address, port, ssl=tls, server_hostname=name
                    )
            except TimeoutError:
                fault = f"no answer in {CONNECT_S:.0f} s"
            except ssl.SSLError:
                fault = "no TLS"
            except (OSError, ValueError) as error:
                fault = _reason(error)
            else:
                writer.close()
                with suppress(OSError, TimeoutError, ssl.SSLError):
                    async with asyncio.timeout(1.0):
                        await writer.wait_closed()
                return ""
        return fault


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, ConnectionError):
        return "connection closed"
    return (getattr(error, "strerror", None) or "no connection").lower()
