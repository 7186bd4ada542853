"""The ready queue of a crawl by value: the ready host whose first URL is worth most is next.

What a URL is worth among those of other hosts is its value, divided by a power of what its site has
had (`frontier/selection/`). Robots.txt files and sitemaps come before pages. Sites do not take
turns: a URL that is worth little waits as long as better ones can be requested. It is never lost.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Final, Generic, Protocol, TypeVar

from gossamer.schedule.ready.ready_hosts import SiteHosts

_LOOKED_AT: Final = 16  # entries, for a host of another site
_SCORE_BYTES: Final = 4  # of a priority key; the rest says which URL was found first
_Rank = tuple[float, bytes]  # the smallest comes first: what it is worth, then the first found
_LAST: Final[_Rank] = (0.0, b"")


class _Ready(Protocol):
    """A host, as far as it matters here."""

    key: bytes
    site: str
    turn: int  # changes whenever the host goes elsewhere


H = TypeVar("H", bound=_Ready)


class HostValues(Protocol):
    """Compares URLs of different hosts."""

    def site_number(self, host_key: bytes) -> int:
        """The site of a host; -1 if it is not known."""
        ...

    def between_hosts(self, site: int, place: bytes) -> float:
        """What a URL of a site with that priority key is worth now; the largest comes first."""
        ...


class _Site(SiteHosts[H]):
    """The ready hosts of one site."""

    __slots__ = ("entry", "number", "rank")

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.entry = 0  # the one that counts; 0: none
        self.rank = _LAST  # as that entry says; it may be later by now


class ReadyByValue(Generic[H]):
    """Hosts that may be requested, the most valuable first."""

    def __init__(self, values: HostValues) -> None:
        self._values = values
        self._sites: dict[int | str, _Site[H]] = {}
        self._line: list[tuple[_Rank, int, _Site[H]]] = []
        self._order = itertools.count(1)

    def add(self, host: H, key: bytes) -> None:
        """`host.turn` is new; `key` is the priority key of its first URL."""
        number = self._values.site_number(host.key)
        name = number if number >= 0 else host.site
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = _Site[H](number)
        site.add(host, key)
        self._list(site)

    def take(self) -> H | None:
        """The host whose first URL is worth most; None when there is none."""
        while (site := self._first()) is not None:
            is_right = self._rank(site) == site.rank
            heapq.heappop(self._line)
            site.entry = 0
            host = heapq.heappop(site.hosts)[2] if is_right else None
            self._list(site)
            if host is not None:
                return host
        return None

    def __bool__(self) -> bool:
        return self._first() is not None

    def has_besides(self, site: str) -> bool:
        """Whether a host of another site is ready."""
        some = (entry[2] for entry in self._line[:_LOOKED_AT])
        hosts = (one.first() for one in some)
        return any(host is not None and host.site != site for host in hosts)

    def forget_idle(self) -> None:
        """Sites without a ready host need no memory."""
        self._sites = {name: site for name, site in self._sites.items() if site.hosts}

    def _first(self) -> _Site[H] | None:
        """The site of the first entry that counts."""
        line = self._line
        while line:
            _, entry, site = line[0]
            if entry == site.entry and site.first() is not None:
                return site
            heapq.heappop(line)
            if entry == site.entry:
                site.entry = 0
        return None

    def _rank(self, site: _Site[H]) -> _Rank:
        key = site.hosts[0][0]
        return -self._values.between_hosts(site.number, key), key[_SCORE_BYTES:]

    def _list(self, site: _Site[H]) -> None:
        """Put a site into the line, if it is not there or comes earlier than its entry says."""
        if site.first() is None:
            return
        rank = self._rank(site)
        if not site.entry or rank < site.rank:
            site.entry, site.rank = next(self._order), rank
            heapq.heappush(self._line, (rank, site.entry, site))
