"""Which sitemaps are still to be asked for?

robots.txt names them (`urls.sitemaps`), and indexes name more. Each is asked once in the life of a
collection, in turn with the pages of its host, paced and judged by robots.txt as they are; it
counts against no limit. Any host may be named, as sitemaps.org has it, and is asked only where a
link could lead to it: bans, ports and private addresses hold. Of hosts where the crawl has no
business a host may name a few, and those name nobody else: else an index of 50,000 names would send
a crawl of one host to as many strangers.

A row of the state for each (in META) says whether it is wanted or done. So no circle of indexes is
walked twice, and neither a stop nor a kill loses one. Until `open` has been called, which is when
recovery is over, rows are all there is; then each wanted one waits at its host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import msgpack

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import SITEMAP_PREFIX
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import Store, Table, walk
from gossamer.parse.documents.sitemap import MAX_BYTES
from gossamer.politeness.access import Access
from gossamer.records import Lease, Outcome, Purpose, Reason, Report
from gossamer.schedule.auxiliary import host_to_ask
from gossamer.schedule.host_queues import Host, SitemapFetch
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.urls.keys import Keys

_MAX_HOPS: Final = 5
_MAX_LEVEL: Final = 3  # sitemaps.org knows indexes of sitemaps, and no indexes of indexes
_TRIES: Final = 3
_NAMED_AT_ONCE: Final = 1000  # by one robots.txt
_ABROAD: Final = 50  # on hosts where the crawl has no business, by one host
_WAITING: Final = 50_000  # at all hosts: each index of a crawl of any host may name as many
_OUR_RULES: Final = frozenset({Reason.ROBOTS, Reason.PRIVATE, Reason.CONTACT})


class SitemapFetches:
    """The sitemaps of a collection that have been asked for, and those that have not."""

    def __init__(
        self,
        frontier: Frontier,
        settings: Settings,
        keys: Keys,
        host_of_key: Callable[[bytes], Host],
        place: Callable[[Host], None],
        may_ask: Callable[[str], bool],
        is_in_scope: Callable[[str], bool],
        on_decided: Callable[[UrlRow], None],
    ) -> None:
        """`place` puts a host where it belongs after it got work; `may_ask` judges a URL alone;
        `on_decided` hears of every sitemap that is not asked for in the end.
        """
        self._frontier = frontier
        self._keys = keys
        self._host = host_of_key
        self._place = place
        self._may_ask = may_ask
        self._is_in_scope = is_in_scope
        self._on_decided = on_decided
        self._form = NormalForm(settings.urls.query, settings.urls.session_parameters)
        self._per_host = settings.urls.sitemaps_per_host
        # Where no link is followed, nothing that a sitemap names would be asked.
        is_followed = settings.scope.kind != "page" and settings.scope.depth != 0
        self._choice = settings.urls.sitemaps if is_followed else "never"
        self._known: Counter[bytes] = Counter()  # by host
        self._abroad: Counter[str] = Counter()  # by the host that named them
        self._out: dict[int, SitemapFetch] = {}  # by number of the lease
        self._is_open = False
        self.waiting = 0  # at their hosts, not those under way

    def open(self, store: Store, *, is_changed: bool) -> None:
        """Begin with what the state knows. `is_changed`: the operator may want other sitemaps
        than before, so each robots.txt is looked at again.
        """
        self._is_open = True
        for key, row in walk(store, Table.META, SITEMAP_PREFIX, SITEMAP_PREFIX + b"\xff" * 17):
            errand, is_done = _decode(row)
            self._known[key[len(SITEMAP_PREFIX) :][:8]] += 1
            if self._is_abroad(errand):
                self._abroad[host_of(errand.via)] += 1
            if not is_done and self._choice != "never":
                self._queue(errand)
        if is_changed:
            for origin, row in walk(store, Table.ORIGIN, b"", None):
                self.named_by_robots(origin.decode(), Access.decode(row))

    def named_by_robots(self, origin: str, access: Access) -> None:
        """An origin's robots.txt has come: ask for the sitemaps it names."""
        if self._choice == "never" or access.is_denied_all:
            return
        robots = f"{origin}/robots.txt"
        if not self._is_at_home(robots):
            return
        named = access.robots.sitemaps[:_NAMED_AT_ONCE]
        if not named and self._choice == "always":
            named = ("/sitemap.xml",)
        for written in named:
            url = self._form.find(written, robots)
            if url is not None:
                self._want(SitemapFetch(url, robots))

    def want(self, urls: Iterable[str]) -> None:
        """Ask for sitemaps that the operator named, in an index that was imported."""
        for url in urls:
            self._want(SitemapFetch(url, ""))

    def lease(self, host: Host, number: int) -> Lease:
        """The first sitemap of a host, as a lease; it has one."""
        errand = self._out[number] = host.sitemaps.pop(0)
        self.waiting -= 1
        return Lease(
            number=number,
            url=errand.url,
            key=self._keys.of(errand.url),
            host=host.name,
            address=host.address,
            purpose=Purpose.SITEMAP,
            tries=errand.tries,
            redirects=errand.hops,
            via=errand.via,
            is_trusted=host.is_typed,
            must_be_public=host.must_be_public,
            max_body_bytes=MAX_BYTES,
        )

    def came_back(self, host: Host, lease: Lease) -> None:
        """The lease came to nothing: the sitemap is to be asked for again; the caller places."""
        host.sitemaps.append(self._out.pop(lease.number))
        self.waiting += 1

    def drop_first(self, host: Host, reason: Reason, detail: str, at_us: int) -> None:
        """The first sitemap of a host may not be asked for; the caller places the host."""
        self.waiting -= 1
        errand = host.sitemaps.pop(0)
        self._put(errand, is_done=True)
        standing = Standing.REFUSED if reason in _OUR_RULES else Standing.FAILED
        told = f"a sitemap: {detail}"
        self._on_decided(
            UrlRow(
                standing=standing, depth=0, url=errand.url, reason=reason, detail=told, at_us=at_us
            )
        )

    def abandon(self, host: Host, reason: Reason, detail: str, at_us: int) -> None:
        """Nothing of a host can be asked."""
        while host.sitemaps:
            self.drop_first(host, reason, detail, at_us)

    def learn(self, host: Host, report: Report) -> None:
        """A lease ended; the caller places its host."""
        errand = self._out.pop(report.lease.number)
        if report.outcome is Outcome.FAILED and errand.tries + 1 < _TRIES:
            again = replace(errand, tries=errand.tries + 1)
            self._put(again, is_done=False)
            host.sitemaps.append(again)
            self.waiting += 1
            return
        self._conclude(errand, report)

    def replay(self, report: Report) -> None:
        """An answer from the archive that was not committed before a kill."""
        row = self._frontier.pending.find(Table.META, SITEMAP_PREFIX + report.lease.key)
        lease = report.lease
        errand = _decode(row)[0] if row else SitemapFetch(lease.url, lease.via, lease.redirects)
        if report.outcome is not Outcome.FAILED:
            self._conclude(errand, report)

    def _conclude(self, errand: SitemapFetch, report: Report) -> None:
        self._put(errand, is_done=True)
        if report.redirect and errand.hops < _MAX_HOPS:
            self._want(replace(errand, url=report.redirect, hops=errand.hops + 1, tries=0))
        if errand.level < _MAX_LEVEL:
            for url in report.sitemaps:
                self._want(SitemapFetch(url, errand.url, level=errand.level + 1))

    def _want(self, errand: SitemapFetch) -> None:
        key = self._keys.of(errand.url)
        is_known = self._frontier.pending.find(Table.META, SITEMAP_PREFIX + key) is not None
        if is_known or self._is_full(errand, key[:8]) or not self._may_ask(errand.url):
            return
        if self._is_abroad(errand):
            by = host_of(errand.via)
            if self._abroad[by] >= _ABROAD or not self._is_at_home(errand.via):
                return
            self._abroad[by] += 1
        self._known[key[:8]] += 1
        self._put(errand, is_done=False)
        if self._is_open:
            self._queue(errand)

    def _is_full(self, errand: SitemapFetch, host_key: bytes) -> bool:
        """Whether so many are known of its host, or wait, that this one is let go."""
        is_crowded = self.waiting >= _WAITING and bool(errand.via)  # the operator's own all wait
        return is_crowded or self._known[host_key] >= self._per_host

    def _is_abroad(self, errand: SitemapFetch) -> bool:
        """Whether somebody else's document names it, and nothing else leads to its host."""
        is_named_there = not errand.via or host_of(errand.via) == host_of(errand.url)
        return not is_named_there and not self._is_at_home(errand.url)

    def _is_at_home(self, url: str) -> bool:
        """Whether the crawl has business at the host of a URL: scope, or a URL that was let in."""
        if self._is_in_scope(url):
            return True
        row = self._frontier.host(self._keys.host(host_of(url)))
        return row.known > row.refused

    def _queue(self, errand: SitemapFetch) -> None:
        host = host_to_ask(errand.url, self._frontier, self._keys, self._host)
        host.sitemaps.append(errand)
        self.waiting += 1
        self._place(host)

    def _put(self, errand: SitemapFetch, *, is_done: bool) -> None:
        row = (errand.url, errand.via, errand.hops, errand.level, errand.tries, is_done)
        key = SITEMAP_PREFIX + self._keys.of(errand.url)
        self._frontier.pending.put(Table.META, key, msgpack.packb(row))


def _decode(row: bytes) -> tuple[SitemapFetch, bool]:
    *values, is_done = msgpack.unpackb(row)
    return SitemapFetch(*values), is_done
