"""Copy the state without deleted pages.

Rows are copied into a new database, not deleted in the old one: RocksDB keeps deleted data in its
files until it merges them, and its list of files contains host names. The copy goes host by host,
because all tables of URLs have that order. Sums are counted again during the copy, so they match
the copied rows, and memory holds those of one host.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from gossamer.archive.rewrite import Moved
from gossamer.base.packing import pack, unpack
from gossamer.collection.starting_points import pack_points, unpack_points
from gossamer.errors import StoreError
from gossamer.frontier.counts import FOUND_BY_VISITS, OF_IMPORTANCE, Counts
from gossamer.frontier.duplicates.copying import copy_duplicates
from gossamer.frontier.meta_keys import (
    BANS_KEY,
    BODY_PREFIX,
    CHANGE_PREFIX,
    COPIES_KEY,
    COUNTS_KEY,
    FILE_PREFIX,
    FRESHNESS_KEY,
    LOG_KEY,
    LOG_SUM_KEY,
    NOISE_PREFIX,
    ORIGINS_KEY,
    POINTS_KEY,
    SEEDS_KEY,
    SETTINGS_KEY,
    SITEMAP_PREFIX,
    TRUST_KEY,
    TYPED_KEY,
    TYPED_NAME_PREFIX,
    YIELD_PREFIX,
)
from gossamer.frontier.rows import CaptureRow, HostRow, QueueEntry, SitemapRow, UrlRow
from gossamer.frontier.store import StateTable, Store, TableChanges, walk
from gossamer.frontier.visits.change_rows import ChangeRow
from gossamer.frontier.visits.freshness import Freshness
from gossamer.politeness.access import Access
from gossamer.records import Outcome
from gossamer.upkeep.forget_names import Cover, other_source
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import HALF_BYTES, KEY_BYTES
from gossamer.workers.process import LED_TO_FORGOTTEN

_BATCH_ROWS: Final = 5_000
# Written by the caller at the end; the next start writes the checksum of the log.
_OVERALL: Final = (COUNTS_KEY, LOG_KEY, LOG_SUM_KEY)


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of a state was deleted."""

    urls: int = 0
    captures: int = 0
    hosts: int = 0


class StateCopy:
    """One copy from `old`, which does not change, to `new`, which is empty."""

    def __init__(self, old: Store, new: Store, cover: Cover, moved: Mapping[str, Moved]) -> None:
        """`moved` has the new places of captures in rewritten WARC files."""
        self._old = old
        self.store = new
        self._batch = _Batch(new)
        self._cover = cover
        self.moved = moved
        self._before = Counts.decode(old.find(StateTable.META, COUNTS_KEY))
        self._links_before = 0
        names = (*FOUND_BY_VISITS, *OF_IMPORTANCE)  # no row has them
        self.counts = Counts(**{name: getattr(self._before, name) for name in names})
        self._urls = self._captures = self._hosts = 0

    def run(self, ends: Mapping[str, int]) -> Cut:
        """Copy every table; `ends` are the sizes of the WARC files. `finish` writes the sums and
        the length of the log. Raises StoreError when the state contradicts itself."""
        for host_key, packed in walk(self._old, StateTable.HOST):
            self._copy_host(host_key, HostRow.decode(packed))
        if self.counts.known + self._urls != self._before.known:
            raise StoreError(
                f"the state counts {self._before.known} URLs but holds "
                f"{self.counts.known + self._urls}; nothing was changed: run `gossamer verify`"
            )
        self.counts.links += self._before.links - self._links_before  # of older captures
        for key, packed in walk(self._old, StateTable.DUE):
            if not self._cover.has_key(key[8:]):
                self._batch.put(StateTable.DUE, key, packed)
        for key, packed in walk(self._old, StateTable.CHANGE):
            self._copy_change(key, packed)
        self.counts.duplicates = copy_duplicates(self._old, self._batch.put, self._cover.has_key)
        for key, packed in walk(self._old, StateTable.ORIGIN):
            self._copy_origin(key, packed)
        for key, packed in walk(self._old, StateTable.META):
            self._copy_meta(key, packed)
        for file, end in ends.items():
            self._batch.put(StateTable.META, FILE_PREFIX + file.encode(), end.to_bytes(8, "big"))
        self._batch.flush()
        return Cut(self._urls, self._captures, self._hosts)

    def amend(self, key: bytes, row: UrlRow, out_links: int) -> None:
        """Record that a page has lost links to deleted URLs."""
        self.counts.links += out_links - row.out_links
        self._batch.put(StateTable.URL, key, structs.replace(row, out_links=out_links).encode())

    def finish(self, log_bytes: int) -> None:
        """Write the sums and the length of the log. All is on the disk on return."""
        self._batch.flush()
        self._batch.put(StateTable.META, COUNTS_KEY, self.counts.encode())
        self._batch.put(StateTable.META, LOG_KEY, log_bytes.to_bytes(8, "big"))
        self._batch.flush()

    # -- hosts

    def _copy_host(self, host_key: bytes, host: HostRow) -> None:
        stop = _after(host_key)
        if self._cover.has_host_key(host_key):
            self._hosts += 1
            self._urls += sum(1 for _ in walk(self._old, StateTable.URL, host_key, stop))
            self._captures += sum(1 for _ in walk(self._old, StateTable.CAPTURE, host_key, stop))
            self._uncount_links(walk(self._old, StateTable.URL, host_key, stop))
            return
        summed = _without_sums(host)
        for key, packed in walk(self._old, StateTable.URL, host_key, stop):
            self._copy_url(key, packed, summed)
        for key, packed in walk(self._old, StateTable.CAPTURE, host_key, stop):
            self._copy_capture(key, packed, summed)
        for table in (StateTable.QUEUE, StateTable.VISIT):
            for key, packed in walk(self._old, table, host_key, stop):
                if not self._cover.has_key(QueueEntry.decode(packed).key):
                    self._batch.put(table, key, packed)
        self._batch.put(StateTable.HOST, host_key, summed.encode())

    def _uncount_links(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        self._links_before += sum(_links_of(UrlRow.decode(packed)) for _, packed in rows)

    def _copy_url(self, key: bytes, packed: bytes, host: HostRow) -> None:
        row = UrlRow.decode(packed)
        self._links_before += _links_of(row)
        if self._cover.has_key(key):
            self._urls += 1
            return
        if row.redirect and self._cover.covers(row.redirect):
            row.redirect, row.detail, row.out_links = "", LED_TO_FORGOTTEN, 0
            packed = row.encode()
        _add(self.counts, host, row)
        self._batch.put(StateTable.URL, key, packed)

    def _copy_capture(self, key: bytes, packed: bytes, host: HostRow) -> None:
        if self._cover.has_key(key[:KEY_BYTES]):
            self._captures += 1
            return
        row = CaptureRow.decode(packed)
        self.counts.size_bytes += row.size_bytes
        host.size_bytes += row.size_bytes
        if row.file in self.moved:
            offset, length = self.moved[row.file].place(row.offset, row.length)
            packed = structs.replace(row, offset=offset, length=length).encode()
        self._batch.put(StateTable.CAPTURE, key, packed)

    # -- what is not of hosts

    def _copy_change(self, key: bytes, packed: bytes) -> None:
        if self._cover.has_key(key[8:]):
            return
        row = ChangeRow.decode(packed)
        if row.target and self._cover.covers(row.target):
            packed = structs.replace(row, target="").encode()
        self._batch.put(StateTable.CHANGE, key, packed)

    def _copy_origin(self, key: bytes, packed: bytes) -> None:
        """robots.txt of other hosts may name sitemaps of a deleted one."""
        origin = key.decode()
        if self._cover.has_host(_host_of(origin)):
            return
        access = Access.decode(packed)
        named = access.robots.sitemaps
        kept = tuple(
            one for one in named if not self._cover.covers_link(one, f"{origin}/robots.txt")
        )
        if kept != tuple(named):
            packed = replace(access, robots=replace(access.robots, sitemaps=kept)).encode()
        self._batch.put(StateTable.ORIGIN, key, packed)

    def _copy_meta(self, key: bytes, packed: bytes) -> None:
        if key in _OVERALL or key.startswith((FILE_PREFIX, COPIES_KEY)):
            return
        copied = None if self._is_of_covered_page(key, packed) else self._meta(key, packed)
        if copied is not None:
            self._batch.put(StateTable.META, key, copied)

    def _meta(self, key: bytes, packed: bytes) -> bytes | None:
        """A row of META without what was deleted; None if nothing is left."""
        copied: bytes | None = packed
        if key.startswith(SITEMAP_PREFIX):
            copied = self._sitemap(packed)
        elif key == SEEDS_KEY:
            copied = pack(self._cover.seeds(unpack(packed)))
        elif key == POINTS_KEY:
            points = unpack_points(packed)
            copied = pack_points((), [one for one in points if not self._cover.covers(one.url)])
        elif key in (TYPED_KEY, BANS_KEY, TRUST_KEY):
            copied = pack(self._cover.texts(unpack(packed)))
        elif key == ORIGINS_KEY:
            origins = unpack(packed)
            copied = pack([o for o in origins if not self._cover.has_host(_host_of(o))])
        elif key.startswith(TYPED_NAME_PREFIX):
            is_covered = self._cover.has_host(key[len(TYPED_NAME_PREFIX) :].decode())
            copied = None if is_covered else packed
        elif key == SETTINGS_KEY:
            copied = pack(self._cover.values(unpack(packed)))
        elif key == FRESHNESS_KEY:
            copied = self._freshness(packed)
        return copied

    def _is_of_covered_page(self, key: bytes, packed: bytes) -> bool:
        """Whether a row of META says something of a deleted page, by its key alone."""
        if key.startswith(CHANGE_PREFIX):
            return self._cover.has_key(packed[8:])
        if key.startswith(BODY_PREFIX):
            return self._cover.has_key(packed[:KEY_BYTES])
        if key.startswith(YIELD_PREFIX):  # it has parts of URLs
            return self._cover.has_host_key(key[len(YIELD_PREFIX) :])
        if key.startswith(NOISE_PREFIX):
            start = len(NOISE_PREFIX)
            return self._cover.has_host_key(key[start : start + HALF_BYTES])
        return False

    def _freshness(self, packed: bytes) -> bytes:
        """The figures name hosts. The sums are of all hosts, and stay as they were measured."""
        figures = Freshness.decode(packed)
        sites = tuple(one for one in figures.sites if not self._cover.has_host(one.host))
        return structs.replace(figures, sites=sites).encode()

    def _sitemap(self, packed: bytes) -> bytes | None:
        row = SitemapRow.decode(packed)
        if self._cover.covers(row.url):
            return None
        if row.via and self._cover.covers(row.via):
            row = structs.replace(row, via=other_source(row.url))
        # Archive files were rewritten, so that the place of its version is not known any more.
        return structs.replace(row, previous=None).encode()


class _Batch:
    """Buffer rows and write them to a store, some thousand at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[StateTable, dict[bytes, bytes | None]] = {}
        self._count = 0

    def put(self, table: StateTable, key: bytes, row: bytes) -> None:
        self._rows.setdefault(table, {})[key] = row
        self._count += 1
        if self._count >= _BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        rows: TableChanges = self._rows
        self._rows, self._count = {}, 0
        if rows:
            self._store.write(rows)


def _host_of(origin: str) -> str:
    return host_of(f"{origin}/")


def _links_of(row: UrlRow) -> int:
    return row.out_links if row.outcome is Outcome.FETCHED else 0


def _without_sums(host: HostRow) -> HostRow:
    """Return a host row without the sums over its URLs."""
    return structs.replace(
        host,
        known=0,
        queued=0,
        fetched=0,
        failed=0,
        refused=0,
        size_bytes=0,
        waiting=0,
        redirects=0,
        visits=0,
    )


def _add(counts: Counts, host: HostRow, row: UrlRow) -> None:
    """Count a row in the same way as `frontier.py` counts outcomes."""
    counts.known += 1
    host.known += 1
    match row.outcome:
        case Outcome.QUEUED:
            counts.queued += 1
            host.queued += bool(row.place)
            host.waiting += not row.place
        case Outcome.FETCHED:
            counts.redirects += bool(row.redirect)
            counts.fetched += not row.redirect
            if not row.redirect:
                counts.count_depth(row.depth)
            counts.links += row.out_links
            counts.indexed += row.has_entry
            counts.count_status(row.status)
            host.fetched += 1
            host.redirects += bool(row.redirect)
            counts.revisits += row.waits
            host.visits += bool(row.place)
            host.waiting += bool(row.due_us)
        case Outcome.FAILED:
            counts.failed += 1
            counts.count_reason(row.reason)
            host.failed += 1
        case Outcome.REFUSED:
            counts.refused += 1
            counts.count_reason(row.reason)
            host.refused += 1


def _after(prefix: bytes) -> bytes | None:
    """Return the first key after all keys with a prefix."""
    number = int.from_bytes(prefix, "big") + 1
    return None if number >> 8 * len(prefix) else number.to_bytes(len(prefix), "big")
