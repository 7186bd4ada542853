"""URLs that wait for a time: they failed and are retried, or are fetched again.

The table DUE holds them in the order of their times. A URL to be retried counts as queued but is in
no host's queue, so its row has no place. A page to be fetched again stays fetched until its time
has come; its entry has a value (`REFETCH`), that of a retry is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.rows import Standing, UrlRow, time_key, time_of
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable, walk
from gossamer.frontier.url_queues import UrlQueues
from gossamer.records import Found

REFETCH: Final = b"refetch"


class RetryQueue:
    """The waiting URLs of one collection, by the time at which each is due."""

    def __init__(self, state: State, queues: UrlQueues) -> None:
        self._store = state.store
        self._pending = state.pending
        self._hosts = state.hosts
        self._known = state.known
        self._counts = state.counts
        self._queues = queues
        self.size = sum(1 for _, value in walk(state.store, StateTable.DUE) if not value)  # retries

    def wait(self, row: UrlRow, key: bytes, retry_us: int) -> None:
        """A URL that is in no queue waits for a time."""
        row.standing, row.place, row.due_us = Standing.QUEUED, b"", retry_us
        self._counts.queued += 1
        self.size += 1
        self._hosts.touch(key[:HOST_BYTES]).waiting += 1
        self._known.put(key, row)
        self._pending.put(StateTable.DUE, time_key(retry_us) + key, b"")

    def wait_until(self, key: bytes, retry_us: int) -> None:
        """A waiting URL waits for another time."""
        self.wait(self.remove(key), key, retry_us)

    def refetch_at(self, key: bytes, due_us: int) -> None:
        """A fetched page is to be fetched again at a time; a time that it had before is void."""
        row = self._known.find(key)
        assert row is not None, "only a fetched page is fetched again"
        assert row.standing == Standing.FETCHED, f"{row.url} is {row.standing.name}"
        self.cancel_refetch(row, key)
        row.due_us = due_us
        self._known.put(key, row)
        self._pending.put(StateTable.DUE, time_key(due_us) + key, REFETCH)

    def cancel_refetch(self, row: UrlRow, key: bytes) -> None:
        """The time at which a page was to be fetched again is void. The caller puts the row."""
        if row.due_us:
            self._pending.delete(StateTable.DUE, time_key(row.due_us) + key)
            row.due_us = 0

    def wake_due(self, now_us: int, limit: int = 1000) -> int:
        """Queue the URLs whose time has come; how many. Sees what is committed."""
        woken = 0
        for due_key, _ in self._store.scan(StateTable.DUE, b"", time_key(now_us + 1), limit):
            if self._pending.is_deleted(StateTable.DUE, due_key):
                continue
            key = due_key[8:]
            row = self._known.find(key)
            self._pending.delete(StateTable.DUE, due_key)
            if row is not None and row.standing == Standing.FETCHED:
                woken += self._refetch(row, due_key)
                continue
            if row is None or row.standing != Standing.QUEUED or row.place:
                continue
            row.due_us = 0
            self._queues.enqueue_again(row, key)
            self._known.put(key, row)
            self._hosts.touch(key[:HOST_BYTES]).waiting -= 1
            self.size -= 1
            woken += 1
        return woken

    def _refetch(self, row: UrlRow, due_key: bytes) -> bool:
        """Queue a page again, unless another time was set for it."""
        if row.due_us != time_of(due_key):
            return False
        self._queues.requeue(row, Found(row.url, due_key[8:], row.depth, row.via))
        return True

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
            if row is not None and row.standing == Standing.QUEUED and not row.place:
                yield due_key[8:], row

    def remove(self, key: bytes) -> UrlRow:
        """Take a queued URL out of the queue that it is in, this one or its host's. The caller
        puts the row."""
        row = self._known.find(key)
        assert row is not None, "only a known URL leaves the queue"
        self.remove_row(row, key)
        return row

    def remove_row(self, row: UrlRow, key: bytes) -> None:
        """The same for a row that is at hand."""
        assert row.standing == Standing.QUEUED, f"{row.url} is {row.standing.name}"
        if row.place:
            self._queues.drop_place(row.place, key[:HOST_BYTES])
        else:
            self._pending.delete(StateTable.DUE, time_key(row.due_us) + key)
            self._hosts.touch(key[:HOST_BYTES]).waiting -= 1
            self.size -= 1
            self._counts.queued -= 1
        row.place, row.due_us = b"", 0
