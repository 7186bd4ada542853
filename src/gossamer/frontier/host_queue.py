"""One host's queue: its first entries in memory, the rest on disk.

The queue itself is the table QUEUE: host key + place -> entry. An entry stays there until its
outcome is committed, so a lease that is lost with the process is simply still queued. Memory
holds at most `room` entries of a host; hosts with millions of URLs cost no more than others.

    on disk  a b c d e f g h i j k ...        taken   a b      (leased, or reported and not yet
    buffer       c d e f                                        committed: on disk, but not ours
    fresh              (f) ... (m)                               to give again)

`fresh` are entries that are not on disk yet; a reload merges them in. Invariant: every entry is in
exactly one of taken, buffer, or "behind the buffer".
"""

from __future__ import annotations

from bisect import insort

from gossamer.frontier.pending import Pending
from gossamer.frontier.store import Store, Table
from gossamer.policies.order import PLACE_BYTES

_END = b"\xff" * (PLACE_BYTES + 1)


class HostQueue:
    """The queue of the host whose key is `host`."""

    __slots__ = ("_buffer", "_fresh", "_fresh_writing", "_is_whole", "_room", "_taken", "host")

    def __init__(self, host: bytes, room: int, *, is_empty: bool) -> None:
        self.host = host
        self._room = room
        self._buffer: list[
            tuple[bytes, bytes]
        ] = []  # (place, row), last first: popped from the end
        self._is_whole = is_empty  # nothing is behind the buffer
        self._taken: set[bytes] = set()
        self._fresh: dict[bytes, bytes] = {}
        self._fresh_writing: dict[bytes, bytes] = {}

    def add(self, place: bytes, row: bytes) -> None:
        """A new entry, or one given back. The caller writes it to the table."""
        self._taken.discard(place)
        self._fresh[place] = row
        if self._is_whole or (self._buffer and place < self._buffer[0][0]):
            insort(self._buffer, (place, row), key=_backwards)
            if len(self._buffer) > 2 * self._room:
                del self._buffer[: len(self._buffer) - self._room]
                self._is_whole = False

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

    def give_back(self, place: bytes, row: bytes) -> None:
        """A taken entry is free again; it is still in the table."""
        self._taken.discard(place)
        insort(self._buffer, (place, row), key=_backwards)

    def drop(self, place: bytes) -> None:
        """An entry leaves the queue, taken or not. The caller deletes it from the table."""
        self._taken.add(place)
        self._fresh.pop(place, None)
        for index, (at, _) in enumerate(self._buffer):
            if at == place:
                del self._buffer[index]
                break

    def fresh(self) -> dict[bytes, bytes]:
        """Entries that are not on disk yet, by place."""
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

    def forget(self, place: bytes) -> None:
        """A dropped entry is gone from disk too, and need not be remembered."""
        self._taken.discard(place)

    def _reload(self, store: Store, pending: Pending) -> None:
        limit = self._room + len(self._taken)
        stored = store.scan(Table.QUEUE, self.host, self.host + _END, limit)
        rows = {key[len(self.host) :]: row for key, row in stored}
        is_all = len(stored) < limit
        horizon = b"" if is_all else max(rows)
        for fresh in (self._fresh_writing, self._fresh):
            # Beyond the horizon lie stored entries that we have not seen and that come first.
            rows.update({p: r for p, r in fresh.items() if is_all or p <= horizon})
        free = [
            (place, row)
            for place, row in rows.items()
            if place not in self._taken and not pending.is_deleted(Table.QUEUE, self.host + place)
        ]
        free.sort(key=_backwards)
        self._is_whole = is_all and len(free) <= 2 * self._room
        self._buffer = free[-2 * self._room :]


def _backwards(entry: tuple[bytes, bytes]) -> bytes:
    """Sorts places from last to first: the complement of their bytes."""
    return entry[0].translate(_COMPLEMENT)


_COMPLEMENT = bytes(255 - byte for byte in range(256))
