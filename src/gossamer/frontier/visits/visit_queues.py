"""The pages that wait for another visit, and the turns of new URLs and visits.

A host has two queues: new URLs in the table QUEUE, visits in the table VISIT. While both wait,
`new_share` of the requests go to new URLs, spread evenly. `is_visits_only` holds new URLs back: the
crawl has all the pages that it may have, and still visits those.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier.host_table import HOST_BYTES, HostTable
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import HostRow, QueueEntry
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable, Store

_Entry = tuple[bytes, bytes]  # place and row


class VisitQueues:
    """The queued visits of one collection, by host and by place."""

    def __init__(
        self,
        state: State,
        first_new: Callable[[bytes], _Entry | None],
        take_new: Callable[[bytes], None],
    ) -> None:
        """`first_new` shows the new URL of a host that comes first, `take_new` takes it."""
        self._first_new = first_new
        self._take_new = take_new
        self._store: Store = state.store
        self._pending: Pending = state.pending
        self._hosts: HostTable = state.hosts
        self._counts = state.counts
        self.is_visits_only = False
        self.new_share = 0.5
        # Of hosts where both wait: what new URLs are owed, from 0 to 1. Lost with the process.
        self._owed: dict[bytes, float] = {}

    @property
    def matters(self) -> bool:
        """Whether there is more to consider than new URLs. False in a first crawl."""
        return bool(self._counts.revisits) or self.is_visits_only

    def add(self, place: bytes, entry: QueueEntry) -> HostRow:
        """A page waits for a visit; the row of its host, which was touched."""
        host_key, row = entry.key[:HOST_BYTES], entry.encode()
        queue = self._hosts.visit_queue(host_key)  # made before the sum changes
        host = self._hosts.touch(host_key)
        host.visits += 1
        self._counts.revisits += 1
        self._pending.put(StateTable.VISIT, host_key + place, row)
        queue.add(place, row)
        return host

    def drop(self, place: bytes, host_key: bytes) -> None:
        """The entry at a place leaves."""
        self._hosts.visit_queue(host_key).drop(place)
        self._pending.delete(StateTable.VISIT, host_key + place)
        self._hosts.touch(host_key).visits -= 1
        self._counts.revisits -= 1

    def first(self, host_key: bytes) -> _Entry | None:
        """What comes next of a host: a visit or a new URL."""
        entry, _ = self._next(host_key)
        return entry

    def take(self, host_key: bytes) -> None:
        """Take what `first` showed."""
        _, is_visit = self._next(host_key)
        if self._has_both(host_key):
            self._owed[host_key] = self._credit(host_key) - (not is_visit)
        if is_visit:
            self._hosts.visit_queue(host_key).take()
        else:
            self._take_new(host_key)

    def _next(self, host_key: bytes) -> tuple[_Entry | None, bool]:
        """The next entry, and whether it is a visit."""
        visit = self._visit(host_key)
        if self.is_visits_only:
            return visit, True
        new = self._first_new(host_key)
        if visit is None or (new is not None and self._credit(host_key) >= 1.0):
            return new, False
        return visit, True

    def _visit(self, host_key: bytes) -> _Entry | None:
        if not self._hosts.row(host_key).visits:
            return None
        return self._hosts.visit_queue(host_key).first(self._store, self._pending)

    def _has_both(self, host_key: bytes) -> bool:
        if self.is_visits_only or self._visit(host_key) is None:
            self._owed.pop(host_key, None)
            return False
        return self._first_new(host_key) is not None

    def _credit(self, host_key: bytes) -> float:
        """What new URLs are owed if this turn is counted."""
        return self._owed.get(host_key, 0.5) + self.new_share
