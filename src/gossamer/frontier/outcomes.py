"""Note what became of a URL: its row, its capture and the sums, in one step."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.retry_queue import RetryQueue
from gossamer.frontier.rows import (
    LIFTABLE,
    CaptureRow,
    Standing,
    UrlRow,
    learn,
)
from gossamer.frontier.state import State
from gossamer.frontier.url_queues import UrlQueues
from gossamer.records import Outcome, Reason, Report
from gossamer.urls.canonical import host_of


class Outcomes:
    """Takes reports of leases, and decisions that were made without a request."""

    def __init__(
        self,
        state: State,
        queues: UrlQueues,
        retries: RetryQueue,
        note_shallower: Callable[[bytes], None] | None,
    ) -> None:
        """`note_shallower` hears of pages to which a shorter path was found while they were
        leased; None where no depth limit holds."""
        self._counts = state.counts
        self._known = state.known
        self._hosts = state.hosts
        self._captures = state.captures
        self._duplicates = state.duplicates
        self._tally = state.tally
        self._changes = state.changes
        self._queues = queues
        self._retries = retries
        self._note_shallower = note_shallower

    # -- without a request

    def refuse(self, key: bytes, reason: Reason, detail: str, at_us: int) -> UrlRow:
        """A queued URL is refused before it is requested."""
        row = self._retries.remove(key)
        row.standing = Standing.REFUSED_FOR_NOW if reason in LIFTABLE else Standing.REFUSED
        self._decide(row, key, reason, detail, at_us)
        return row

    def fail(
        self, key: bytes, reason: Reason, detail: str, at_us: int, *, tries: int = 0
    ) -> UrlRow:
        """A queued URL is given up without a request: its host could not be reached, `tries`
        times."""
        row = self._retries.remove(key)
        row.tries = max(row.tries, tries, 1) - 1  # as of a lease: tries before the last one
        row.standing = Standing.FAILED
        self._decide(row, key, reason, detail, at_us)
        return row

    def _decide(self, row: UrlRow, key: bytes, reason: Reason, detail: str, at_us: int) -> None:
        row.reason, row.detail, row.at_us = reason, detail, at_us
        self._tally.count(row, key[:HOST_BYTES])
        self._known.put(key, row)

    def put_off(
        self, key: bytes, reason: Reason, detail: str, at_us: int, retry_us: int, *, tries: int
    ) -> None:
        """A queued URL waits for a time; its port could not be reached, `tries` times."""
        row = self._retries.remove(key)
        row.tries = max(row.tries, tries)
        row.reason, row.detail, row.at_us = reason, detail, at_us
        self._retries.wait(row, key, retry_us)

    # -- reports

    def report(self, report: Report, retry_us: int | None = None) -> bool:
        """Note how a lease ended. False when this very outcome was noted before (a replay).

        With `retry_us` it is not the end: the URL waits for that time.
        """
        key = report.lease.key
        row = self._known.find(key)
        before = structs.replace(row) if row and row.standing == Standing.FETCHED else None
        if row is None:
            row = self._admit_replayed(report)
        elif row.standing == Standing.QUEUED:
            if row.at_us >= report.at_us and row.tries > report.lease.tries:
                return False
            self._retries.remove_row(row, key)
        elif row.at_us >= report.at_us:
            return False
        else:
            self._uncount(row, key)
        if retry_us is not None:
            self._wait(row, report, retry_us)
        else:
            learn(row, report)
            self._changes.note(before, row, report)
            self._settle(row, report)
            if self._note_shallower is not None and row.depth < report.lease.depth:
                self._note_shallower(key)
        return True

    def _admit_replayed(self, report: Report) -> UrlRow:
        """The row for an exchange of the archive whose admission was not committed."""
        lease = report.lease
        row = UrlRow(standing=Standing.QUEUED, depth=lease.depth, url=lease.url)
        row.first_us = report.at_us
        self._known.add_key(lease.key)
        host = self._hosts.touch(lease.key[:HOST_BYTES])
        host.name = host.name or host_of(row.url)
        host.known += 1
        self._counts.known += 1
        return row

    def _settle(self, row: UrlRow, report: Report) -> None:
        key = report.lease.key
        self._tally.count(row, key[:HOST_BYTES])
        self._known.put(key, row)
        if report.outcome == Outcome.FETCHED:
            self._put_capture(report)
            self._duplicates.join(report)
            self._counts.links += report.out_links

    def _wait(self, row: UrlRow, report: Report, retry_us: int) -> None:
        row.tries, row.redirects = report.lease.tries + 1, report.lease.redirects
        row.at_us, row.reason, row.detail = report.at_us, report.reason or "", report.detail
        self._retries.wait(row, report.lease.key, retry_us)

    def _put_capture(self, report: Report) -> None:
        self._captures.put(report)
        self._tally.add_body(self._hosts.touch(report.lease.key[:HOST_BYTES]), report.size_bytes)

    # -- what an import brings

    def bring(self, report: Report) -> bool:
        """Note what an imported archive says; whether it is now the last that is known of its URL.

        Any answer says more than none. An older one than the last is a capture, too, and no more.
        """
        key = report.lease.key
        row = self._known.find(key)
        is_fetched = report.outcome is Outcome.FETCHED
        if row is None or not is_fetched:
            return row is None and self.report(report)
        if row.standing == Standing.FETCHED and row.at_us >= report.at_us:
            if self._captures.find(key, report.at_us) is None:
                self._put_capture(report)
            return False
        if row.standing == Standing.QUEUED:
            self._retries.remove_row(row, key)
        else:
            self._uncount(row, key)
        learn(row, report)
        self._settle(row, report)
        return True

    def _uncount(self, row: UrlRow, key: bytes) -> None:
        """A newer outcome takes the place of one that a row has."""
        if row.standing == Standing.FETCHED:
            self._duplicates.leave(key, row)
        self._tally.uncount(row, key[:HOST_BYTES])
        self._retries.cancel_refetch(row, key)

    def last_capture(self, key: bytes) -> CaptureRow | None:
        """The newest capture of a fetched URL, committed or not."""
        row = self._known.find(key)
        if row is None or row.standing != Standing.FETCHED:
            return None
        return self._captures.find(key, row.at_us)
