"""The ready queue: which of the hosts that may be requested is next?

Sites take turns. A site gives its host with the first priority key, then the next site gives one. A
site with 10,000 hosts gets as many turns as one with a single host, so it cannot hold up the
others. A site that had no work for a while gains no turns by that.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Final, Generic, Protocol, TypeVar

_FEW_ENTRIES: Final = 16  # of a site, which are not worth a walk


class _Ready(Protocol):
    """A host, as far as it matters here."""

    site: str
    turn: int  # changes whenever the host goes elsewhere


H = TypeVar("H", bound=_Ready)


class SiteHosts(Generic[H]):
    """The ready hosts of one site. An entry counts only while its host still has that turn."""

    __slots__ = ("hosts", "many")

    def __init__(self) -> None:
        self.hosts: list[tuple[bytes, int, H]] = []
        self.many = _FEW_ENTRIES  # more than that are walked for those that count

    def add(self, host: H, key: bytes) -> None:
        """A host that is moved while it is ready leaves an entry behind: each time that scores
        change, one for each host. Those are dropped when they may be half of all."""
        heapq.heappush(self.hosts, (key, host.turn, host))
        if len(self.hosts) > self.many:
            self.hosts = [entry for entry in self.hosts if entry[1] == entry[2].turn]
            heapq.heapify(self.hosts)
            self.many = max(_FEW_ENTRIES, 2 * len(self.hosts))

    def first(self) -> H | None:
        """The host that comes first, when one is still there."""
        hosts = self.hosts
        while hosts and hosts[0][1] != hosts[0][2].turn:
            heapq.heappop(hosts)
        return hosts[0][2] if hosts else None


class _Site(SiteHosts[H]):
    """A site that takes turns."""

    __slots__ = ("is_listed", "turns")

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0  # that it has had, or missed
        self.is_listed = False


class ReadyHosts(Generic[H]):
    """Hosts that may be requested, by site."""

    def __init__(self) -> None:
        self._sites: dict[str, _Site[H]] = {}
        self._line: list[tuple[int, bytes, int, _Site[H]]] = []  # sites that have ready hosts
        self._order = itertools.count()
        self._turn = 0  # how many turns the site had that was served last

    def add(self, host: H, key: bytes) -> None:
        """`host.turn` is new; `key` is the priority key of its first URL."""
        site = self._sites.get(host.site)
        if site is None:
            site = self._sites[host.site] = _Site[H]()
        site.add(host, key)
        if not site.is_listed:
            site.turns = max(site.turns, self._turn)
            self._list(site)

    def take(self) -> H | None:
        """The host whose turn it is; None when there is none."""
        while self._line:
            turns, _, _, site = heapq.heappop(self._line)
            site.is_listed = False
            host = site.first()
            if host is None:
                continue
            heapq.heappop(site.hosts)
            self._turn, site.turns = turns, turns + 1
            if site.hosts:
                self._list(site)
            return host
        return None

    def __bool__(self) -> bool:
        while self._line:
            site = self._line[0][3]
            if site.first() is not None:
                return True
            heapq.heappop(self._line)
            site.is_listed = False
        return False

    def has_besides(self, site: str) -> bool:
        """Whether a host of another site is ready."""
        return any(entry[3] is not self._sites.get(site) for entry in self._line[:2]) and bool(self)

    def forget_idle(self) -> None:
        """Sites that nothing is remembered of but turns long past need no memory."""
        self._sites = {
            name: site
            for name, site in self._sites.items()
            if site.is_listed or site.turns > self._turn
        }

    def _list(self, site: _Site[H]) -> None:
        site.is_listed = True
        heapq.heappush(self._line, (site.turns, site.hosts[0][0], next(self._order), site))
