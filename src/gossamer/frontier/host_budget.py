"""May a URL of a host that the crawl has not met be queued?

A host costs a kilobyte of memory while it has work, and each page of a site may name a thousand new
ones of the same site (`workers/linked_hosts.py`). So a site has at most `frontier.hosts_per_site`;
URLs of further hosts are refused as `budget`. The first few of a page get a row; the rest is
counted and leaves no trace, or the rows would be the attack.

How many hosts a site has is estimated first: a table of 65,536 counters, chosen by the last two
labels of a name. It never says too few. Only where it says too many, the hosts are counted by their
sites, in one walk over all of them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from gossamer.frontier.rows import HostRow
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.site import last_labels, site_of

_CELLS: Final = 1 << 16
_RECORDED: Final = 20  # rows for the refused URLs of one page

SITE_IS_FULL: Final = "its site has frontier.hosts_per_site known hosts"


@dataclass(slots=True)
class PageHosts:
    """URLs of one page that were refused so far."""

    refused: int = 0
    dropped: int = 0  # of the refused, those that get no row
    is_nameless: bool = False  # nothing at all was known of the last host


class HostBudget:
    """Counts the hosts of sites."""

    def __init__(
        self, settings: FrontierSettings, all_rows: Callable[[], Iterable[HostRow]]
    ) -> None:
        """`all_rows` gives the rows of all known hosts; each was, or will be, told to `note`."""
        self._per_site = settings.hosts_per_site
        self._all_rows = all_rows
        self._cells = array("L", bytes(array("L").itemsize * _CELLS))
        self._sites: dict[str, Counter[str]] = {}  # exact, by the last two labels

    def note(self, host: str) -> None:
        """A URL of a host that had none is queued."""
        group = last_labels(host)
        self._cells[crc32(group.encode()) % _CELLS] += 1
        if group in self._sites:
            self._sites[group][site_of(host)] += 1

    def note_stored(self, row: HostRow) -> None:
        """The store knows a host."""
        if is_met(row):
            self.note(row.name)

    def forbids(self, host: str) -> str | None:
        """Why a new host may not be let in; None where it may."""
        group = last_labels(host)
        if self._cells[crc32(group.encode()) % _CELLS] < self._per_site:
            return None
        sites = self._sites.get(group)
        if sites is None:
            sites = self._sites[group] = self._count(group)
        return SITE_IS_FULL if sites[site_of(host)] >= self._per_site else None

    def is_recorded(self, page: PageHosts) -> bool:
        """Whether a URL that was just refused gets a row."""
        page.refused += 1
        if page.refused <= _RECORDED:
            return True
        page.dropped += 1
        return False

    def _count(self, group: str) -> Counter[str]:
        names = (row.name for row in self._all_rows() if is_met(row))
        return Counter(site_of(name) for name in names if last_labels(name) == group)


def is_met(row: HostRow) -> bool:
    """Whether a URL of the host was ever let in."""
    return row.known > row.refused
