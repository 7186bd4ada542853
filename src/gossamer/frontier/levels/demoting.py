"""Move queued URLs to the places of their levels, and back.

A URL gets its level when it is admitted. What its host brings later may raise the level; that is
noticed when its turn comes (`hold_back`). A level falls when a page that brought something names
the URL, too, or when another link of the same page brought something (`come_back`).
"""

from __future__ import annotations

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.levels.guard import TrapGuard
from gossamer.frontier.rows import QueueEntry, Standing, UrlRow
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable
from gossamer.frontier.url_queues import UrlQueues


class Demoting:
    """Changes the levels of queued URLs."""

    def __init__(self, state: State, queues: UrlQueues, guard: TrapGuard) -> None:
        self._pending = state.pending
        self._known = state.known
        self._queues = queues
        self.guard = guard

    def hold_back(self, entry: QueueEntry) -> str | None:
        """The first URL of a host that is a suspect: a sentence if it is to be refused, empty if it
        has left its place for a later one, None if it may be requested."""
        key, guard = entry.key, self.guard
        if entry.is_visit or entry.is_trial:
            return None
        level = guard.level(key, entry.url, entry.run, entry.via, is_first=entry.is_first)
        why = guard.refusal(key, entry.url, entry.run, level)
        if why is not None:
            if guard.take_trial(key):
                return None
            guard.note_refused(key)
            return why
        if level <= entry.level:
            return None
        row = self._known.find(key)
        assert row is not None, "what is queued has a row"
        self._move(row, entry._replace(level=level))
        return ""

    def come_back(self, key: bytes, run: int) -> None:
        """A queued URL has a shorter run than it was queued with."""
        row = self._known.find(key)
        if row is None or row.run <= run or row.standing != Standing.QUEUED:
            return
        row.run = run
        packed = None
        if row.place and not self._queues.is_leased(row, key):
            packed = self._pending.find(StateTable.QUEUE, key[:HOST_BYTES] + row.place)
        if packed is None:
            self._known.put(key, row)
            return
        entry = QueueEntry.decode(packed)._replace(run=run, is_first=True)
        level = self.guard.level(key, entry.url, run, b"", is_first=True)
        self._move(row, entry._replace(level=level))

    def _move(self, row: UrlRow, entry: QueueEntry) -> None:
        self._queues.move(row, entry, self._queues.rescored(row.place, entry))
        self._known.put(entry.key, row)
