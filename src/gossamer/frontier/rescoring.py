"""Score queued URLs again, in slices: what their order knows has changed since they were queued.

A pass goes over the queue of one host, or over the queues of all hosts. Each call of `step` does a
bounded part of it. The position is written with the same commit as the entries that were moved, so
a process that ends in the middle continues where its last commit was. A score changes only the
first part of a priority key; the number behind it stays, so no two URLs get the same key, and a URL
that the pass meets twice is moved once.

    uncommitted entries  ->  committed entries, by host and priority key  ->  end, or the next pass

Entries that are admitted while a pass runs have the new scores already. What is leased stays where
it is: its outcome follows.
"""

from __future__ import annotations

from typing import Final

from gossamer.base.packing import pack, unpack
from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.meta_keys import RESCORE_KEY
from gossamer.frontier.rows import QueueEntry
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable
from gossamer.frontier.url_queues import UrlQueues
from gossamer.policies.order import PRIORITY_KEY_BYTES

ALL_HOSTS: Final = b""
_AT_ONCE: Final = 1_000  # entries in a slice: some 10 ms where all of them move
_MOST_HOSTS: Final = 1_000  # that wait for a pass of their own; for more, one pass over all
_QUEUE: Final = StateTable.QUEUE
_END: Final = b"\xff" * (PRIORITY_KEY_BYTES + 1)


class Rescoring:
    """The pass over the queues, if there is one, and those that wait for their turn."""

    def __init__(self, state: State, queues: UrlQueues) -> None:
        """Continues a pass that the last process did not end."""
        self._store = state.store
        self._pending = state.pending
        self._known = state.known
        self._hosts = state.hosts
        self._queues = queues
        self._scopes: list[bytes] = []  # hosts; the first is being scored
        self._position = b""  # of the table QUEUE, up to which the first one is done
        self._uncommitted: list[bytes] = []
        if (row := state.store.find(StateTable.META, RESCORE_KEY)) is not None:
            self._position, *self._scopes = unpack(row)

    @property
    def is_running(self) -> bool:
        """Whether there is something left to do for `step`."""
        return bool(self._scopes)

    def start(self, host_key: bytes = ALL_HOSTS) -> None:
        """Score the queue of a host again, or all queues. If that is being done, it is done once
        more afterwards, so that nothing keeps an old score."""
        waiting = self._scopes[1:]
        if not self._scopes:
            self._begin([host_key])
        elif host_key == ALL_HOSTS or len(waiting) >= _MOST_HOSTS:
            self._scopes[1:] = [ALL_HOSTS]
        elif host_key not in waiting and ALL_HOSTS not in waiting:
            self._scopes.append(host_key)
        self._note()

    def step(self, limit: int = _AT_ONCE) -> int:
        """Score up to `limit` entries; how many were moved."""
        if not self._scopes:
            return 0
        if self._uncommitted:
            keys = self._uncommitted[-limit:]
            del self._uncommitted[-limit:]
            return sum(map(self._score, keys))
        host_key = self._scopes[0]
        stop = host_key + _END if host_key else None
        rows = self._store.scan(_QUEUE, max(host_key, self._position), stop, limit)
        moved = sum(self._score(key) for key, _ in rows)
        if len(rows) < limit:
            self._begin(self._scopes[1:])
        else:
            self._position = rows[-1][0] + b"\0"
        self._note()
        return moved

    def _begin(self, scopes: list[bytes]) -> None:
        self._scopes, self._position = scopes, b""
        keys = self._pending.keys(_QUEUE) if scopes else []
        self._uncommitted = [key for key in keys if key.startswith(scopes[0])]

    def _note(self) -> None:
        """The next commit writes how far the pass is."""
        if self._scopes:
            row: bytes = pack([self._position, *self._scopes])
            self._pending.put(StateTable.META, RESCORE_KEY, row)
        else:
            self._pending.delete(StateTable.META, RESCORE_KEY)

    def _score(self, queue_key: bytes) -> bool:
        """Whether the entry with this key of the table QUEUE was moved."""
        packed = self._pending.find(_QUEUE, queue_key)
        if packed is None:
            return False
        old, host_key = queue_key[HOST_BYTES:], queue_key[:HOST_BYTES]
        entry = QueueEntry.decode(packed)
        new = self._queues.rescored(old, entry)
        queue = self._hosts.queues.get(host_key)
        if new == old or (queue is not None and queue.is_taken(old)):
            return False
        row = self._known.find(entry.key)
        if row is None or row.place != old:
            return False
        self._queues.move(row, entry, new)
        self._known.put(entry.key, row)
        return True
