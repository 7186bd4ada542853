"""Changes that are decided but not yet on disk.

Everything the frontier decides within a second is gathered here and written in one act. Two
generations: while one is being written (in a thread), new decisions go to the next, and a read
looks at the newest first. If the write fails nothing of it counts: the process stops.

Rows of URLs that were written lately are kept a while: most are asked for once more within
seconds, when the URL has been fetched, and the store takes 4 microseconds for what a table in
memory says in a half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gossamer.frontier.store import StateTable, Store, TableChanges

_KEPT: Final = 15_000  # rows, and as many of the time before, at some 350 bytes each


class Pending:
    """A store with its uncommitted changes before it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._begin_anew()
        self._writing: dict[StateTable, dict[bytes, bytes | None]] = {
            table: {} for table in StateTable
        }
        self._written: dict[bytes, bytes | None] = {}  # of the table URL, and on disk
        self._written_before: dict[bytes, bytes | None] = {}

    def _begin_anew(self) -> None:
        self._new: dict[StateTable, dict[bytes, bytes | None]] = {table: {} for table in StateTable}
        # Those that every page changes, to be put into without a call: None deletes.
        self.urls = self._new[StateTable.URL]
        self.queue = self._new[StateTable.QUEUE]

    def find(self, table: StateTable, key: bytes) -> bytes | None:
        new = self._new[table]
        if key in new:
            return new[key]
        writing = self._writing[table]
        if key in writing:
            return writing[key]
        if table is StateTable.URL:
            for written in (self._written, self._written_before):
                if key in written:
                    return written[key]
        return self._store.find(table, key)

    def find_many(self, table: StateTable, keys: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """What `find` gives for each key; the store is asked once for all it is needed for."""
        kept = (self._written, self._written_before) if table is StateTable.URL else ()
        layers = (self._new[table], self._writing[table], *kept)
        rows: dict[bytes, bytes | None] = {}
        missing: list[bytes] = []
        for key in keys:
            for layer in layers:
                if key in layer:
                    rows[key] = layer[key]
                    break
            else:
                missing.append(key)
        if missing:
            rows.update(zip(missing, self._store.find_many(table, missing), strict=True))
        return rows

    def put(self, table: StateTable, key: bytes, row: bytes) -> None:
        self._new[table][key] = row

    def delete(self, table: StateTable, key: bytes) -> None:
        self._new[table][key] = None

    def keys(self, table: StateTable) -> list[bytes]:
        """The rows that are not on disk yet, or not as they are now."""
        return list(self._writing[table] | self._new[table])

    def is_deleted(self, table: StateTable, key: bytes) -> bool:
        """Whether an uncommitted change deletes it."""
        new = self._new[table]
        if key in new:
            return new[key] is None
        return self._writing[table].get(key, b"") is None

    def is_put(self, table: StateTable, key: bytes) -> bool:
        """Whether a change that no commit has begun to write puts it."""
        return self._new[table].get(key) is not None

    def begin(self) -> TableChanges:
        """Take what has gathered, to be written; `end` must follow before the next `begin`."""
        self._writing = self._new
        self._begin_anew()
        return self._writing

    def end(self) -> None:
        """What `begin` gave is on disk."""
        urls = self._writing[StateTable.URL]
        if len(urls) > _KEPT:  # a list of a million seeds: the newest rows count, so none is kept
            self._written, self._written_before = {}, {}
        else:
            if len(self._written) > _KEPT:
                self._written, self._written_before = {}, self._written
            self._written.update(urls)
        self._writing = {table: {} for table in StateTable}

    @property
    def size(self) -> int:
        """Rows that wait to be written."""
        return sum(map(len, self._new.values()))
