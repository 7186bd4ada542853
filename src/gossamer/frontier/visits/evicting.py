"""A fetched page leaves a collection that holds a limited number of pages.

Its captures go from the state, so that no reader finds them, and its row says when and why. Its
bytes stay in the archive until a file with many such bytes is written anew: that is the job of
`node/retention/`, as for captures that a retention rule deletes. Index and graph follow the state,
as after any other change. All of it is in one commit.
"""

from __future__ import annotations

from collections import Counter

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.meta_keys import PRUNED_PREFIX
from gossamer.frontier.retry_queue import RetryQueue
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable
from gossamer.frontier.url_queues import UrlQueues
from gossamer.frontier.visits.results import note_refused
from gossamer.records import Found, Reason

REQUEST_BYTES = 400  # of the request record before a capture, about
_SECOND_US = 1_000_000


class Evicting:
    """Pages leave, and may come back."""

    def __init__(self, state: State, queues: UrlQueues, retries: RetryQueue) -> None:
        self._pending = state.pending
        self._counts = state.counts
        self._known = state.known
        self._hosts = state.hosts
        self._captures = state.captures
        self._duplicates = state.duplicates
        self._tally = state.tally
        self._queues = queues
        self._retries = retries

    def evict(self, key: bytes, detail: str, at_us: int, importance: float = 0.0) -> UrlRow | None:
        """A page leaves. The row to be logged; None if it is not fetched, or is being visited.

        The time is rounded up to a whole second: the log has seconds, and a rebuild must find that
        the page left after it was fetched.
        """
        row = self._known.find(key)
        if row is None or row.standing != Standing.FETCHED or self._queues.is_leased(row, key):
            return None
        self._retries.remove_row(row, key)
        self._duplicates.leave(key, row)
        self._tally.uncount(row, key[:HOST_BYTES])
        self._counts.links -= row.out_links
        self._drop_captures(key)
        note_refused(row)
        row.visits -= 1  # that was no visit
        row.standing, row.reason, row.detail = Standing.REFUSED, Reason.EVICTED, detail
        row.at_us, row.importance = -(-at_us // _SECOND_US) * _SECOND_US, importance
        row.next_us = 0
        self._tally.count(row, key[:HOST_BYTES])
        self._known.put(key, row)
        self._counts.evicted += 1
        return row

    def _drop_captures(self, key: bytes) -> None:
        left: Counter[str] = Counter()
        size_bytes = 0
        for row in self._captures.drop_all(key):
            left[row.file] += row.length + REQUEST_BYTES
            size_bytes += row.size_bytes
        self._counts.size_bytes -= size_bytes
        self._counts.evicted_bytes += size_bytes
        self._hosts.touch(key[:HOST_BYTES]).size_bytes -= size_bytes
        for file, size in left.items():
            name = PRUNED_PREFIX + file.encode()
            before = int.from_bytes(self._pending.find(StateTable.META, name) or b"", "big")
            self._pending.put(StateTable.META, name, (before + size).to_bytes(8, "big"))

    def readmit(self, key: bytes, now_us: int) -> bool:
        """Queue a page that left once more; whether it was. Not within two seconds after it left:
        times in the log are whole seconds, and what came later must be seen to be later."""
        row = self._known.find(key)
        if row is None or row.standing != Standing.REFUSED or row.reason != Reason.EVICTED:
            return False
        if now_us < row.at_us + 2 * _SECOND_US:
            return False
        self._queues.requeue(row, Found(row.url, key, row.depth, row.via))
        return True
