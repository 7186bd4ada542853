"""Which host's name is resolved next?

Few at once: the system's resolver takes as long as the slowest name server, and holds a thread for
it. Sites take turns, and none has more than a few lookups in flight, so that a site with thousands
of names that no server answers for does not hold up the others.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from typing import Final

from gossamer.schedule.host import Host

_AT_ONCE: Final = 64
_AT_ONCE_OF_SITE: Final = 8


class DnsQueue:
    """Hosts whose names are to be resolved."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[Host]] = OrderedDict()  # by site, in turn
        self._in_flight: Counter[str] = Counter()
        self._count = 0

    def add(self, host: Host) -> None:
        self._waiting.setdefault(host.site, deque()).append(host)

    def take(self) -> list[Host]:
        """Hosts to be resolved now; `done` is owed for each."""
        taken: list[Host] = []
        passed = 0  # sites in a row that have enough lookups in flight
        while self._waiting and self._count < _AT_ONCE and passed < len(self._waiting):
            site, hosts = next(iter(self._waiting.items()))
            if self._in_flight[site] >= _AT_ONCE_OF_SITE:
                self._waiting.move_to_end(site)
                passed += 1
                continue
            passed = 0
            taken.append(hosts.popleft())
            self._in_flight[site] += 1
            self._count += 1
            if hosts:
                self._waiting.move_to_end(site)
            else:
                del self._waiting[site]
        return taken

    def done(self, host: Host) -> None:
        """The lookup of a host has ended."""
        self._count -= 1
        self._in_flight[host.site] -= 1
        if not self._in_flight[host.site]:
            del self._in_flight[host.site]
