"""The changes that visits found, as rows of the table CHANGE: by time, or in order of commits.

Reading goes through the table in pieces, forwards or backwards, and stops at the limit: memory
does not grow with the number of changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from gossamer.base.clock import iso_of
from gossamer.frontier.meta_keys import CHANGES_KEY
from gossamer.frontier.rows import UrlRow, time_key, time_of
from gossamer.frontier.store import StateTable, Store
from gossamer.frontier.visits.change_rows import (
    ChangeRow,
    ChangesBegun,
    change_key,
    number_of,
    numbered_key,
)
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import ChangeKind
from gossamer.urls.canonical import host_of

_PIECE: Final = 1_000  # rows that are read at once
_TIME_BYTES: Final = 8
END_US: Final = 2**63

KINDS: Final = tuple(kind.value for kind in ChangeKind)


@dataclass(frozen=True, slots=True)
class SeenChange:
    """One change of one URL, with what is known of the URL now."""

    url: str
    at_us: int
    kind: ChangeKind
    title: str = ""
    title_before: str = ""  # empty where the title is the same
    words_added: int = 0
    words_removed: int = 0
    links_added: int = 0
    links_removed: int = 0
    status: int = 0
    status_before: int = 0
    target: str = ""  # URL of a page that moved
    before_us: int = 0  # of the capture that it was compared with; 0: there is none
    is_noise: bool = False  # nothing changed but what changes at every visit
    number: int = 0  # in the order of commits, from 1; 0: not looked up

    @property
    def at(self) -> str:
        return iso_of(self.at_us)

    def as_json(self) -> dict[str, Any]:
        """The change for programs: times as text, and no fields of our own."""
        values = asdict(self)
        del values["at_us"], values["before_us"], values["number"], values["is_noise"]
        before = iso_of(self.before_us) if self.before_us else None
        return {"at": self.at, **values, "before": before, "noise": self.is_noise}


@dataclass(frozen=True, slots=True)
class ChangesWanted:
    """Which changes are read. Times are `since_us` <= time < `until_us`."""

    since_us: int = 0
    until_us: int = END_US
    site: str = ""  # a host; its subdomains belong to it
    kinds: Collection[str] = KINDS
    with_noise: bool = False
    is_newest_first: bool = True

    def wants(self, row: ChangeRow) -> bool:
        return row.kind.value in self.kinds and (self.with_noise or not row.is_noise)

    def has_site(self, url: str) -> bool:
        host = host_of(url)
        return not self.site or host == self.site or host.endswith(f".{self.site}")


def changes(
    reader: CollectionReader, wanted: ChangesWanted | None = None, limit: int = 0
) -> Iterator[SeenChange]:
    """Yield changes, the newest first unless `wanted` says otherwise; `limit` 0 is all."""
    wanted = wanted or ChangesWanted()
    start, stop = time_key(max(0, wanted.since_us)), time_key(min(wanted.until_us, END_US))
    pieces = backwards if wanted.is_newest_first else _forwards
    count = 0
    for rows in pieces(reader.store, start, stop):
        decoded = [(at, ChangeRow.decode(row)) for at, row in rows]
        found = _with_urls(reader, [(at, row) for at, row in decoded if wanted.wants(row)])
        for change in found:
            if wanted.has_site(change.url):
                yield change
                count += 1
                if count == limit:
                    return


def changes_of(reader: CollectionReader, url: str) -> dict[int, SeenChange]:
    """All changes of a URL, noise too, by the times of their captures. Raises NotKnown."""
    row = reader.get(url)
    key = reader.keys.of(row.url)
    times = [capture.at_us for capture in reader.captures(row.url)]
    keys = [change_key(at_us, key) for at_us in times]
    found = reader.store.find_many(StateTable.CHANGE, keys)
    return {
        at_us: _seen(row, at_us, ChangeRow.decode(packed))
        for at_us, packed in zip(times, found, strict=True)
        if packed
    }


def last_number(reader: CollectionReader) -> int:
    """The number of the last change that is committed; 0: there is none."""
    return last_number_in(reader.store)


def last_number_in(store: Store) -> int:
    """The same for a store."""
    return ChangesBegun.decode(store.find(StateTable.META, CHANGES_KEY)).number


def changes_after(reader: CollectionReader, number: int, limit: int = _PIECE) -> list[SeenChange]:
    """The changes that were committed after the one with this number, noise too, at most `limit`.

    Each has its own number; pass the last one to the next call. None is left out, even if its visit
    began long before that of a change which was committed earlier.
    """
    return numbered_changes(reader.store, number + 1, END_US, limit)


def numbered_changes(store: Store, first: int, last: int, limit: int) -> list[SeenChange]:
    """The changes with first <= number < last, noise too, without those that were forgotten. At
    most `limit` numbers are looked up.
    """
    found = []
    for key, at in store.scan(StateTable.META, numbered_key(first), numbered_key(last), limit):
        packed = store.find(StateTable.CHANGE, at)
        row = store.find(StateTable.URL, at[_TIME_BYTES:])
        if packed is not None and row is not None:
            change = ChangeRow.decode(packed)
            found.append(_seen(UrlRow.decode(row), time_of(at), change, number_of(key)))
    return found


def backwards(store: Store, start: bytes, stop: bytes) -> Iterator[Sequence[tuple[bytes, bytes]]]:
    """Rows with start <= key < stop in pieces, the last row first.

    A store reads forwards only. So a range that has more rows than a piece is halved by time, the
    later half first.
    """
    ranges = [(time_of(start), time_of(stop))]
    while ranges:
        low, high = ranges.pop()
        if low >= high:
            continue
        rows = store.scan(StateTable.CHANGE, time_key(low), time_key(high), _PIECE + 1)
        if not rows:
            continue
        middle = (max(low, time_of(rows[0][0])) + high) // 2
        if len(rows) > _PIECE and low < middle < high:
            ranges += [(low, middle), (middle, high)]
        elif len(rows) > _PIECE:  # all of one microsecond
            yield [*_all(store, time_key(low), time_key(high))][::-1]
        else:
            yield rows[::-1]


def _forwards(store: Store, start: bytes, stop: bytes) -> Iterator[Sequence[tuple[bytes, bytes]]]:
    while rows := store.scan(StateTable.CHANGE, start, stop, _PIECE):
        yield rows
        start = rows[-1][0] + b"\0"


def _all(store: Store, start: bytes, stop: bytes) -> Iterator[tuple[bytes, bytes]]:
    for rows in _forwards(store, start, stop):
        yield from rows


def _with_urls(
    reader: CollectionReader, rows: Sequence[tuple[bytes, ChangeRow]]
) -> Iterator[SeenChange]:
    keys = [at[_TIME_BYTES:] for at, _ in rows]
    packed = reader.store.find_many(StateTable.URL, keys)
    for (at, row), url_row in zip(rows, packed, strict=True):
        if url_row is not None:
            yield _seen(UrlRow.decode(url_row), time_of(at), row)


def _seen(url_row: UrlRow, at_us: int, row: ChangeRow, number: int = 0) -> SeenChange:
    # A page that is gone or has moved keeps its name: that of the error page says nothing.
    keeps_name = row.kind in (ChangeKind.GONE, ChangeKind.MOVED) and bool(row.title_before)
    return SeenChange(
        url=url_row.url,
        at_us=at_us,
        kind=row.kind,
        title=row.title_before if keeps_name else url_row.title,
        title_before="" if keeps_name else row.title_before,
        words_added=row.words_added,
        words_removed=row.words_removed,
        links_added=row.links_added,
        links_removed=row.links_removed,
        status=row.status,
        status_before=row.status_before,
        target=row.target,
        before_us=row.before_us,
        is_noise=row.is_noise,
        number=number,
    )
