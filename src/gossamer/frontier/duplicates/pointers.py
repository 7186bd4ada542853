"""Which page is a duplicate of which: the table DUPLICATE.

    key of the duplicate         -> DuplicateRow, which names the first page
    key of the first + the other -> the moment when the other was fetched

So the first page of a duplicate is one lookup, and the duplicates of a page are one scan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import DUPLICATES_KEY
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import DuplicateRow, time_key, time_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.urls.keys import KEY_BYTES


class Fetch(NamedTuple):
    """A page and the moment when it was fetched; they sort by the moment."""

    at_us: int
    key: bytes

    @classmethod
    def decode(cls, row: bytes) -> Fetch:
        """Read what `encode` gave."""
        return cls(time_of(row), row[8:])

    def encode(self) -> bytes:
        return time_key(self.at_us) + self.key


class Pointers:
    """The pointers of one collection, with their uncommitted changes."""

    def __init__(self, store: Store, pending: Pending, counts: Counts) -> None:
        self._store = store
        self._pending = pending
        self._counts = counts

    def find(self, key: bytes) -> DuplicateRow | None:
        """The row of a duplicate; None for a page that is none."""
        row = self._pending.find(StateTable.DUPLICATE, key)
        return DuplicateRow.decode(row) if row else None

    def point(self, page: Fetch, row: DuplicateRow) -> None:
        """Make a page a duplicate of another, or of another than before."""
        self.remove(page.key)
        self._counts.duplicates += 1
        self._pending.put(StateTable.DUPLICATE, page.key, row.encode())
        self._pending.put(StateTable.DUPLICATE, row.first + page.key, time_key(page.at_us))

    def remove(self, key: bytes) -> bool:
        """A page is no duplicate any more. False where it was none."""
        row = self.find(key)
        if row is None:
            return False
        self._counts.duplicates -= 1
        self._pending.delete(StateTable.DUPLICATE, key)
        self._pending.delete(StateTable.DUPLICATE, row.first + key)
        return True

    def others(self, first: bytes) -> list[Fetch]:
        """The duplicates of a page, those fetched first before the others."""
        rows: dict[bytes, bytes | None] = dict(_others_of(self._store, first))
        for name in self._pending.keys(StateTable.DUPLICATE):
            if len(name) > KEY_BYTES and name.startswith(first):
                rows[name] = self._pending.find(StateTable.DUPLICATE, name)
        return sorted(
            Fetch(time_of(moment), name[KEY_BYTES:]) for name, moment in rows.items() if moment
        )


def has_duplicates(store: Store) -> bool:
    """Whether a committed state has the table of duplicates; earlier versions had none."""
    return store.find(StateTable.META, DUPLICATES_KEY) is not None


def first_of(store: Store, key: bytes) -> DuplicateRow | None:
    """Of a committed state: the row of a duplicate; None for a page that is none."""
    row = store.find(StateTable.DUPLICATE, key)
    return DuplicateRow.decode(row) if row else None


def others_of(store: Store, first: bytes, limit: int) -> list[Fetch]:
    """Of a committed state: the first `limit` duplicates of a page, by their keys."""
    rows = store.scan(StateTable.DUPLICATE, first + b"\0", first + b"\xff" * 17, limit)
    return [Fetch(time_of(moment), name[KEY_BYTES:]) for name, moment in rows]


def _others_of(store: Store, first: bytes) -> Iterator[tuple[bytes, bytes]]:
    return walk(store, StateTable.DUPLICATE, first + b"\0", first + b"\xff" * 17)


def all_pointers(store: Store) -> Iterator[tuple[bytes, DuplicateRow]]:
    """Of a committed state: all duplicates by their keys."""
    for name, row in walk(store, StateTable.DUPLICATE):
        if len(name) == KEY_BYTES:
            yield name, DuplicateRow.decode(row)
