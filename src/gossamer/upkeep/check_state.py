"""Check that the state is consistent.

Every URL has one outcome. A queued URL is in exactly one of queue and due table. Sums match their
rows. URLs, captures and hosts are read side by side in key order, so memory holds the sums of one
host, however many URLs there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gossamer.errors import CorruptFile
from gossamer.frontier.counts import Counts
from gossamer.frontier.frontier import HOST_BYTES
from gossamer.frontier.rocks import REBUILD
from gossamer.frontier.rows import (
    CaptureRow,
    HostRow,
    QueueEntry,
    Standing,
    UrlRow,
    time_key,
    time_of,
)
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome, Reason
from gossamer.urls.keys import KEY_BYTES

_RESTORE = REBUILD
_QUEUES: Final = (
    (StateTable.QUEUE, Standing.QUEUED),
    (StateTable.VISIT, Standing.FETCHED),
)
_READ_AGAIN = (
    "the page is in the archive and other pages are not affected; please report a bug, and run "
    "`gossamer rebuild all` with a release that can read the page"
)
_REPORT = "please report a bug; the archive is not affected and can be imported again"


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a collection: where, what, and what to do."""

    where: str
    what: str
    todo: str


def problem_of(error: CorruptFile) -> Problem:
    """Turn a CorruptFile into a problem. The end of its message says what to do."""
    what, _, todo = error.found.rpartition("; ")
    where = f"{error.path}, byte {error.offset}" if error.offset else str(error.path)
    return Problem(where, what or error.found, todo if what else "restore it from a backup")


@dataclass(slots=True)
class Checked:
    """Counts of what was checked."""

    urls: int = 0
    hosts: int = 0
    captures: int = 0
    files: int = 0
    exchanges: int = 0
    parts: int = 0
    entries: int = 0  # of the index
    sums: int = 0  # files whose bytes were compared with their checksums
    unsure: list[str] = field(default_factory=list)  # what could not be checked, and why


@dataclass(slots=True)
class _Sums:
    """The sums of the rows."""

    counts: Counts = field(default_factory=Counts)
    fetched_rows: int = 0
    captures: int = 0


def state_problems(reader: CollectionReader, checked: Checked) -> Iterator[Problem]:
    """Yield every contradiction within the state."""
    sums = _Sums()
    yield from _url_problems(reader, sums, checked)
    yield from _sum_problems(reader, sums)
    yield from _queue_problems(reader)
    yield from _due_problems(reader)
    checked.captures = sums.captures


# -- URLs, their captures and hosts


def _url_problems(reader: CollectionReader, sums: _Sums, checked: Checked) -> Iterator[Problem]:
    captures = _Captures(reader)
    host_key, host = b"", HostRow("")
    for key, packed in reader.scan(StateTable.URL):
        try:
            row = UrlRow.decode(packed)
        except (ValueError, TypeError) as error:
            yield Problem(f"URL {key.hex()}", f"its row cannot be read ({error})", _RESTORE)
            continue
        if key[:HOST_BYTES] != host_key:
            yield from _host_problems(reader, host_key, host, checked)
            host_key, host = key[:HOST_BYTES], HostRow("")
        checked.urls += 1
        _add(sums, host, row)
        yield from _row_problems(reader, key, row)
        found = captures.take(key)
        yield from captures.orphans()
        sums.captures += len(found)
        size_bytes = sum(capture.size_bytes for capture in found.values())
        sums.counts.size_bytes += size_bytes
        host.size_bytes += size_bytes
        if row.outcome is Outcome.FETCHED and row.at_us not in found:
            what = "it is fetched, but the state has no capture of that time"
            yield Problem(row.url, what, _RESTORE)
    yield from _host_problems(reader, host_key, host, checked)
    captures.take(b"\xff" * (KEY_BYTES + 1))
    yield from captures.orphans()


class _Captures:
    """The capture table, read in parallel with the URL table."""

    def __init__(self, reader: CollectionReader) -> None:
        self._rows = reader.scan(StateTable.CAPTURE)
        self._next = next(self._rows, None)
        self._orphans: list[bytes] = []

    def take(self, key: bytes) -> dict[int, CaptureRow]:
        """Return the captures of a URL by time. Captures with smaller keys have no URL."""
        found: dict[int, CaptureRow] = {}
        while self._next is not None and self._next[0][:KEY_BYTES] <= key:
            at, packed = self._next
            if at[:KEY_BYTES] == key:
                found[time_of(at[KEY_BYTES:])] = CaptureRow.decode(packed)
            else:
                self._orphans.append(at)
            self._next = next(self._rows, None)
        return found

    def orphans(self) -> Iterator[Problem]:
        for at in self._orphans:
            what = "the capture belongs to an unknown URL"
            yield Problem(f"capture {at.hex()}", what, _RESTORE)
        self._orphans = []


def _row_problems(reader: CollectionReader, key: bytes, row: UrlRow) -> Iterator[Problem]:
    if reader.keys.of(row.url) != key:
        yield Problem(row.url, "it is stored under the key of another URL", _RESTORE)
    yield from _waiting_problems(reader, key, row)
    if row.outcome in (Outcome.FAILED, Outcome.REFUSED) and not row.reason:
        yield Problem(row.url, f"it is {row.outcome.value} , but has no reason", _REPORT)
    if row.outcome is Outcome.FAILED and row.reason == Reason.CRASH:
        yield Problem(row.url, f"the page could not be read: {row.detail}", _READ_AGAIN)
    if row.missed_reason == Reason.CRASH:
        yield Problem(row.url, f"the page could not be read: {row.missed_detail}", _READ_AGAIN)


def _waiting_problems(reader: CollectionReader, key: bytes, row: UrlRow) -> Iterator[Problem]:
    """Problems of a URL that waits to be requested, or should."""
    is_queued = row.standing == Standing.QUEUED
    if row.waits and not is_queued and row.standing != Standing.FETCHED:
        yield Problem(row.url, f"it is {row.outcome.value}, but still in a queue", _REPORT)
        return
    if row.place and row.due_us:
        yield Problem(row.url, "it is both in the queue and in the due table", _REPORT)
    if is_queued and not row.waits:
        yield Problem(row.url, "it is queued, but never due", _REPORT)
    if row.place:
        table = StateTable.QUEUE if is_queued else StateTable.VISIT
        entry = reader.store.find(table, key[:HOST_BYTES] + row.place)
        if entry is None or QueueEntry.decode(entry).key != key:
            yield Problem(row.url, "its queue entry belongs to another URL", _REPORT)
    due = reader.store.find(StateTable.DUE, time_key(row.due_us) + key) if row.due_us else b""
    if due is None:
        yield Problem(row.url, "it waits for a time that no queue contains", _REPORT)


def _add(sums: _Sums, host: HostRow, row: UrlRow) -> None:
    counts = sums.counts
    counts.known += 1
    host.known += 1
    match row.outcome:
        case Outcome.QUEUED:
            counts.queued += 1
            if row.place:
                host.queued += 1
            else:
                host.waiting += 1
        case Outcome.FETCHED:
            sums.fetched_rows += 1
            counts.links += row.out_links
            counts.count_status(row.status)
            counts.indexed += row.has_entry
            counts.revisits += row.waits
            host.visits += bool(row.place)
            host.waiting += bool(row.due_us)
            host.fetched += 1
            if row.redirect:
                counts.redirects += 1
            else:
                counts.fetched += 1
                counts.count_depth(row.depth)
        case Outcome.FAILED:
            counts.failed += 1
            host.failed += 1
            counts.count_reason(row.reason)
        case Outcome.REFUSED:
            counts.refused += 1
            host.refused += 1
            counts.count_reason(row.reason)


def _host_problems(
    reader: CollectionReader, host_key: bytes, summed: HostRow, checked: Checked
) -> Iterator[Problem]:
    if not host_key:
        return
    checked.hosts += 1
    packed = reader.store.find(StateTable.HOST, host_key)
    if packed is None:
        yield Problem(f"host {host_key.hex()}", "it has URLs, but no row", _RESTORE)
        return
    stored = HostRow.decode(packed)
    for name in (
        "known",
        "queued",
        "visits",
        "waiting",
        "fetched",
        "failed",
        "refused",
        "size_bytes",
    ):
        said, is_so = getattr(stored, name), getattr(summed, name)
        if said != is_so:
            what = f"its row says {said} {name}, but its URLs add up to {is_so}"
            yield Problem(f"host {stored.name}", what, _REPORT)


def _sum_problems(reader: CollectionReader, sums: _Sums) -> Iterator[Problem]:
    stored, summed = reader.counts(), sums.counts
    names = ["known", "queued", "fetched", "redirects", "failed", "refused", "size_bytes"]
    names.append("revisits")
    # Links of older captures are in no row, nor are those of pages that were visited and left.
    if sums.captures == sums.fetched_rows and not (stored.visits and stored.evicted):
        names.append("links")
    for name in names:
        said, is_so = getattr(stored, name), getattr(summed, name)
        if said != is_so:
            what = f"the state says {said} {name}, but the URLs add up to {is_so}"
            yield Problem("sums", what, _REPORT)
    of_each = ("by_reason", "by_status", *(("by_depth",) if stored.by_depth is not None else ()))
    for name in of_each:
        said_of, are = Counter(getattr(stored, name)), Counter(getattr(summed, name))
        for value in sorted({*said_of, *are}):
            if said_of[value] != are[value]:
                what = f"the state says {said_of[value]} with {value}, but there are {are[value]}"
                yield Problem("sums", what, _REPORT)


# -- queue and due table


def _queue_problems(reader: CollectionReader) -> Iterator[Problem]:
    for table, standing in _QUEUES:
        yield from _problems_of_queue(reader, table, standing)


def _problems_of_queue(
    reader: CollectionReader, table: StateTable, standing: Standing
) -> Iterator[Problem]:
    for at, packed in reader.scan(table):
        try:
            entry = QueueEntry.decode(packed)
        except (ValueError, TypeError) as error:
            yield Problem(f"queue {at.hex()}", f"the entry cannot be read ({error})", _RESTORE)
            continue
        row = reader.find_key(entry.key)
        if entry.key[:HOST_BYTES] != at[:HOST_BYTES]:
            yield Problem(entry.url, "it is in the queue of another host", _REPORT)
        elif row is None:
            yield Problem(entry.url, "it is in the queue, but unknown", _REPORT)
        elif row.standing != standing or row.place != at[HOST_BYTES:]:
            what = f"it is in the queue, but its row says {row.outcome.value} at another place"
            yield Problem(entry.url, what, _REPORT)


def _due_problems(reader: CollectionReader) -> Iterator[Problem]:
    for at, _ in reader.scan(StateTable.DUE):
        row = reader.find_key(at[8:])
        if row is None:
            yield Problem(f"due {at.hex()}", "it is in the due table, but unknown", _REPORT)
        elif row.place or row.due_us != time_of(at):
            yield Problem(row.url, "its time in the due table differs from its row", _REPORT)
