"""Where the state is kept: ordered tables of bytes, written in one act.

The frontier needs very little of a database: find rows, walk a range, and write many changes of
many tables so that either all of them are on disk or none. `rocks.py` does that on one machine.
Every other implementation runs `tests/contract/test_store.py`, too.

A write carries an epoch: the number of the writer. Each writer that takes over a state has a
higher one than those before. A store refuses a write of an older epoch, so a writer that was
replaced and does not know it yet can change nothing. On one machine the lock of the collection
keeps a second writer out: the epoch is always 0, and no row says so.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from gossamer.errors import StaleEpoch
from gossamer.frontier.meta_keys import EPOCH_KEY


class StateTable(StrEnum):
    """The tables of the state; `rows.py` says what their rows hold."""

    URL = "url"  # key -> UrlRow
    QUEUE = "queue"  # host key + place -> QueueEntry
    VISIT = "visit"  # host key + place -> QueueEntry of a fetched page that is requested again
    DUE = "due"  # wall time + key -> nothing: URLs that wait for their time
    HOST = "host"  # host key -> HostRow
    ORIGIN = "origin"  # origin -> robots.txt and what it means
    CAPTURE = "capture"  # key + wall time -> CaptureRow
    META = "meta"  # name -> settings in force, counts, offsets
    CHANGE = "change"  # wall time + key -> what a visit found changed
    SKETCH = "sketch"  # numbers of pages by which near-duplicates are found
    DUPLICATE = "duplicate"  # key -> the page that it is a duplicate of


_EPOCH_BYTES: Final = 8
_PIECE_ROWS: Final = 10_000

TableChanges = Mapping[StateTable, Mapping[bytes, bytes | None]]


class Store(Protocol):
    """Ordered tables of bytes."""

    def find(self, table: StateTable, key: bytes) -> bytes | None:
        """The row, or None."""
        ...

    def find_many(self, table: StateTable, keys: Sequence[bytes]) -> list[bytes | None]:
        """What `find` gives for each key, in the order of the keys. A key may come twice."""
        ...

    def scan(
        self, table: StateTable, start: bytes, stop: bytes | None, limit: int
    ) -> list[tuple[bytes, bytes]]:
        """Rows with start <= key < stop in the order of their keys; None has no end."""
        ...

    def write(self, changes: TableChanges, epoch: int = 0) -> None:
        """Put all rows, and delete those that are None, as one act that survives a power cut.

        Raises DiskFault when it could not, and StaleEpoch when a writer of a higher epoch has
        written; then nothing of it is there.
        """
        ...

    def refresh(self) -> None:
        """For a reader of another process's state: see what was written since. Else nothing."""
        ...

    def tidy(self) -> None:
        """Begin in the background what `close` would have to wait for."""
        ...

    def close(self) -> None: ...


def walk(
    store: Store, table: StateTable, start: bytes = b"", stop: bytes | None = None
) -> Iterator[tuple[bytes, bytes]]:
    """The rows that `scan` gives, read in pieces: there may be millions."""
    while rows := store.scan(table, start, stop, _PIECE_ROWS):
        yield from rows
        start = rows[-1][0] + b"\0"


def check_epoch(stored: int, epoch: int) -> None:
    """Raise StaleEpoch for a write of an older epoch than the stored one."""
    if epoch < stored:
        raise StaleEpoch(epoch, stored)


def epoch_row(epoch: int) -> bytes:
    return epoch.to_bytes(_EPOCH_BYTES, "big")


def epoch_in(row: bytes | None) -> int:
    """The epoch that a row says; 0 where there is none."""
    return int.from_bytes(row or b"", "big")


class MemoryStore:
    """A store that forgets: for tests and the lab."""

    def __init__(self) -> None:
        self._rows: dict[StateTable, dict[bytes, bytes]] = {table: {} for table in StateTable}
        self._keys: dict[StateTable, list[bytes]] = {table: [] for table in StateTable}

    def find(self, table: StateTable, key: bytes) -> bytes | None:
        return self._rows[table].get(key)

    def find_many(self, table: StateTable, keys: Sequence[bytes]) -> list[bytes | None]:
        rows = self._rows[table]
        return [rows.get(key) for key in keys]

    def scan(
        self, table: StateTable, start: bytes, stop: bytes | None, limit: int
    ) -> list[tuple[bytes, bytes]]:
        keys, rows = self._keys[table], self._rows[table]
        first = bisect_left(keys, start)
        last = len(keys) if stop is None else bisect_left(keys, stop)
        return [(key, rows[key]) for key in keys[first : min(last, first + limit)]]

    def write(self, changes: TableChanges, epoch: int = 0) -> None:
        stored = epoch_in(self.find(StateTable.META, EPOCH_KEY))
        check_epoch(stored, epoch)
        self._put(changes)
        if epoch > stored:
            self._put({StateTable.META: {EPOCH_KEY: epoch_row(epoch)}})

    def _put(self, changes: TableChanges) -> None:
        for table, rows in changes.items():
            for key, value in rows.items():
                if value is not None and key not in self._rows[table]:
                    insort(self._keys[table], key)
                if value is not None:
                    self._rows[table][key] = value
                elif key in self._rows[table]:
                    del self._rows[table][key]
                    del self._keys[table][bisect_left(self._keys[table], key)]

    def refresh(self) -> None:
        """Nothing: there is no other process."""

    def tidy(self) -> None:
        """Nothing to tidy up."""

    def close(self) -> None:
        """Nothing to close."""
