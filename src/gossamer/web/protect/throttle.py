"""Limit the number of wrong secrets, per client and for the password, in five minutes.

A client is an address; for IPv6 the first 64 bits, because one customer has all addresses below.
Each client has five wrong tries. The password has fifty from all clients together, so that many
addresses cannot guess it. A client that logged in before is exempt from that, so that guesses from
elsewhere do not lock out the owner. The right token and an existing session are never limited
(`endpoint.py`, `views/pages.py`).

Memory is bounded: of 10,000 clients the one with the oldest last failure is dropped first.

Pure except for the counts: the time is an argument, and nothing waits. Thread-safe; a try of a slow
secret is counted before it, not after.
"""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final

FORGET_S: Final = 300.0
TRIES_OF_CLIENT: Final = 5
TRIES_OF_PASSWORD: Final = 50
MOST_CLIENTS: Final = 10_000
_MOST_KNOWN: Final = 1_000  # clients that logged in before


def client_of(address: str) -> str:
    """Return the client under which an address is counted."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


@dataclass(slots=True)
class LoginThrottle:
    """Failed tries of the last five minutes."""

    _failed: OrderedDict[str, list[float]] = field(default_factory=OrderedDict)
    _of_password: deque[float] = field(default_factory=deque)
    _known: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def note_failure(self, address: str, now_s: float) -> bool:
        """Count a wrong token; False if the client has had too many before."""
        client = client_of(address)
        with self._counting:
            may = self._may_try(client, now_s)
            if may:
                self._note(client, now_s)
            return may

    def begin_try(self, address: str, now_s: float) -> bool:
        """Whether the client may try a password; counted as a failure until `succeed`."""
        client = client_of(address)
        with self._counting:
            may = self._may_try(client, now_s) and (
                client in self._known or len(self._of_password) < TRIES_OF_PASSWORD
            )
            if may:
                self._note(client, now_s)
                self._of_password.append(now_s)
            return may

    def succeed(self, address: str) -> None:
        """Uncount the try: the password was right."""
        client = client_of(address)
        with self._counting:
            times = self._failed.get(client)
            if times:
                times.pop()
            if self._of_password:
                self._of_password.pop()
            self._known[client] = None
            self._known.move_to_end(client)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)

    @property
    def clients(self) -> int:
        """The number of stored clients."""
        return len(self._failed)

    def _may_try(self, client: str, now_s: float) -> bool:
        self._forget(now_s)
        times = self._failed.get(client, [])
        return sum(now_s - at_s < FORGET_S for at_s in times) < TRIES_OF_CLIENT

    def _note(self, client: str, now_s: float) -> None:
        """Count one failure. At most `TRIES_OF_CLIENT` are kept per client."""
        times = self._failed.setdefault(client, [])
        times[:] = [at_s for at_s in times if now_s - at_s < FORGET_S]
        times.append(now_s)
        self._failed.move_to_end(client)
        if len(self._failed) > MOST_CLIENTS:
            self._failed.popitem(last=False)

    def _forget(self, now_s: float) -> None:
        """Drop failures older than five minutes; the newest are at the end."""
        while self._of_password and now_s - self._of_password[0] >= FORGET_S:
            self._of_password.popleft()
        while self._failed:
            client, times = next(iter(self._failed.items()))
            if times and now_s - times[-1] < FORGET_S:
                break
            del self._failed[client]
