"""Sitemaps: which are still to be fetched?

robots.txt names them (`urls.sitemaps`), and indexes name more. Each is fetched once in the life of
a collection, or from time to time in a crawl that runs without end (`again`). They take turns with
the pages of their host, with the same politeness and under the same rules of robots.txt, and count
against no limit. A sitemap may be on any host, as sitemaps.org has it. It is fetched only where a
link could lead to it: bans, ports and private addresses hold. On hosts that the crawl has no other
reason to visit, one host may name a few sitemaps, and those name no others: else an index of 50,000
names would send a crawl of one host to as many strangers.

A sitemap that was read before is requested with conditions (ETag, Last-Modified). If it is as
before, the archive gets a revisit record. In a crawl that runs without end the first request of a
run has no conditions, because the hints of `node/visits/hints.py` compare lists in memory. After a
failure no conditions are sent either.

A row of the state for each (in META) says whether it is wanted or done, and which version is
stored. So no circle of indexes is followed twice, and neither a stop nor a kill loses one. Before
`open`, which is called when recovery is over, there are only rows; after it each wanted sitemap
waits at its host.

Nothing here moves a host: each method returns the hosts that it changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import structs

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import SITEMAP_PREFIX
from gossamer.frontier.rows import SitemapRow, Standing, UrlRow
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.parse.documents.sitemap import MAX_BYTES
from gossamer.politeness.access import Access
from gossamer.records import Lease, Outcome, Previous, Purpose, Reason, Report
from gossamer.schedule.host import Host, SitemapFetch
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.rules import CrawlRules
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, host_of, origin_of

_MAX_HOPS: Final = 5
_MAX_LEVEL: Final = 3  # sitemaps.org knows indexes of sitemaps, and no indexes of indexes
_TRIES: Final = 3
_NAMED_AT_ONCE: Final = 1000  # by one robots.txt
_ABROAD: Final = 50  # on hosts that the crawl has no other reason to visit, by one host
_WAITING: Final = 50_000  # at all hosts: each index of a crawl of any host may name as many
_OUR_RULES: Final = frozenset({Reason.ROBOTS, Reason.PRIVATE, Reason.CONTACT})


class SitemapFetches:
    """The sitemaps of a collection that have been fetched, and those that have not."""

    def __init__(
        self,
        frontier: Frontier,
        settings: Settings,
        rules: CrawlRules,
        hosts: HostCache,
        on_decided: Callable[[UrlRow], None],
    ) -> None:
        """`on_decided` is told of every sitemap that is not fetched in the end."""
        self._frontier = frontier
        self._keys = rules.keys
        self._may_request = rules.may_request_sitemap
        self._is_in_scope = rules.is_in_scope
        self._hosts = hosts
        self._on_decided = on_decided
        self._form = NormalForm(settings.urls.query, settings.urls.session_parameters)
        self._per_host = settings.urls.sitemaps_per_host
        # Where no link is followed, nothing that a sitemap names would be requested.
        is_followed = settings.scope.kind != "page" and settings.scope.depth != 0
        self._choice = settings.urls.sitemaps if is_followed else "never"
        self._known: Counter[bytes] = Counter()  # by host
        self._abroad: Counter[str] = Counter()  # by the host that named them
        self._in_flight: dict[int, SitemapFetch] = {}  # by number of the lease
        self._is_open = False
        self._is_conditional = True
        self._needs_lists = False
        self._read: set[bytes] = set()  # keys of the sitemaps that were read whole in this run
        self.waiting = 0  # sitemaps to request, without those in flight

    def open(self, store: Store, *, is_changed: bool) -> list[Host]:
        """Begin with what the state knows. `is_changed`: the operator may want other sitemaps
        than before, so each robots.txt is looked at again.
        """
        self._is_open = True
        self._is_conditional = not is_changed  # more of what they list may be wanted now
        changed: list[Host] = []
        for key, row in walk(store, StateTable.META, SITEMAP_PREFIX, SITEMAP_PREFIX + b"\xff" * 17):
            fetch, is_done = _decode(row)
            self._known[key[len(SITEMAP_PREFIX) :][:8]] += 1
            if self._is_abroad(fetch):
                self._abroad[host_of(fetch.via)] += 1
            if not is_done and self._choice != "never":
                changed.append(self._queue(fetch))
        if is_changed:
            for origin, row in walk(store, StateTable.ORIGIN, b"", None):
                changed += self.named_by_robots(origin.decode(), Access.decode(row))
        return changed

    def named_by_robots(self, origin: str, access: Access) -> list[Host]:
        """The robots.txt of an origin has come: fetch the sitemaps that it names."""
        if self._choice == "never" or access.is_denied_all:
            return []
        robots = f"{origin}/robots.txt"
        if not self._has_business_at(robots):
            return []
        named = access.robots.sitemaps[:_NAMED_AT_ONCE]
        if not named and self._choice == "always":
            named = ("/sitemap.xml",)
        urls = (self._form.find(written, robots) for written in named)
        return self._want_all(SitemapFetch(url, robots) for url in urls if url is not None)

    def again(self, store: Store, *, needs_lists: bool = False) -> list[Host]:
        """Fetch all sitemaps that were fetched before once more. `needs_lists`: what one lists is
        needed once in this run, even if it is as before."""
        self._needs_lists = needs_lists
        changed: list[Host] = []
        if self._choice == "never":
            return changed
        rows = walk(store, StateTable.META, SITEMAP_PREFIX, SITEMAP_PREFIX + b"\xff" * 17)
        for key, _ in list(rows):
            row = self._frontier.pending.find(StateTable.META, key)
            fetch, is_done = _decode(row) if row is not None else (None, False)
            if fetch is not None and is_done and self.waiting < _WAITING:
                fetch = fetch._replace(tries=0)
                self._put(fetch, is_done=False)
                changed.append(self._queue(fetch))
        return changed

    def want(self, urls: Iterable[str]) -> list[Host]:
        """Fetch sitemaps that the operator named, in an index that was imported."""
        return self._want_all(SitemapFetch(url, "") for url in urls)

    def lease(self, host: Host, number: int, secret_origins: frozenset[str]) -> Lease:
        """The first sitemap of a host, as a lease; it has one. `secret_origins` may be sent the
        operator's secrets."""
        fetch = self._in_flight[number] = host.sitemap_taken()
        self.waiting -= 1
        key = self._keys.of(fetch.url)
        return Lease(
            number=number,
            url=fetch.url,
            key=key,
            host=host.name,
            address=host.address,
            purpose=Purpose.SITEMAP,
            tries=fetch.tries,
            redirects=fetch.hops,
            via=fetch.via,
            is_trusted=host.is_typed,
            gets_secrets=host.is_typed and origin_of(fetch.url) in secret_origins,
            must_be_public=host.must_be_public,
            max_body_bytes=MAX_BYTES,
            previous=self._previous(fetch, key),
        )

    def _previous(self, fetch: SitemapFetch, key: bytes) -> Previous | None:
        """The stored version that a lease compares with; without conditions if the list itself is
        needed."""
        if fetch.previous is None or fetch.tries or not self._is_conditional:
            return None
        if self._needs_lists and key not in self._read:
            return structs.replace(fetch.previous, etag="", modified_at="")
        return fetch.previous

    def came_back(self, host: Host, lease: Lease) -> None:
        """The lease was not carried out: the sitemap is to be fetched again."""
        host.sitemap_added(self._in_flight.pop(lease.number))
        self.waiting += 1

    def drop_first(self, host: Host, reason: Reason, detail: str, at_us: int) -> None:
        """The first sitemap of a host may not be fetched."""
        self.waiting -= 1
        fetch = host.sitemap_taken()
        self._put(fetch, is_done=True)
        standing = Standing.REFUSED if reason in _OUR_RULES else Standing.FAILED
        told = f"a sitemap: {detail}"
        self._on_decided(
            UrlRow(
                standing=standing, depth=0, url=fetch.url, reason=reason, detail=told, at_us=at_us
            )
        )

    def abandon(self, host: Host, reason: Reason, detail: str, at_us: int) -> None:
        """Nothing of a host can be requested."""
        while host.sitemaps:
            self.drop_first(host, reason, detail, at_us)

    def learn(self, host: Host, report: Report) -> list[Host]:
        """A fetch ended."""
        fetch = self._in_flight.pop(report.lease.number)
        if report.outcome is Outcome.FAILED and fetch.tries + 1 < _TRIES:
            again = fetch._replace(tries=fetch.tries + 1)
            self._put(again, is_done=False)
            host.sitemap_added(again)
            self.waiting += 1
            return []
        return self._conclude(fetch, report)

    def replay(self, report: Report) -> list[Host]:
        """An answer from the archive that was not committed before a kill."""
        row = self._frontier.pending.find(StateTable.META, SITEMAP_PREFIX + report.lease.key)
        lease = report.lease
        fetch = _decode(row)[0] if row else SitemapFetch(lease.url, lease.via, lease.redirects)
        return [] if report.outcome is Outcome.FAILED else self._conclude(fetch, report)

    def _conclude(self, fetch: SitemapFetch, report: Report) -> list[Host]:
        is_crowded = bool(report.sitemaps) and self.waiting >= _WAITING  # some are dropped now
        previous = None if is_crowded else _version(fetch.previous, report)
        fetch = fetch._replace(previous=previous)
        self._put(fetch, is_done=True)
        if fetch.previous is not None:
            self._read.add(report.lease.key)
        more: list[SitemapFetch] = []
        if report.redirect and fetch.hops < _MAX_HOPS:
            more.append(
                fetch._replace(url=report.redirect, hops=fetch.hops + 1, tries=0, previous=None)
            )
        if fetch.level < _MAX_LEVEL:
            level = fetch.level + 1
            more += (SitemapFetch(url, fetch.url, level=level) for url in report.sitemaps)
        return self._want_all(more)

    def _want_all(self, fetches: Iterable[SitemapFetch]) -> list[Host]:
        wanted = (self._want(fetch) for fetch in fetches)
        return [host for host in wanted if host is not None]

    def _want(self, fetch: SitemapFetch) -> Host | None:
        """Note a sitemap to be fetched. The host that it waits at now; None if there is none."""
        key = self._keys.of(fetch.url)
        is_known = self._frontier.pending.find(StateTable.META, SITEMAP_PREFIX + key) is not None
        if is_known or self._is_full(fetch, key[:8]) or not self._may_request(fetch.url):
            return None
        if self._is_abroad(fetch):
            by = host_of(fetch.via)
            if self._abroad[by] >= _ABROAD or not self._has_business_at(fetch.via):
                return None
            self._abroad[by] += 1
        self._known[key[:8]] += 1
        self._put(fetch, is_done=False)
        return self._queue(fetch) if self._is_open else None

    def _is_full(self, fetch: SitemapFetch, host_key: bytes) -> bool:
        """Whether so many are known of its host, or wait, that this one is dropped."""
        is_crowded = self.waiting >= _WAITING and bool(fetch.via)  # the operator's own all wait
        return is_crowded or self._known[host_key] >= self._per_host

    def _is_abroad(self, fetch: SitemapFetch) -> bool:
        """Whether a document of another host names it, and nothing else leads to its host."""
        is_named_there = not fetch.via or host_of(fetch.via) == host_of(fetch.url)
        return not is_named_there and not self._has_business_at(fetch.url)

    def _has_business_at(self, url: str) -> bool:
        """Whether the crawl visits the host of a URL: by scope, or by a URL that was admitted."""
        if self._is_in_scope(url):
            return True
        row = self._frontier.host(self._keys.host(host_of(url)))
        return row.known > row.refused

    def _queue(self, fetch: SitemapFetch) -> Host:
        host = self._hosts.host_for(fetch.url)
        host.sitemap_added(fetch)
        self.waiting += 1
        return host

    def _put(self, fetch: SitemapFetch, *, is_done: bool) -> None:
        row = SitemapRow(*fetch[:-1], is_done, fetch.previous)
        key = SITEMAP_PREFIX + self._keys.of(fetch.url)
        self._frontier.pending.put(StateTable.META, key, row.encode())


def _decode(row: bytes) -> tuple[SitemapFetch, bool]:
    stored = SitemapRow.decode(row)
    fetch = SitemapFetch(
        stored.url, stored.via, stored.hops, stored.level, stored.tries, stored.previous
    )
    return fetch, stored.is_done


def _version(before: Previous | None, report: Report) -> Previous | None:
    """The stored version after a fetch; None if the next one must bring the whole sitemap. One with
    a fault is never compared with: a later version of this program may read more of it."""
    if report.is_unchanged and before is not None:
        etag, modified_at = report.etag or before.etag, report.modified_at or before.modified_at
        return structs.replace(before, etag=etag, modified_at=modified_at)
    is_whole = report.outcome is Outcome.FETCHED and report.status == 200 and not report.is_cut
    if not is_whole or report.detail or not report.digest:
        return None
    return Previous(
        report.at_us, report.digest, report.status, report.etag, report.modified_at,
        report.stored.file, report.stored.response,
    )  # fmt: skip
