"""The budgets of sites: what all hosts of a registrable domain waste together.

A trap can give itself a new host for each page. Each of them has a budget of its own, all of them
share that of their site. The row of a site is written once it has wasted a request.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gossamer.base.packing import pack, unpacker
from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.meta_keys import SITE_YIELD_PREFIX
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.policies.traps.earned import SiteYield, note_linking, site_key
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

_MOST_SITES: Final = 20_000  # in memory, some 300 bytes each
_MOST_NAMES: Final = 100_000  # of hosts
_META: Final = StateTable.META
_after_prefix: Final = SITE_YIELD_PREFIX[:-1] + bytes([SITE_YIELD_PREFIX[-1] + 1])
_unpack: Final = unpacker(SiteYield)


class SiteBudgets:
    """The sites of a collection. `base` 0: sites have no limit."""

    def __init__(self, pending: Pending, base: int) -> None:
        self._pending = pending
        self.base = base
        self._names: dict[bytes, bytes] = {}  # keys of sites, by host
        self._sites: dict[bytes, SiteYield] = {}
        self._dirty: set[bytes] = set()

    def key_of(self, host_key: bytes, url: str) -> bytes:
        """The key of the site of a URL."""
        found = self._names.get(host_key)
        if found is None:
            if len(self._names) >= _MOST_NAMES:
                self._names.clear()
            name = site_of(host_of(url))
            found = self._names[host_key] = site_key(name)
            self._site(found).name = name
        return found

    def _site(self, key: bytes) -> SiteYield:
        known = self._sites.get(key)
        if known is None:
            if len(self._sites) >= _MOST_SITES:
                self._forget()
            packed = self._pending.find(_META, SITE_YIELD_PREFIX + key)
            known = self._sites[key] = _unpack(packed) if packed else SiteYield()
        return known

    def _forget(self) -> None:
        """Drop the older half; those with a row are read again when they matter."""
        for key in list(self._sites)[: _MOST_SITES // 2]:
            if key not in self._dirty:
                del self._sites[key]

    def begin(self) -> None:
        """A commit begins: write the sites that have changed."""
        for key in self._dirty:
            row: bytes = pack(self._sites[key])
            self._pending.put(_META, SITE_YIELD_PREFIX + key, row)
        self._dirty.clear()

    def spent(self, host_key: bytes, url: str) -> SiteYield | None:
        """The site of a URL, if it has spent its budget."""
        if not self.base:
            return None
        site = self._site(self.key_of(host_key, url))
        return site if site.is_spent else None

    def learn(
        self, host_key: bytes, url: str, *, is_news: bool, is_wasted: bool, had_level: bool
    ) -> bool:
        """A page was fetched; whether refusals are withdrawn by that."""
        key = self.key_of(host_key, url)
        site = self._site(key)
        is_withdrawn = site.learn(
            self.base or 1 << 60, is_news=is_news, is_wasted=is_wasted, had_level=had_level
        )
        if site.wasted:
            site.name = site.name or site_of(host_of(url))
            self._dirty.add(key)
        return is_withdrawn

    def note_relevant(self, host_key: bytes, url: str) -> None:
        """A page is relevant to the topic of the crawl."""
        self._site(self.key_of(host_key, url)).relevant += 1

    def note_linking(self, key: bytes, url: str, via: bytes) -> bytes:
        """A page of another host links to a URL. The key of the site that links, empty if it is the
        same site."""
        own = self.key_of(key[:HOST_BYTES], url)
        other = self._names.get(via[:HOST_BYTES], via[:HOST_BYTES])
        if other == own:
            return b""
        note_linking(self._site(own).linking, other)
        return other


def stored_sites(store: Store) -> Iterator[SiteYield]:
    """What is known of the sites that wasted requests."""
    for _, packed in walk(store, _META, SITE_YIELD_PREFIX, _after_prefix):
        yield _unpack(packed)
