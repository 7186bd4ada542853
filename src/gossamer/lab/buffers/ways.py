"""The ways to keep duplicates out of the buffer of new URLs.

    adding, on disk      a link is looked up in RocksDB and put there when it is new
    adding, in memory    looked up in a hash table of new URLs, and in the store of those fetched;
                         when the table is full, new URLs are dropped
    taking, on disk      put on a queue without a lookup; looked up when its turn comes, and noted
                         then, or late: when it has been fetched
    ours                 the frontier itself, with its rows, hosts and counts

All but the one in memory are on RocksDB with rows as long as real ones, written in batches. Page
numbers stand for URLs; `page_url` names them.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.rows import QueueEntry, queued_row
from gossamer.frontier.store import StateTable
from gossamer.policies.order import make_key
from gossamer.records import Found, Lease, Outcome, Report, Stored
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.keys import Keys

_HOSTS: Final = 700  # the graph has no names; the real crawl had about so many hosts
_NOW_US: Final = 1_700_000_000_000_000
_SALT: Final = b"buffers compared"
_MEMORY_MB: Final = 96


def built(way: str, folder: Path) -> Buffer:
    """A buffer by its name; `adding, in memory, N` drops past N new URLs."""
    if way.startswith("adding, in memory"):
        return AddingInMemory(folder, int(way.rpartition(" ")[2]))
    if way.startswith("taking, on disk"):
        return TakingOnDisk(folder, is_late=way.endswith("late"))
    return Ours(folder) if way == "ours" else AddingOnDisk(folder)


class Buffer(Protocol):
    """New URLs that wait to be fetched. Page numbers stand for URLs; `page_url` names them."""

    def add(self, pages: Iterable[int]) -> None:
        """Links were found. What is known may be given again."""
        ...

    def take(self) -> int | None:
        """The next page to fetch, or None when there is none."""
        ...

    def fetched(self, page: int) -> None:
        """It was fetched, and its links come next."""
        ...

    def commit(self) -> None:
        """About a second has passed."""
        ...

    @property
    def waiting(self) -> int:
        """Entries in the queue, whatever they are worth."""
        ...


def page_url(page: int) -> str:
    return f"http://www{page % _HOSTS}.example.it/ricerca/{page // 1000}/pagina-{page}.html"


def key_of(page: int) -> bytes:
    """16 bytes, as long and as scattered as a real key."""
    return hashlib.blake2b(page.to_bytes(8, "big"), digest_size=16, key=_SALT).digest()


class AddingOnDisk:
    """Checked when added. The queue is a table, read in steps."""

    def __init__(self, folder: Path) -> None:
        self._store = RocksStore.open(folder, _MEMORY_MB)
        self._rows: dict[bytes, bytes | None] = {}
        self._queue: dict[bytes, bytes | None] = {}
        self._number = self._next = 0
        self._ready: deque[tuple[bytes, int]] = deque()

    def add(self, pages: Iterable[int]) -> None:
        for page in pages:
            key = key_of(page)
            if key in self._rows or self._store.find(StateTable.URL, key) is not None:
                continue
            place = make_key(0, self._number)
            self._number += 1
            url = page_url(page)
            self._rows[key] = queued_row(url, 0, place, b"", _NOW_US)
            self._queue[place] = _entry(key, url, page)

    def take(self) -> int | None:
        if not self._ready:
            self._read_on()
        if not self._ready:
            return None
        place, page = self._ready.popleft()
        self._queue[place] = None
        self._next += 1
        return page

    def _read_on(self) -> None:
        if self._number == self._next:
            return
        self.commit()
        start = make_key(0, self._next)
        rows = self._store.scan(StateTable.QUEUE, start, None, 1000)
        self._ready.extend((place, _page_in(row)) for place, row in rows)

    def fetched(self, page: int) -> None:
        """Its row says so with the next commit; for the buffer nothing changes."""

    def commit(self) -> None:
        self._store.write({StateTable.URL: self._rows, StateTable.QUEUE: self._queue})
        self._rows, self._queue = {}, {}

    @property
    def waiting(self) -> int:
        return self._number - self._next


class AddingInMemory:
    """Checked when added, in a table that holds new URLs only; past `most` they are dropped."""

    def __init__(self, folder: Path, most: int) -> None:
        self._store = RocksStore.open(folder, _MEMORY_MB)
        self._rows: dict[bytes, bytes | None] = {}
        self._most = most
        self._new: dict[str, int] = {}  # in the order in which they came
        self._asked: set[bytes] = set()  # taken, and not yet in the store

    def add(self, pages: Iterable[int]) -> None:
        for page in pages:
            url = page_url(page)
            if url in self._new or len(self._new) >= self._most:
                continue
            key = key_of(page)
            if key not in self._asked and self._store.find(StateTable.URL, key) is None:
                self._new[url] = page

    def take(self) -> int | None:
        if not self._new:
            return None
        url = next(iter(self._new))
        page = self._new.pop(url)
        key = key_of(page)
        self._asked.add(key)
        self._rows[key] = queued_row(url, 0, b"", b"", _NOW_US)
        return page

    def fetched(self, page: int) -> None:
        """Noted when it was taken."""

    def commit(self) -> None:
        self._store.write({StateTable.URL: self._rows})
        self._rows = {}
        self._asked.clear()

    @property
    def waiting(self) -> int:
        return len(self._new)


class TakingOnDisk:
    """Not checked before its turn: the queue holds every link that was ever found.

    `is_late`: what is taken is noted only when it has been fetched, as the store of fetched URLs
    alone would have it; then a page in flight can be taken again.
    """

    def __init__(self, folder: Path, *, is_late: bool = False) -> None:
        self._is_late = is_late
        self._store = RocksStore.open(folder, _MEMORY_MB)
        self._rows: dict[bytes, bytes | None] = {}
        self._queue: dict[bytes, bytes | None] = {}
        self._number = self._next = 0
        self._ready: deque[tuple[bytes, bytes, int]] = deque()

    def add(self, pages: Iterable[int]) -> None:
        for page in pages:
            place = make_key(0, self._number)
            self._number += 1
            self._queue[place] = _entry(key_of(page), page_url(page), page)

    def take(self) -> int | None:
        while True:
            if not self._ready:
                self._read_on()
            if not self._ready:
                return None
            place, key, page = self._ready.popleft()
            self._queue[place] = None
            self._next += 1
            if key not in self._rows and self._store.find(StateTable.URL, key) is None:
                if not self._is_late:
                    self._note(page, key)
                return page

    def _note(self, page: int, key: bytes) -> None:
        self._rows[key] = queued_row(page_url(page), 0, b"", b"", _NOW_US)

    def _read_on(self) -> None:
        if self._number == self._next:
            return
        self.commit()
        start = make_key(0, self._next)
        for place, row in self._store.scan(StateTable.QUEUE, start, None, 1000):
            entry = QueueEntry.decode(row)
            self._ready.append((place, entry.key, entry.depth))

    def fetched(self, page: int) -> None:
        if self._is_late:
            self._note(page, key_of(page))

    def commit(self) -> None:
        self._store.write({StateTable.URL: self._rows, StateTable.QUEUE: self._queue})
        self._rows, self._queue = {}, {}

    @property
    def waiting(self) -> int:
        return self._number - self._next


class Ours:
    """The frontier of this program; hosts take turns as they come."""

    def __init__(self, folder: Path) -> None:
        self._store = RocksStore.open(folder, _MEMORY_MB)
        settings = FrontierSettings()
        self._frontier = Frontier(self._store, settings, lambda _: None)
        self._keys = Keys(_SALT)
        self._hosts: deque[bytes] = deque()
        self._in_line: set[bytes] = set()
        self._out: dict[int, QueueEntry] = {}

    def add(self, pages: Iterable[int]) -> None:
        urls = map(page_url, pages)
        found = (Found(url, self._keys.of(url), 1) for url in urls)
        self._frontier.admit(found, _NOW_US)
        for host in self._frontier.take_awake():
            if host not in self._in_line:
                self._in_line.add(host)
                self._hosts.append(host)

    def take(self) -> int | None:
        while self._hosts:
            host = self._hosts.popleft()
            first = self._frontier.peek(host)
            if first is None:
                self._in_line.discard(host)
                continue
            self._frontier.take(host)
            self._hosts.append(host)
            page = int(first[1].url.rpartition("-")[2][:-5])
            self._out[page] = first[1]
            return page
        return None

    def fetched(self, page: int) -> None:
        entry = self._out.pop(page)
        lease = Lease(page, entry.url, entry.key, "", "", depth=1)
        stored = Stored("a.warc.gz", 0, 0, 1)
        report = Report(lease, Outcome.FETCHED, _NOW_US + 1, 0.01, stored, status=200)
        self._frontier.report(report)

    def commit(self) -> None:
        changes = self._frontier.begin_commit()
        self._store.write(changes)
        self._frontier.end_commit(changes)

    @property
    def waiting(self) -> int:
        return self._frontier.counts.queued


def _entry(key: bytes, url: str, page: int) -> bytes:
    return QueueEntry(key, url, page).encode()


def _page_in(row: bytes) -> int:
    return QueueEntry.decode(row).depth
