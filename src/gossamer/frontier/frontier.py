"""The frontier: which URLs are known, what has become of each, and which comes next.

The life of a URL:

    admit --> queued --> take --> (a lease is out) --> report --> fetched
      |          ^                                        |  |--> failed, for good
      |          +------ due, when its time has come <----+
      +--> refused, by a rule                             +----> refused, at the headers

A URL is admitted once, however often it is found; a refusal that depends on the path by which
it was found (`rows.LIFTABLE`) is judged again when it is found by another. Its queue entry stays
on disk until its outcome is committed, so nothing is lost with a lease.

All of it happens in memory (`pending.py`) until `begin_commit` hands over one batch, and
`end_commit` says that it is on disk. Only the node calls this, from one thread. It waits for
nothing and asks no clock: when a host may be asked is `schedule/scheduler.py`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from gossamer.frontier.captures import Captures
from gossamer.frontier.copies import Copies
from gossamer.frontier.counts import Counts
from gossamer.frontier.host_budget import HostBudget, PageHosts, is_met
from gossamer.frontier.host_shelf import HOST_BYTES, HostShelf
from gossamer.frontier.meta_keys import COUNTS_KEY, NUMBER_KEY
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import (
    JUDGED_ALONE,
    LIFTABLE,
    STANDING,
    CaptureRow,
    HostRow,
    QueueEntry,
    Standing,
    UrlRow,
    depth_of,
    learn,
    may_index,
    queued,
    refused,
    settled,
    standing_of,
    time_key,
    url_in,
)
from gossamer.frontier.store import Changes, Store, Table, walk
from gossamer.policies.order import Order, place_of
from gossamer.records import NAMED, Found, Outcome, Reason, Report
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.canonical import host_of

__all__ = ["HOST_BYTES", "Frontier", "Judge", "Refusal"]

Judge = Callable[[Found], tuple[Reason, str] | None]


class Refusal(NamedTuple):
    """A URL that was refused when it was found."""

    url: str
    reason: Reason
    detail: str
    depth: int
    at_us: int


_made: Final = tuple.__new__  # half the time of a call of `Refusal`
# To ask a class for its member takes as long as to use it.
_URL = Table.URL
_BUDGET = Reason.BUDGET
_REFUSED, _FOR_NOW = Standing.REFUSED, Standing.REFUSED_FOR_NOW
_FEW_KNOWN: Final = 100_000  # whose keys are held in memory, at 100 bytes each
_LISTED_AT_ONCE: Final = 1_000  # names of a sitemap that come at the same level of the order
_JUDGED_AT_ONCE: Final = 1_000  # some 10 ms
_JUDGED: Final = (Standing.QUEUED, Standing.REFUSED, Standing.REFUSED_FOR_NOW)


class Frontier:
    """All known URLs of one collection."""

    def __init__(
        self,
        store: Store,
        settings: FrontierSettings,
        judge: Judge,
        *,
        watch_depth: bool = False,
        on_refused: Callable[[list[Refusal]], None] | None = None,
        few_known: int = _FEW_KNOWN,
    ) -> None:
        """`watch_depth`: a depth limit holds, so a shorter path to a known URL matters.
        `on_refused` hears of all URLs that are refused when they are found. Of a new collection the
        first `few_known` keys are held in memory.
        """
        self._store = store
        self._settings = settings
        self._order: Order = settings.order
        self._judge = judge
        self._watch_depth = watch_depth
        self._on_refused = on_refused
        self.pending = Pending(store)
        self._captures = Captures(store, self.pending)
        self.counts = Counts.decode(store.find(Table.META, COUNTS_KEY))
        self._number = int.from_bytes(store.find(Table.META, NUMBER_KEY) or b"", "big")
        self._hosts = HostBudget(settings, self._host_rows)
        self._shelf = HostShelf(store, self.pending, settings.host_buffer, self._note_stored)
        self._awake = set(self._shelf.rows)
        self._shallower: list[bytes] = []
        self._later = 0  # levels by which what is being admitted comes later than its depth says
        self.waiting = sum(1 for _ in walk(store, Table.DUE))  # URLs that wait for their time
        self._few_known = few_known
        # All keys, while they are few: for one that is not among them the store is not asked.
        self._known: set[bytes] | None = None if store.scan(Table.URL, b"", None, 1) else set()
        is_empty = self._known is not None
        self._copies = Copies(store, self.pending, self.counts, is_empty=is_empty)

    # -- what is known

    def find(self, key: bytes) -> UrlRow | None:
        row = self.pending.find(Table.URL, key)
        return UrlRow.decode(row) if row else None

    def url_of(self, key: bytes) -> str:
        """The URL that a key names; empty where it is not known."""
        row = self.pending.find(Table.URL, key)
        return url_in(row) if row else ""

    def rows(self, limit: int) -> list[UrlRow]:
        """Some committed rows, for people."""
        return [UrlRow.decode(row) for _, row in self._store.scan(Table.URL, b"", None, limit)]

    def last_capture(self, key: bytes) -> CaptureRow | None:
        """The newest capture of a fetched URL, committed or not."""
        row = self.find(key)
        if row is None or row.standing != Standing.FETCHED:
            return None
        return self._captures.find(key, row.at_us)

    def host(self, host_key: bytes) -> HostRow:
        """The row of a host that has been admitted."""
        return self._shelf.row(host_key)

    def touch(self, host_key: bytes) -> HostRow:
        """The same row, to be changed: it is written with the next commit."""
        return self._shelf.touch(host_key)

    def troubled_hosts(self) -> Iterator[HostRow]:
        """Hosts that have work and a reason why they are not asked."""
        return self._shelf.troubled()

    def held_hosts(self) -> Iterator[tuple[bytes, HostRow]]:
        """Keys and rows of hosts that have work and are in trouble, or said that they are busy."""
        return self._shelf.held()

    # -- admitting

    def admit_listed(self, found: Iterable[Found], now_us: int) -> int:
        """The same for the names of a sitemap. Each further thousand comes a level later in the
        order, or 50,000 of them would come before all pages that others link to."""
        new, some = 0, iter(found)
        try:
            while few := list(islice(some, _LISTED_AT_ONCE)):
                new += self.admit(few, now_us)
                self._later += 1
        finally:
            self._later = 0
        return new

    def admit(self, found: Iterable[Found], now_us: int) -> int:
        """Take in what is new; the number of URLs that were not known before."""
        known, pending, new = self._known, self.pending, 0
        refusals: list[Refusal] = []
        page = PageHosts()
        for one in found:
            url, key, depth, _, _, _ = one
            if known is not None and key not in known:
                known.add(key)
            elif (row := pending.find(_URL, key)) is not None:
                self._found_again(one, row)
                continue
            new += 1
            host = self._shelf.touch(key[:HOST_BYTES])
            verdict = self._admit(one, now_us, host, page)
            if verdict is not None:
                reason, detail = verdict
                if reason is _BUDGET and self._is_dropped(one, host, page):
                    new -= 1
                    continue
                host.refused += 1
                standing = _FOR_NOW if reason in LIFTABLE else _REFUSED
                pending.urls[key] = refused(one, standing, reason, detail, now_us)
                refusals.append(_made(Refusal, (url, reason, detail, depth, now_us)))
        self.counts.known += new
        self.counts.dropped += page.dropped
        self._hold_few()
        if refusals:
            self._tell_of(refusals)
        return new

    def _tell_of(self, refusals: list[Refusal]) -> None:
        """URLs were refused when they were found, and have their rows."""
        self.counts.refused += len(refusals)
        for _, reason, _, _, _ in refusals:
            self.counts.count_reason(reason)
        if self._on_refused is not None:
            self._on_refused(refusals)

    def _hold_few(self) -> None:
        """Memory is bounded: where many are known, the store says which."""
        if self._known is not None and len(self._known) > self._few_known:
            self._known = None

    def _admit(
        self, found: Found, now_us: int, host: HostRow, page: PageHosts
    ) -> tuple[Reason, str] | None:
        """Queue a URL that was not known, unless a rule is against it; then that rule."""
        page.is_nameless = not host.name
        if page.is_nameless:
            host.name = host_of(found[0])
        is_new = host.known == host.refused
        host.known += 1
        verdict = self._judge(found)
        if verdict is not None:
            return verdict
        if is_new:
            is_free = not found.via or found.via == NAMED  # the operator named it
            full = None if is_free else self._hosts.forbids(host.name)
            if full is not None:
                return _BUDGET, full
            self._hosts.note(host.name)
        if host.known > self._settings.urls_per_host:
            return Reason.BUDGET, "the host has frontier.urls_per_host known URLs"
        self._enqueue(found, now_us, host)
        return None

    def _is_dropped(self, found: Found, host: HostRow, page: PageHosts) -> bool:
        """Whether a URL that was refused for its budget is only counted: no row, no host."""
        key = found.key
        if host.known - host.refused > 1:
            return False  # the budget of its host, not of its site
        if self._hosts.is_recorded(page):
            return False
        host.known -= 1
        if self._known is not None:
            self._known.discard(key)
        if page.is_nameless:
            self._shelf.drop_new(key[:HOST_BYTES])
        return True

    def _host_rows(self) -> Iterator[HostRow]:
        """All known hosts, as they are now."""
        rows = self._shelf.rows
        for key, packed in walk(self._store, Table.HOST):
            if key not in rows:
                yield HostRow.decode(packed)
        yield from list(rows.values())

    def _note_stored(self, row: HostRow) -> None:
        if is_met(row):
            self._hosts.note(row.name)

    def _found_again(self, found: Found, row: bytes) -> None:
        standing = standing_of(row)
        is_named = found.via == NAMED and standing == Standing.REFUSED
        if standing == Standing.REFUSED_FOR_NOW or is_named:
            old = UrlRow.decode(row)
            if old.reason in JUDGED_ALONE and self._judge(found) is None:
                self._lift(old, found)
        elif self._watch_depth and found.depth < depth_of(row) and self._judge(found) is None:
            self._come_nearer(found, UrlRow.decode(row))

    def _come_nearer(self, found: Found, row: UrlRow) -> None:
        """A shorter path to a known URL was found. One that is leased is not queued again: its
        report finds that the row says less than the lease."""
        key = found.key
        before, row.depth = row.depth, found.depth
        if row.standing == Standing.FETCHED:
            self._shallower.append(key)
            if not row.redirect:
                self.counts.count_depth(before, -1)
                self.counts.count_depth(row.depth)
        elif row.standing == Standing.QUEUED and not self._is_leased(row, key):
            row.via, row.redirects = found.via, found.redirects
            if row.place:
                self._move_entry(row, key, self._next_place(row.depth))
        self.pending.put(Table.URL, key, row.encode())

    def _is_leased(self, row: UrlRow, key: bytes) -> bool:
        return bool(row.place) and self._shelf.queue(key[:HOST_BYTES]).is_taken(row.place)

    def _move_entry(self, row: UrlRow, key: bytes, place: bytes) -> None:
        """Give a queued URL another place; the caller puts its row."""
        self._drop_entry(row, key)
        row.place = place
        self.counts.queued += 1
        self._add_entry(place, _entry_of(row, key))

    def judge_again(self, now_us: int) -> int:
        """The rules have changed: judge what they refused, and what is queued; how many moved.

        Only what was decided by the URL alone; robots.txt and headers have not changed.
        """
        moved = self.judge_pending(now_us)
        start: bytes | None = b""
        while start is not None:
            some, start = self.judge_some(start, now_us)
            moved += some
        return moved

    def judge_pending(self, now_us: int) -> int:
        """The same for what no commit has written yet; `judge_some` sees all else."""
        keys = self.pending.keys(Table.URL)
        return sum(self._judge_again(key, now_us) for key in keys)

    def judge_some(self, start: bytes, now_us: int) -> tuple[int, bytes | None]:
        """The same for some URLs from a key on: how many moved, and where to go on."""
        rows = self._store.scan(Table.URL, start, None, _JUDGED_AT_ONCE)
        moved = sum(self._judge_again(key, now_us) for key, _ in rows)
        return moved, rows[-1][0] + b"\0" if rows else None

    def _judge_again(self, key: bytes, now_us: int) -> bool:
        packed = self.pending.find(Table.URL, key)
        standing = standing_of(packed) if packed else Standing.FETCHED
        if packed is None or standing not in _JUDGED:
            return False
        row = UrlRow.decode(packed)
        if standing != Standing.QUEUED and row.reason not in JUDGED_ALONE:
            return False
        nofollow = row.reason == Reason.NOFOLLOW
        found = Found(row.url, key, row.depth, row.via, row.redirects, is_nofollow=nofollow)
        verdict = self._judge(found)
        if (verdict is None) == (standing == Standing.QUEUED):
            return False
        if verdict is None:
            self._lift(row, found)
        elif self._is_leased(row, key):
            return False  # it is being asked, and its report says how that ended
        else:
            after = self.refuse(key, *verdict, now_us)
            if self._on_refused is not None:
                self._on_refused([Refusal(after.url, *verdict, after.depth, now_us)])
        return True

    def _lift(self, row: UrlRow, found: Found) -> None:
        """A refused URL is queued after all; it may have been fetched before it was refused."""
        if self._captures.since(found.key, 0, 1):
            self._copies.doubt()
        self._uncount(row, found.key[:HOST_BYTES])
        self._enqueue(found, row.first_us)

    def retry(self, found: Iterable[Found]) -> int:
        """Queue those that failed for good once more, as if never requested; how many."""
        retried = 0
        for one in found:
            row = self.find(one.key)
            if row is None or row.standing != Standing.FAILED or self._judge(one) is not None:
                continue
            host = self._shelf.touch(one.key[:HOST_BYTES])
            host.faults, host.trouble, host.free_us = 0, "", 0
            self._lift(row, one)
            retried += 1
        return retried

    def take_shallower(self) -> list[bytes]:
        """Fetched URLs to which a shorter path was found: their links are nearer now, too."""
        keys, self._shallower = self._shallower, []
        return keys

    def _enqueue(self, found: Found, first_us: int, host: HostRow | None = None) -> None:
        """`host` is the row of its host, where it is at hand and was touched."""
        key = found[1]
        place = self._next_place(found[2] + self._later)
        self.pending.urls[key], entry = queued(found, place, first_us)
        self.counts.queued += 1
        self._put_entry(key[:HOST_BYTES], place, entry, host)

    def _add_entry(self, place: bytes, entry: QueueEntry) -> None:
        self._put_entry(entry[0][:HOST_BYTES], place, entry.encode())

    def _put_entry(
        self, host_key: bytes, place: bytes, row: bytes, host: HostRow | None = None
    ) -> None:
        queue = self._shelf.queue(host_key)
        if host is None:
            host = self._shelf.touch(host_key)
        host.queued += 1
        self.pending.queue[host_key + place] = row
        queue.add(place, row)
        self._awake.add(host_key)

    def _next_place(self, depth: int) -> bytes:
        self._number += 1
        return place_of(self._order, depth=depth, number=self._number)

    # -- handing out

    def take_awake(self) -> set[bytes]:
        """Hosts that got work since this was last asked."""
        awake, self._awake = self._awake, set()
        return awake

    def first_place(self, host_key: bytes) -> bytes | None:
        """The place of the entry that `take` would give."""
        first = self._shelf.queue(host_key).first(self._store, self.pending)
        return first[0] if first else None

    def peek(self, host_key: bytes) -> tuple[bytes, QueueEntry] | None:
        """The place and entry that `take` would give."""
        first = self._shelf.queue(host_key).first(self._store, self.pending)
        return (first[0], QueueEntry.decode(first[1])) if first else None

    def take(self, host_key: bytes) -> None:
        """Take what `peek` showed. It stays on disk until it is reported."""
        self._shelf.queue(host_key).take()

    def give_back(self, entry: QueueEntry) -> None:
        """A lease came to nothing: the entry is queued as before."""
        row = self.find(entry.key)
        if row is not None and row.place:
            self._shelf.queue(entry.key[:HOST_BYTES]).give_back(row.place, entry.encode())
            self._awake.add(entry.key[:HOST_BYTES])

    def drain(self, host_key: bytes) -> Iterator[QueueEntry]:
        """Take every entry of a host, each to be refused or failed by the caller at once."""
        while (first := self.peek(host_key)) is not None:
            self.take(host_key)
            yield first[1]

    # -- outcomes

    def refuse(self, key: bytes, reason: Reason, detail: str, at_us: int) -> UrlRow:
        """A queued URL is refused before asking."""
        row = self._leave_queue(key)
        self._refuse(row, key, reason, detail, at_us=at_us)
        self.pending.put(Table.URL, key, row.encode())
        return row

    def fail(
        self, key: bytes, reason: Reason, detail: str, at_us: int, *, tries: int = 0
    ) -> UrlRow:
        """A queued URL is given up without asking: its host cannot be reached, `tries` times."""
        row = self._leave_queue(key)
        row.tries = max(row.tries, tries, 1) - 1  # as of a lease: tries before the last one
        row.standing, row.reason, row.detail, row.at_us = Standing.FAILED, reason, detail, at_us
        self._count(row, key[:HOST_BYTES])
        self.pending.put(Table.URL, key, row.encode())
        return row

    def put_off(
        self, key: bytes, reason: Reason, detail: str, at_us: int, retry_us: int, *, tries: int
    ) -> None:
        """A queued URL waits for its time; its port could not be reached, `tries` times."""
        row = self._leave_queue(key)
        row.tries = max(row.tries, tries)
        row.reason, row.detail, row.at_us = reason, detail, at_us
        self._let_wait(row, key, retry_us)

    def report(self, report: Report, retry_us: int | None = None) -> bool:
        """Note how a lease ended. False when this very outcome was noted before (a replay).

        With `retry_us` it is not the end: the URL waits for that time.
        """
        key = report.lease.key
        packed = self.pending.find(_URL, key)
        if retry_us is None and packed and (rows := settled(packed, report)) is not None:
            if self._watch_depth and depth_of(packed) < report.lease.depth:
                self._shallower.append(key)
            self._settle_queued(rows, report)
            return True
        row = UrlRow.decode(packed) if packed else None
        is_first = row is None or row.standing == Standing.QUEUED
        if row is None:  # replay of an exchange whose admission was not committed
            row = UrlRow(standing=Standing.QUEUED, depth=report.lease.depth, url=report.lease.url)
            row.first_us = report.at_us
            if self._known is not None:
                self._known.add(key)
            host = self._shelf.touch(key[:HOST_BYTES])
            host.name = host.name or host_of(row.url)
            host.known += 1
            self.counts.known += 1
        elif row.standing == Standing.QUEUED:
            if row.at_us >= report.at_us and row.tries > report.lease.tries:
                return False
            self._leave(row, key)
        elif row.at_us >= report.at_us:
            return False
        else:
            self._uncount(row, key[:HOST_BYTES])
        if retry_us is not None:
            self._wait(row, report, retry_us)
        else:
            self._settle(row, report, is_first=is_first)
            if self._watch_depth and row.depth < report.lease.depth:
                self._shallower.append(key)
        return True

    def _settle_queued(self, rows: tuple[bytes, bytes, bytes], report: Report) -> None:
        """The end of nearly all leases: a row that has no past but its place, to be settled."""
        place, row, capture = rows
        key = report.lease.key
        host = self._drop_place(place, key[:HOST_BYTES])
        self.pending.urls[key] = row
        if not capture:
            self._sum(host, STANDING[report.outcome], report.reason or "")
            return
        self._captures.put_row(key, report.at_us, capture)
        self._copies.note(report, is_first=True)
        self._sum(
            host, Standing.FETCHED, "", report.status, is_redirect=bool(report.redirect),
            has_entry=may_index(report.status, report.robots), depth=depth_of(row),
        )  # fmt: skip
        self.counts.size_bytes += report.size_bytes
        host.size_bytes += report.size_bytes
        self.counts.links += report.out_links

    def bring(self, report: Report) -> bool:
        """Note what an imported archive tells; whether it is now the last that is known of its URL.

        Any answer says more than none. An older one than the last is a capture, too, and no more.
        """
        key = report.lease.key
        row = self.find(key)
        is_fetched = report.outcome is Outcome.FETCHED
        if row is None or not is_fetched:
            return row is None and self.report(report)
        is_first = row.standing == Standing.QUEUED
        if row.standing == Standing.FETCHED:
            if row.at_us >= report.at_us:
                if self.capture_at(key, report.at_us) is None:
                    self._put_capture(report, is_first=False)
                return False
            self._uncount(row, key[:HOST_BYTES])
        elif row.standing == Standing.QUEUED:
            self._leave(row, key)
        else:
            self._uncount(row, key[:HOST_BYTES])
        self._settle(row, report, is_first=is_first)
        return True

    def capture_at(self, key: bytes, at_us: int) -> CaptureRow | None:
        """The capture of a URL at one moment."""
        return self._captures.find(key, at_us)

    def captures(self, key: bytes, from_us: int, limit: int) -> list[tuple[int, CaptureRow]]:
        """Times and captures of a URL from a moment on, the oldest first."""
        return self._captures.since(key, from_us, limit)

    def _put_capture(self, report: Report, *, is_first: bool) -> None:
        self._captures.put(report)
        self._copies.note(report, is_first=is_first)
        self.counts.size_bytes += report.size_bytes
        self._shelf.touch(report.lease.key[:HOST_BYTES]).size_bytes += report.size_bytes

    def _settle(self, row: UrlRow, report: Report, *, is_first: bool) -> None:
        key = report.lease.key
        learn(row, report)
        self._count(row, key[:HOST_BYTES])
        self.pending.put(Table.URL, key, row.encode())
        if report.outcome == Outcome.FETCHED:
            self._put_capture(report, is_first=is_first)
            self.counts.links += report.out_links

    def _wait(self, row: UrlRow, report: Report, retry_us: int) -> None:
        row.tries, row.redirects = report.lease.tries + 1, report.lease.redirects
        row.at_us, row.reason, row.detail = report.at_us, report.reason or "", report.detail
        self._let_wait(row, report.lease.key, retry_us)

    def _let_wait(self, row: UrlRow, key: bytes, retry_us: int) -> None:
        row.standing, row.place, row.due_us = Standing.QUEUED, b"", retry_us
        self.counts.queued += 1
        self.waiting += 1
        self._shelf.touch(key[:HOST_BYTES]).waiting += 1
        self.pending.put(Table.URL, key, row.encode())
        self.pending.put(Table.DUE, time_key(retry_us) + key, b"")

    def wake_due(self, now_us: int, limit: int = 1000) -> int:
        """Queue the URLs whose time has come; how many. Sees what is committed."""
        woken = 0
        for due_key, _ in self._store.scan(Table.DUE, b"", time_key(now_us + 1), limit):
            if self.pending.is_deleted(Table.DUE, due_key):
                continue
            key = due_key[8:]
            row = self.find(key)
            self.pending.delete(Table.DUE, due_key)
            if row is None or row.standing != Standing.QUEUED or row.place:
                continue
            row.due_us = 0
            row.place = self._next_place(row.depth)
            self.pending.put(Table.URL, key, row.encode())
            self._shelf.touch(key[:HOST_BYTES]).waiting -= 1
            self.waiting -= 1
            self._add_entry(row.place, _entry_of(row, key))
            woken += 1
        return woken

    def next_due_us(self) -> int | None:
        """When the next waiting URL is due; None when none waits (or none is committed)."""
        first = self._store.scan(Table.DUE, b"", None, 1)
        return int.from_bytes(first[0][0][:8], "big") if first else None

    def waiting_urls(self, limit: int = 1000) -> Iterator[tuple[bytes, UrlRow]]:
        """Keys and rows of URLs that wait for their time, the next first; what is not committed
        comes last."""
        stored = [key for key, _ in self._store.scan(Table.DUE, b"", None, limit)]
        for due_key in dict.fromkeys([*stored, *self.pending.keys(Table.DUE)[:limit]]):
            if self.pending.is_deleted(Table.DUE, due_key):
                continue
            row = self.find(due_key[8:])
            if row is not None and row.standing == Standing.QUEUED and not row.place:
                yield due_key[8:], row

    def wait_until(self, key: bytes, retry_us: int) -> None:
        """A URL that waits for its time waits for another time."""
        row = self._leave_queue(key)
        self._let_wait(row, key, retry_us)

    def rescore(self, host_key: bytes, place_for: Callable[[QueueEntry], bytes]) -> int:
        """Give every queued entry of a host the place that `place_for` says; how many moved.

        No two entries may get the same place. What is leased stays as it is.
        """
        moved: list[tuple[UrlRow, QueueEntry, bytes]] = []
        for old, entry in self._free_entries(host_key):
            place = place_for(entry)
            row = self.find(entry.key) if place != old else None
            if row is not None and row.place == old:
                moved.append((row, entry, place))
        for row, entry, _ in moved:  # all leave before any comes: one may take another's place
            self._drop_entry(row, entry.key)
        for row, entry, place in moved:
            row.place = place
            self.counts.queued += 1
            self._add_entry(place, entry)
            self.pending.put(Table.URL, entry.key, row.encode())
        return len(moved)

    def _free_entries(self, host_key: bytes) -> Iterator[tuple[bytes, QueueEntry]]:
        """Places and entries of a host that are not taken, in their order."""
        queue = self._shelf.queue(host_key)
        stored = self._store.scan(Table.QUEUE, host_key, host_key + b"\xff" * 13, 2**62)
        rows = {key[HOST_BYTES:]: row for key, row in stored}
        rows.update(queue.fresh())
        for place, row in sorted(rows.items()):
            if not queue.is_taken(place):
                yield place, QueueEntry.decode(row)

    # -- committing

    def begin_commit(self) -> Changes:
        """Everything decided since the last time, as one batch to be written."""
        self._hold_few()
        self._shelf.begin()
        self.pending.put(Table.META, COUNTS_KEY, self.counts.encode())
        self.pending.put(Table.META, NUMBER_KEY, self._number.to_bytes(8, "big"))
        self._captures.begin()
        self._copies.begin()
        return self.pending.begin()

    def end_commit(self, changes: Changes) -> None:
        """What `begin_commit` gave is on disk."""
        self.pending.end()
        self._captures.end()
        self._shelf.end(changes, self._awake)

    def committed_counts(self) -> Counts:
        """The sums as they are on disk."""
        return Counts.decode(self._store.find(Table.META, COUNTS_KEY))

    def count_duplicates(self) -> None:
        """Count what is committed; the next commit writes the sum."""
        self.counts.duplicates = self._copies.count()

    # -- rows, queues and sums

    def _leave_queue(self, key: bytes) -> UrlRow:
        row = self.find(key)
        assert row is not None, "only a known URL leaves the queue"
        self._leave(row, key)
        return row

    def _leave(self, row: UrlRow, key: bytes) -> None:
        """The same for a row that is at hand; the caller puts it."""
        assert row.standing == Standing.QUEUED, f"{row.url} is {row.standing.name}"
        if row.place:
            self._drop_entry(row, key)
        else:
            self.pending.delete(Table.DUE, time_key(row.due_us) + key)
            self._shelf.touch(key[:HOST_BYTES]).waiting -= 1
            self.waiting -= 1
            self.counts.queued -= 1
        row.place, row.due_us = b"", 0

    def _drop_entry(self, row: UrlRow, key: bytes) -> None:
        self._drop_place(row.place, key[:HOST_BYTES])

    def _drop_place(self, place: bytes, host_key: bytes) -> HostRow:
        self._shelf.queue(host_key).drop(place)
        self.pending.queue[host_key + place] = None
        host = self._shelf.touch(host_key)
        host.queued -= 1
        self.counts.queued -= 1
        return host

    def _refuse(self, row: UrlRow, key: bytes, reason: Reason, detail: str, *, at_us: int) -> None:
        """A row gets its refusal; the caller puts it."""
        row.standing = _standing_refused(reason)
        row.reason, row.detail, row.at_us = reason, detail, at_us
        self._count(row, key[:HOST_BYTES])

    def _uncount(self, row: UrlRow, host_key: bytes) -> None:
        self._count(row, host_key, -1)

    def _count(self, row: UrlRow, host_key: bytes, step: int = 1) -> None:
        self._sum(
            self._shelf.touch(host_key), row.standing, row.reason, row.status, step,
            is_redirect=bool(row.redirect), has_entry=row.has_entry, depth=row.depth,
        )  # fmt: skip

    def _sum(
        self,
        host: HostRow,
        standing: Standing,
        reason: str,
        status: int = 0,
        step: int = 1,
        *,
        is_redirect: bool = False,
        has_entry: bool = False,
        depth: int = 0,
    ) -> None:
        counts = self.counts
        if standing is Standing.FETCHED:
            if is_redirect:
                counts.redirects += step
                host.redirects += step
            else:
                counts.fetched += step
                counts.count_depth(depth, step)
            counts.count_status(status, step)
            counts.indexed += step * has_entry
            host.fetched += step
        elif standing is Standing.QUEUED:
            counts.queued += step
        elif standing is Standing.FAILED:
            counts.failed += step
            host.failed += step
            counts.count_reason(reason, step)
        else:
            counts.refused += step
            host.refused += step
            counts.count_reason(reason, step)


def _standing_refused(reason: Reason) -> Standing:
    return Standing.REFUSED_FOR_NOW if reason in LIFTABLE else Standing.REFUSED


def _entry_of(row: UrlRow, key: bytes) -> QueueEntry:
    return QueueEntry(key, row.url, row.depth, row.tries, row.redirects, row.via)
