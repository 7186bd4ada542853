"""Which captures has a URL, on disk and not yet on disk?

A row for each fetch: the URL's key, the moment, and where in the archive it lies. Those that no
commit has written are known by their URL, so that a question for one URL costs what it has, and not
what all others have brought meanwhile: an import asks for every revisit.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import CaptureRow, capture_row, time_key, time_of
from gossamer.frontier.store import StateTable, Store
from gossamer.records import Report
from gossamer.urls.keys import KEY_BYTES

_MOST: Final = 1_000_000  # captures of one URL
_AFTER: Final = b"\xff" * 9  # behind every moment of a URL


class Captures:
    """The captures of all URLs of one collection. `begin` and `end` go with those of a commit."""

    def __init__(self, store: Store, pending: Pending) -> None:
        self._store = store
        self._pending = pending
        self._new: defaultdict[bytes, list[bytes]] = defaultdict(list)
        self._writing: defaultdict[bytes, list[bytes]] = defaultdict(list)

    def put(self, report: Report) -> None:
        """A fetch brought an answer."""
        self.put_row(report.lease.key, report.at_us, capture_row(report))

    def put_row(self, key: bytes, at_us: int, row: bytes) -> None:
        """The same where its row is at hand."""
        at = key + time_key(at_us)
        self._pending.put(StateTable.CAPTURE, at, row)
        self._new[key].append(at)

    def find(self, key: bytes, at_us: int) -> CaptureRow | None:
        """The capture of a URL at one moment."""
        row = self._pending.find(StateTable.CAPTURE, key + time_key(at_us))
        return CaptureRow.decode(row) if row else None

    def since(self, key: bytes, from_us: int, limit: int) -> list[tuple[int, CaptureRow]]:
        """Moments and captures of a URL from a moment on, the oldest first."""
        start = key + time_key(max(0, from_us))
        stored = self._store.scan(StateTable.CAPTURE, start, key + _AFTER, limit)
        is_deleted = self._pending.is_deleted
        rows = {at: row for at, row in stored if not is_deleted(StateTable.CAPTURE, at)}
        for at in (*self._writing.get(key, ()), *self._new.get(key, ())):
            if at >= start and (row := self._pending.find(StateTable.CAPTURE, at)):
                rows[at] = row
        return [
            (time_of(at[KEY_BYTES:]), CaptureRow.decode(rows[at])) for at in sorted(rows)[:limit]
        ]

    def drop_all(self, key: bytes) -> list[CaptureRow]:
        """Delete the captures of a URL; what they were. Their bytes stay in the archive."""
        dropped = []
        for at_us, row in self.since(key, 0, _MOST):
            self._pending.delete(StateTable.CAPTURE, key + time_key(at_us))
            dropped.append(row)
        return dropped

    def begin(self) -> None:
        """What was put is being written."""
        self._writing, self._new = self._new, defaultdict(list)

    def end(self) -> None:
        """It is on disk."""
        self._writing = defaultdict(list)
