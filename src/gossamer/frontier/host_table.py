"""Which hosts are in memory, each with its row and its queue?

All that have work, and of the others those asked for of late. However many there are, their queues
hold about as many entries together: where there are more hosts, each holds fewer and goes to the
disk more often. A row that was changed stays until it is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Final

from gossamer.frontier.host_queue import HostQueue
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import HostRow
from gossamer.frontier.store import StateTable, Store, TableChanges, walk

HOST_BYTES: Final = 8
_IDLE_HOSTS: Final = 20_000  # hosts without work kept in memory; about 1 kB each
_ENTRIES: Final = 100_000  # of queues in memory, all hosts together, give or take: 300 bytes each
_LEAST_ROOM: Final = 2


class HostTable:
    """Rows and queues of hosts. `begin` and `end` go with those of a commit."""

    def __init__(
        self,
        store: Store,
        pending: Pending,
        host_buffer: int,
    ) -> None:
        """`host_buffer`: the entries that a host's queue holds while there are few hosts."""
        self._store = store
        self._pending = pending
        self.queues: dict[bytes, HostQueue] = {}
        self.visit_queues: dict[bytes, HostQueue] = {}
        self._dirty: set[bytes] = set()
        self._committing: set[bytes] = set()
        self._many_hosts = 2 * _IDLE_HOSTS
        self._room = host_buffer
        self._many_queues = max(1, _ENTRIES // host_buffer)
        self.rows: dict[bytes, HostRow] = {}
        self._troubled: set[bytes] = set()  # those that are held, and perhaps more

    def load(self, on_stored: Callable[[HostRow], None]) -> None:
        """Read the hosts that have work. `on_stored` hears of every host that the store knows."""
        for key, packed in walk(self._store, StateTable.HOST):
            row = HostRow.decode(packed)
            on_stored(row)
            if row.to_request:
                self.rows[key] = row
        self._troubled = {key for key, row in self.rows.items() if _is_held(row)}

    def all_rows(self) -> Iterator[HostRow]:
        """All known hosts, as they are now."""
        for key, packed in walk(self._store, StateTable.HOST):
            if key not in self.rows:
                yield HostRow.decode(packed)
        yield from list(self.rows.values())

    def row(self, key: bytes) -> HostRow:
        """The row of a host that has been admitted."""
        row = self.rows.get(key)
        if row is None:
            packed = self._pending.find(StateTable.HOST, key)
            row = self.rows[key] = HostRow.decode(packed) if packed else HostRow("")
        return row

    def touch(self, key: bytes) -> HostRow:
        """The same row, to be changed: it is written with the next commit."""
        self._dirty.add(key)
        row = self.rows.get(key)
        return self.row(key) if row is None else row

    def drop_new(self, key: bytes) -> None:
        """A host of which nothing is to be known after all."""
        if self._pending.find(StateTable.HOST, key) is None:
            self.rows.pop(key, None)
            self._dirty.discard(key)

    def queue(self, key: bytes) -> HostQueue:
        queue = self.queues.get(key)
        if queue is None:
            if len(self.queues) >= self._many_queues:
                self._share_room()
            is_empty = not self.row(key).queued
            queue = self.queues[key] = HostQueue(key, self._room, is_empty=is_empty)
        return queue

    def visit_queue(self, key: bytes) -> HostQueue:
        """The queue of its pages that wait for another visit."""
        queue = self.visit_queues.get(key)
        if queue is None:
            is_empty = not self.row(key).visits
            queue = HostQueue(key, self._room, is_empty=is_empty, table=StateTable.VISIT)
            self.visit_queues[key] = queue
        return queue

    def troubled(self) -> Iterator[HostRow]:
        """Hosts that have work and a reason why they are not asked."""
        return (row for _, row in self.held() if row.trouble)

    def held(self) -> Iterator[tuple[bytes, HostRow]]:
        """Hosts that have work and are in trouble, or said that they are busy."""
        for key in self._troubled | self._dirty:
            row = self.rows.get(key)
            if row is not None and _is_held(row):
                yield key, row

    def begin(self) -> None:
        """Put the rows that were changed among what is to be written."""
        for key in self._dirty:
            row = self.rows[key]
            self._pending.put(StateTable.HOST, key, row.encode())
            if _is_held(row):
                self._troubled.add(key)
            elif self._troubled:
                self._troubled.discard(key)
            for queue in self._queues_of(key):
                queue.begin()
        self._committing, self._dirty = self._dirty, set()

    def end(self, changes: TableChanges, awake: Container[bytes]) -> None:
        """It is on disk. Hosts that are `awake` stay."""
        for key in self._committing:
            for queue in self._queues_of(key):
                queue.end()
        self._forget_places(StateTable.QUEUE, self.queues, changes)
        if self.visit_queues:
            self._forget_places(StateTable.VISIT, self.visit_queues, changes)
        self._committing = set()
        if len(self.rows) > self._many_hosts:
            self._forget_idle(awake)

    def _queues_of(self, key: bytes) -> Iterator[HostQueue]:
        """The queues of a host that are in memory."""
        if key in self.queues:
            yield self.queues[key]
        if key in self.visit_queues:
            yield self.visit_queues[key]

    def _forget_places(
        self, table: StateTable, queues: dict[bytes, HostQueue], changes: TableChanges
    ) -> None:
        """Entries that are gone from disk need not be remembered as taken."""
        is_put = self._pending.is_put
        for place, row in changes[table].items():
            if row is None and not is_put(table, place):
                queue = queues.get(place[:HOST_BYTES])
                if queue is not None:
                    queue.forget(place[HOST_BYTES:])

    def _forget_idle(self, awake: Container[bytes]) -> None:
        idle = [
            key
            for key, row in self.rows.items()
            if not row.to_request and key not in self._dirty and key not in awake
        ]
        for key in idle[:-_IDLE_HOSTS]:
            if all(queue.is_idle for queue in self._queues_of(key)):
                del self.rows[key]
                self.queues.pop(key, None)
                self.visit_queues.pop(key, None)
                self._troubled.discard(key)
        # All of them may have work: then a walk each second finds nothing, and costs 40 ms for
        # 200,000 hosts. The next one is due when there are half as many again.
        self._many_hosts = max(2 * _IDLE_HOSTS, len(self.rows) * 3 // 2)

    def _share_room(self) -> None:
        """There are twice as many hosts as the last time: each holds half as many entries.

        20,000 hosts with 64 entries each would take 400 MB. Of 20,000 each holds four to eight, and
        goes to the disk for every fifth page or so, which costs it 3 microseconds a page.
        """
        self._many_queues = 2 * len(self.queues)
        self._room = min(self._room, max(_LEAST_ROOM, _ENTRIES // self._many_queues))
        for queue in (*self.queues.values(), *self.visit_queues.values()):
            queue.share(self._room)


def _is_held(row: HostRow) -> bool:
    """Whether a failure keeps its work waiting."""
    return bool(row.trouble or row.busy) and bool(row.to_request or row.waiting)
