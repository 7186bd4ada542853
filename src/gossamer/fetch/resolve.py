"""Resolve host names, with a cache. Only the node resolves; workers get addresses.

Names below `localhost` are the loopback address by definition (RFC 6761) and are not looked up. The
system's resolver does not return a TTL, so a result is cached for `dns_keep_s`.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from gossamer.base.clock import Clock

_THREADS: Final = 64  # maximum of concurrent lookups of a node
_ADDRESSES: Final = 8  # per name; a hostile name has thousands, and each may have to be tried
_NO_NAME: Final = frozenset(
    getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA") if hasattr(socket, name)
)
_WAIT_S: Final = 20.0  # the system's own limit is 5 s per try; after this the thread is abandoned


@dataclass(frozen=True, slots=True)
class ResolvedHost:
    """The result of a lookup. Without addresses, `fault` says why."""

    addresses: tuple[str, ...]
    expires_s: float
    fault: str = ""
    is_definite: bool = False  # the fault is final: the name does not exist, or has no address


class Resolver:
    """Calls the system's resolver for many names at once."""

    def __init__(self, clock: Clock, keep_s: float) -> None:
        self._clock = clock
        self._keep_s = keep_s
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="resolve")

    async def resolve(self, host: str) -> ResolvedHost:
        """The addresses of a host name, or an address itself. Never raises."""
        literal = address_in(host)
        if literal:
            return ResolvedHost((literal,), float("inf"))
        if host == "localhost" or host.endswith(".localhost"):
            return ResolvedHost(("127.0.0.1", "::1"), float("inf"))
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_WAIT_S):
                found = await loop.run_in_executor(self._pool, _look_up, host)
        except TimeoutError:
            return self._failed(f"no answer within {_WAIT_S:.0f} s")
        except (OSError, UnicodeError) as fault:
            is_definite = isinstance(fault, socket.gaierror) and fault.errno in _NO_NAME
            said = getattr(fault, "strerror", None) or str(fault)
            return self._failed(said, is_definite=is_definite)
        return ResolvedHost(found, self._clock.now_s() + self._keep_s)

    def _failed(self, fault: str, *, is_definite: bool = False) -> ResolvedHost:
        return ResolvedHost((), self._clock.now_s(), fault, is_definite)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> tuple[str, ...]:
    answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # IPv4 first: broken AAAA records are common, and one address is pinned for the connection.
    answers.sort(key=lambda answer: answer[0] != socket.AF_INET)
    found = dict.fromkeys(str(answer[4][0]) for answer in answers)
    return tuple(found)[:_ADDRESSES]


@functools.lru_cache(maxsize=4096)  # takes 3 microseconds, and is called for every page
def address_in(host: str) -> str:
    """The address if the host is written as one, or an empty string for a name."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return ""
