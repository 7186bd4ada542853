"""The queues of all hosts: entries come, are handed out, come back and leave.

`host_queue.py` is the queue of one host. Here each change of an entry also changes the sums, the
row of its host and the table QUEUE.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.meta_keys import NUMBER_KEY
from gossamer.frontier.rows import HostRow, QueueEntry, UrlRow, queued
from gossamer.frontier.state import State
from gossamer.frontier.store import Table
from gossamer.policies.order import Candidate, Order, priority_key
from gossamer.records import Found


class UrlQueues:
    """The queued URLs of one collection, by host and by place."""

    def __init__(self, state: State, order: Order) -> None:
        self._store = state.store
        self._pending = state.pending
        self._hosts = state.hosts
        self._known = state.known
        self._counts = state.counts
        self._order = order
        self._number = int.from_bytes(state.store.find(Table.META, NUMBER_KEY) or b"", "big")
        self.awake = set(state.hosts.rows)  # hosts that got work since `take_awake`

    # -- handing out

    def take_awake(self) -> set[bytes]:
        """Hosts that got work since the last call."""
        awake, self.awake = self.awake, set()
        return awake

    def first_place(self, host_key: bytes) -> bytes | None:
        """The place of the entry that `take` would give."""
        first = self._hosts.queue(host_key).first(self._store, self._pending)
        return first[0] if first else None

    def peek(self, host_key: bytes) -> tuple[bytes, QueueEntry] | None:
        """The place and entry that `take` would give."""
        first = self._hosts.queue(host_key).first(self._store, self._pending)
        return (first[0], QueueEntry.decode(first[1])) if first else None

    def take(self, host_key: bytes) -> None:
        """Take what `peek` showed. It stays on disk until it is reported."""
        self._hosts.queue(host_key).take()

    def give_back(self, entry: QueueEntry) -> None:
        """A lease came to nothing: the entry is queued as before."""
        row = self._known.find(entry.key)
        if row is not None and row.place:
            self._hosts.queue(entry.key[:HOST_BYTES]).give_back(row.place, entry.encode())
            self.awake.add(entry.key[:HOST_BYTES])

    def drain(self, host_key: bytes) -> Iterator[QueueEntry]:
        """Take every entry of a host, each to be refused or failed by the caller at once."""
        while (first := self.peek(host_key)) is not None:
            self.take(host_key)
            yield first[1]

    def is_leased(self, row: UrlRow, key: bytes) -> bool:
        return bool(row.place) and self._hosts.queue(key[:HOST_BYTES]).is_taken(row.place)

    def free_entries(self, host_key: bytes) -> Iterator[tuple[bytes, QueueEntry]]:
        """Places and entries of a host that are not taken, in their order."""
        queue = self._hosts.queue(host_key)
        stored = self._store.scan(Table.QUEUE, host_key, host_key + b"\xff" * 13, 2**62)
        rows = {key[HOST_BYTES:]: row for key, row in stored}
        rows.update(queue.fresh())
        for place, row in sorted(rows.items()):
            if not queue.is_taken(place):
                yield place, QueueEntry.decode(row)

    # -- coming and leaving

    def enqueue(
        self, found: Found, first_us: int, host: HostRow | None = None, *, levels_later: int = 0
    ) -> None:
        """Queue a URL and write its row. `host` is the row of its host, if it is at hand and was
        touched. The URL is placed as if it were `levels_later` deeper."""
        key = found[1]
        place = self._next_place(found[0], found[2] + levels_later)
        self._pending.urls[key], entry = queued(found, place, first_us)
        self._counts.queued += 1
        self._put_entry(key[:HOST_BYTES], place, entry, host)

    def enqueue_again(self, row: UrlRow, key: bytes) -> None:
        """A URL that waited joins its host's queue; the caller puts its row."""
        row.place = self._next_place(row.url, row.depth)
        self.add_entry(row.place, entry_of(row, key))

    def move_to_depth(self, row: UrlRow, key: bytes) -> None:
        """A queued URL gets the place of its new depth; the caller puts its row."""
        self.drop_place(row.place, key[:HOST_BYTES])
        row.place = self._next_place(row.url, row.depth)
        self._counts.queued += 1
        self.add_entry(row.place, entry_of(row, key))

    def add_entry(self, place: bytes, entry: QueueEntry) -> None:
        """Put an entry; the sum of queued URLs is the caller's."""
        self._put_entry(entry[0][:HOST_BYTES], place, entry.encode())

    def _put_entry(
        self, host_key: bytes, place: bytes, row: bytes, host: HostRow | None = None
    ) -> None:
        queue = self._hosts.queue(host_key)
        if host is None:
            host = self._hosts.touch(host_key)
        host.queued += 1
        self._pending.queue[host_key + place] = row
        queue.add(place, row)
        self.awake.add(host_key)

    def drop_place(self, place: bytes, host_key: bytes) -> HostRow:
        """The entry at a place leaves; the row of its host, to be changed."""
        self._hosts.queue(host_key).drop(place)
        self._pending.queue[host_key + place] = None
        host = self._hosts.touch(host_key)
        host.queued -= 1
        self._counts.queued -= 1
        return host

    def _next_place(self, url: str, depth: int) -> bytes:
        self._number += 1
        return priority_key(self._order, Candidate(url, depth), self._number)

    def begin(self) -> None:
        """A commit begins."""
        self._pending.put(Table.META, NUMBER_KEY, self._number.to_bytes(8, "big"))


def entry_of(row: UrlRow, key: bytes) -> QueueEntry:
    """The queue entry of a URL, made from its row."""
    return QueueEntry(key, row.url, row.depth, row.tries, row.redirects, row.via)
