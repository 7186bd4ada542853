"""One host's queue: its first entries in memory, the rest on disk.

The queue itself is the table QUEUE, or VISIT: host key + place -> entry. An entry stays there until
its outcome is committed, so a lease that is lost with the process is simply still queued. Memory
holds about `room` entries of a host; hosts with millions of URLs cost no more than others. The more
hosts there are, the less room each has (`HostTable._share_room`).

    on disk  a b c d e f g h i j k ...        taken   a b      (leased, or reported and not yet
    buffer       c d e f                                        committed: on disk, but not ours
    floor              | g h i ...                               to give again)
    fresh              (f) ... (m)

`fresh` are entries that are not on disk yet; a reload merges them in. Invariant: every entry is in
exactly one of taken, buffer, or behind the buffer; what is behind it has a place not before
`floor`. So a reload reads from there on, and not again all that was taken and waits for a commit.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from gossamer.frontier.pending import Pending
from gossamer.frontier.store import StateTable, Store
from gossamer.policies.order import PRIORITY_KEY_BYTES

_END = b"\xff" * (PRIORITY_KEY_BYTES + 1)


class HostQueue:
    """The queue of the host whose key is `host`."""

    __slots__ = (
        "_buffer",
        "_floor",
        "_fresh",
        "_fresh_writing",
        "_is_whole",
        "_room",
        "_table",
        "_taken",
        "host",
    )

    def __init__(
        self, host: bytes, room: int, *, is_empty: bool, table: StateTable = StateTable.QUEUE
    ) -> None:
        self.host = host
        self._table = table
        self._room = room
        # (place, row), the last first: popped from the end
        self._buffer: list[tuple[bytes, bytes]] = []
        self._is_whole = is_empty  # nothing is behind the buffer
        self._floor = b""
        self._taken: set[bytes] = set()
        self._fresh: dict[bytes, bytes] = {}
        self._fresh_writing: dict[bytes, bytes] = {}

    def add(self, place: bytes, row: bytes) -> None:
        """A new entry. The caller writes it to the table."""
        self._taken.discard(place)
        self._fresh[place] = row
        self._insert(place, row)

    def first(self, store: Store, pending: Pending) -> tuple[bytes, bytes] | None:
        """The first entry that is not taken, or None when there is none."""
        if not self._buffer and not self._is_whole:
            self._reload(store, pending)
        return self._buffer[-1] if self._buffer else None

    def take(self) -> tuple[bytes, bytes]:
        """Take what `first` showed."""
        entry = self._buffer.pop()
        self._taken.add(entry[0])
        return entry

    def take_at(self, place: bytes) -> None:
        """Take the entry at a place, whether or not it is the first."""
        self._taken.add(place)
        self._leave_buffer(place)

    def is_taken(self, place: bytes) -> bool:
        return place in self._taken

    def give_back(self, place: bytes, row: bytes) -> None:
        """A taken entry is free again; it is still in the table, or fresh."""
        if place in self._taken:
            self._taken.discard(place)
            self._insert(place, row)

    def drop(self, place: bytes) -> None:
        """An entry leaves the queue, taken or not. The caller deletes it from the table."""
        self._fresh.pop(place, None)
        if place in self._taken:
            return
        self._taken.add(place)
        self._leave_buffer(place)

    def _leave_buffer(self, place: bytes) -> None:
        index = bisect_left(self._buffer, place.translate(_COMPLEMENT), key=_backwards)
        if index < len(self._buffer) and self._buffer[index][0] == place:
            del self._buffer[index]

    def fresh(self) -> dict[bytes, bytes]:
        """Entries that are not on disk yet, by place; some may be taken."""
        return {**self._fresh_writing, **self._fresh}

    @property
    def is_idle(self) -> bool:
        """Whether it holds nothing that a new object would not find on disk."""
        return not (self._buffer or self._taken or self._fresh or self._fresh_writing)

    def begin(self) -> None:
        """A commit begins: what is fresh now will be on disk when it ends."""
        self._fresh_writing = self._fresh
        self._fresh = {}

    def end(self) -> None:
        """The commit ended: what was fresh when it began is on disk."""
        self._fresh_writing = {}

    def share(self, room: int) -> None:
        """There are many hosts: hold no more than `room` entries, and up to twice as many later."""
        self._room = room
        self._leave_behind()

    def forget(self, place: bytes) -> None:
        """A dropped entry is gone from disk too, and need not be remembered."""
        self._taken.discard(place)
        if not self._taken:
            self._taken = set()  # an emptied one keeps its room, which was half a megabyte once

    def _insert(self, place: bytes, row: bytes) -> None:
        """Put a free entry into the buffer, or leave it behind."""
        if not (self._is_whole or (self._buffer and place < self._buffer[0][0])):
            self._floor = min(self._floor, place)
            return
        if not self._buffer or place > self._buffer[0][0]:  # the newest is most often the last
            self._buffer.insert(0, (place, row))
        else:
            insort(self._buffer, (place, row), key=_backwards)
        if len(self._buffer) > 2 * self._room:
            self._leave_behind()

    def _leave_behind(self) -> None:
        """Hold the first entries only; the others are on disk, or fresh."""
        behind = len(self._buffer) - self._room
        if behind > 0:
            self._floor = self._buffer[behind - 1][0]
            del self._buffer[:behind]
            self._is_whole = False

    def _reload(self, store: Store, pending: Pending) -> None:
        free: dict[bytes, bytes] = {}
        start, stop, step = self.host + self._floor, self.host + _END, 2 * self._room
        is_all = False
        while not is_all and len(free) < self._room:
            stored = store.scan(self._table, start, stop, step)
            is_all = len(stored) < step
            for key, row in stored:
                place = key[len(self.host) :]
                if place not in self._taken and not pending.is_deleted(self._table, key):
                    free[place] = row
            if stored:
                start = stored[-1][0] + b"\0"
        horizon = start[len(self.host) :]
        # Beyond the horizon lie stored entries that we have not seen and that come first.
        free.update(
            (place, row)
            for place, row in self.fresh().items()
            if place not in self._taken and (is_all or place < horizon)
        )
        self._is_whole = is_all
        self._floor = horizon
        self._buffer = sorted(free.items(), reverse=True)


def _backwards(entry: tuple[bytes, bytes]) -> bytes:
    """Sorts places from last to first: the complement of their bytes."""
    return entry[0].translate(_COMPLEMENT)


_COMPLEMENT = bytes(255 - byte for byte in range(256))
