"""URLs that wait for a time, because a request failed and is repeated later.

The table DUE holds them in the order of their times. They are in no host's queue, so their rows
have no place. One that was never fetched counts as queued. A fetched page whose visit failed stays
fetched and counts among the revisits; its entry has a value (`VISIT`), that of a new URL is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.rows import Standing, UrlRow, time_key, time_of
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable, walk
from gossamer.frontier.url_queues import UrlQueues

VISIT: Final = b"visit"


class RetryQueue:
    """The waiting URLs of one collection, by the time at which each is due."""

    def __init__(self, state: State, queues: UrlQueues) -> None:
        self._store = state.store
        self._pending = state.pending
        self._hosts = state.hosts
        self._known = state.known
        self._counts = state.counts
        self._queues = queues
        self.new = self.visits = 0  # that wait
        for _, value in walk(state.store, StateTable.DUE):
            if value:
                self.visits += 1
            else:
                self.new += 1

    def wait(self, row: UrlRow, key: bytes, retry_us: int) -> None:
        """A URL that is in no queue waits for a time: a fetched page for a visit, any other for
        its first answer."""
        is_visit = row.standing == Standing.FETCHED
        row.place, row.due_us = b"", retry_us
        if not is_visit:
            row.standing = Standing.QUEUED
        self._count(key, 1, is_visit=is_visit)
        self._known.put(key, row)
        due = VISIT if is_visit else b""
        self._pending.put(StateTable.DUE, time_key(retry_us) + key, due)

    def _count(self, key: bytes, step: int, *, is_visit: bool) -> None:
        self._hosts.touch(key[:HOST_BYTES]).waiting += step
        if is_visit:
            self._counts.revisits += step
            self.visits += step
        else:
            self._counts.queued += step
            self.new += step

    def wait_until(self, key: bytes, retry_us: int) -> None:
        """A waiting URL waits for another time."""
        self.wait(self.remove(key), key, retry_us)

    def wake_due(self, now_us: int, limit: int = 1000) -> int:
        """Queue the URLs whose time has come; how many. Sees what is committed."""
        woken = 0
        for due_key, _ in self._store.scan(StateTable.DUE, b"", time_key(now_us + 1), limit):
            if self._pending.is_deleted(StateTable.DUE, due_key):
                continue
            key = due_key[8:]
            row = self._known.find(key)
            self._pending.delete(StateTable.DUE, due_key)
            if row is not None and not row.place and row.due_us == time_of(due_key):
                self._wake(row, key)
                woken += 1
        return woken

    def _wake(self, row: UrlRow, key: bytes) -> None:
        is_visit = row.standing == Standing.FETCHED
        row.due_us = 0
        self._count(key, -1, is_visit=is_visit)
        if is_visit:
            self._queues.enqueue_visit(row, key)
        else:
            self._counts.queued += 1
            self._queues.enqueue_again(row, key)
        self._known.put(key, row)

    def next_due_us(self) -> int | None:
        """When the next waiting URL is due; None when none waits (or none is committed)."""
        first = self._store.scan(StateTable.DUE, b"", None, 1)
        return int.from_bytes(first[0][0][:8], "big") if first else None

    def urls(self, limit: int = 1000) -> Iterator[tuple[bytes, UrlRow]]:
        """Keys and rows of waiting URLs, the next first; what is not committed comes last."""
        stored = [key for key, _ in self._store.scan(StateTable.DUE, b"", None, limit)]
        for due_key in dict.fromkeys([*stored, *self._pending.keys(StateTable.DUE)[:limit]]):
            if self._pending.is_deleted(StateTable.DUE, due_key):
                continue
            row = self._known.find(due_key[8:])
            if row is None or not row.due_us:
                continue
            if row.standing == Standing.FETCHED:  # why it waits, in the fields of other URLs
                why = (row.missed_reason, row.missed_detail, row.missed_us)
                row = structs.replace(row, reason=why[0], detail=why[1], at_us=why[2])
            yield due_key[8:], row

    def remove(self, key: bytes) -> UrlRow:
        """Take a URL that waits out of the queue that it is in, this one or its host's. The caller
        puts the row."""
        row = self._known.find(key)
        assert row is not None, "only a known URL leaves the queue"
        assert row.waits, f"{row.url} is {row.standing.name} and waits for nothing"
        self.remove_row(row, key)
        return row

    def remove_row(self, row: UrlRow, key: bytes) -> None:
        """The same for a row that is at hand. A fetched page may wait for nothing."""
        if row.place:
            self._queues.leave(row, key)
        elif row.due_us or row.standing == Standing.QUEUED:
            self._pending.delete(StateTable.DUE, time_key(row.due_us) + key)
            self._count(key, -1, is_visit=row.standing == Standing.FETCHED)
        row.place, row.due_us = b"", 0
