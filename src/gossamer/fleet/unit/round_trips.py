"""Measure the time to connect to hosts that the hub names, so that jobs go to the nearest unit.

Only public addresses are connected to, and those that the owner allows: a hub cannot look around in
the network that the unit is in. Nothing is sent.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from typing import Final

from gossamer.base.clock import Clock
from gossamer.fetch.guard import AddressGuard
from gossamer.fleet.protocol import RoundTrip

_MOST: Final = 50
_WAIT_S: Final = 3.0
_PORTS: Final = (443, 80)
_NOT_REACHED: Final = -1.0


class RoundTrips:
    """Measures in a thread, one host after the other."""

    def __init__(self, allowed: Sequence[str], clock: Clock) -> None:
        self._guard = AddressGuard(tuple(allowed))
        self._clock = clock
        self._lock = threading.Lock()
        self._found: list[RoundTrip] = []
        self._thread: threading.Thread | None = None

    def measure(self, hosts: Sequence[str]) -> None:
        """Begin, unless a measurement is under way: then the hub asks again."""
        if hosts and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(
                target=self._measure, args=(tuple(hosts[:_MOST]),), daemon=True
            )
            self._thread.start()

    def take(self) -> tuple[RoundTrip, ...]:
        """What was measured since the last call."""
        with self._lock:
            found, self._found = self._found, []
        return tuple(found)

    def give_back(self, unsent: Sequence[RoundTrip]) -> None:
        """The hub did not get these."""
        with self._lock:
            self._found = [*unsent, *self._found][-_MOST:]

    def _measure(self, hosts: Sequence[str]) -> None:
        for host in hosts:
            trip = RoundTrip(host=host, ms=self.time_to(host))
            with self._lock:
                self._found.append(trip)

    def time_to(self, host: str) -> float:
        """Milliseconds; negative if it cannot be reached or may not be connected to. `host` may
        have a port."""
        name, _, port = host.partition(":") if host.count(":") == 1 else (host, "", "")
        for number in (int(port),) if port.isdigit() else _PORTS:
            try:
                found = socket.getaddrinfo(name, number, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError, OverflowError):
                return _NOT_REACHED
            for family, kind, protocol, _, address in found[:2]:
                if self._guard.forbids(str(address[0]), is_trusted=False) is not None:
                    continue
                ms = self._connect_ms(family, kind, protocol, address)
                if ms is not None:
                    return ms
        return _NOT_REACHED

    def _connect_ms(
        self, family: int, kind: int, protocol: int, address: tuple[object, ...]
    ) -> float | None:
        with socket.socket(family, kind, protocol) as connection:
            connection.settimeout(_WAIT_S)
            began_s = self._clock.now_s()
            try:
                connection.connect(address)
            except OSError:
                return None
            return round((self._clock.now_s() - began_s) * 1000, 2)
