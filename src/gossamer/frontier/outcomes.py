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
from gossamer.frontier.visits.kinds import Visit, VisitKind, kind_of
from gossamer.frontier.visits.results import (
    OWN_RULES,
    OnVisit,
    count_visit,
    note_answer,
    note_missed,
    note_refused,
    note_unchanged,
)
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
        self.on_visit: OnVisit | None = None

    # -- without a request

    def refuse(self, key: bytes, reason: Reason, detail: str, at_us: int) -> UrlRow:
        """A URL that waits is refused before it is requested. The row to be logged.

        A fetched page that a rule of the operator forbids loses its visit and nothing else.
        """
        row = self._retries.remove(key)
        standing = Standing.REFUSED_FOR_NOW if reason in LIFTABLE else Standing.REFUSED
        if row.standing == Standing.FETCHED:
            if reason in OWN_RULES:
                self._known.put(key, row)
                return _as_logged(row, standing, reason, detail, at_us)
            self._duplicates.leave(key, row)
            self._tally.uncount(row, key[:HOST_BYTES])
            note_refused(row)
            count_visit(self._counts, VisitKind.REFUSED)
        row.standing = standing
        self._decide(row, key, reason, detail, at_us)
        return row

    def fail(
        self, key: bytes, reason: Reason, detail: str, at_us: int, *, tries: int = 0
    ) -> UrlRow:
        """A URL that waits is given up without a request: its host could not be reached, `tries`
        times. The row to be logged. A fetched page only misses a visit."""
        row = self._retries.remove(key)
        if row.standing == Standing.FETCHED:
            self._miss(row, key, reason, detail, at_us)
            return _as_logged(row, Standing.FAILED, reason, detail, at_us)
        row.tries = max(row.tries, tries, 1) - 1  # as of a lease: tries before the last one
        row.standing = Standing.FAILED
        self._decide(row, key, reason, detail, at_us)
        return row

    def miss(self, key: bytes, reason: Reason, detail: str, at_us: int) -> bool:
        """A visit failed without a request, as the log says. False if the row knows of it."""
        row = self._known.find(key)
        if row is None or row.standing != Standing.FETCHED or _is_known(row, at_us):
            return False
        self._retries.remove_row(row, key)
        self._miss(row, key, reason, detail, at_us)
        return True

    def _miss(self, row: UrlRow, key: bytes, reason: Reason, detail: str, at_us: int) -> None:
        """A visit of a fetched page failed for good. The page stays as it is."""
        row.missed += 1
        row.tries = 0
        note_missed(row, reason, detail, at_us)
        count_visit(self._counts, VisitKind.MISSED)
        self._known.put(key, row)

    def _decide(self, row: UrlRow, key: bytes, reason: Reason, detail: str, at_us: int) -> None:
        row.reason, row.detail, row.at_us = reason, detail, at_us
        self._tally.count(row, key[:HOST_BYTES])
        self._known.put(key, row)

    def put_off(
        self, key: bytes, reason: Reason, detail: str, at_us: int, retry_us: int, *, tries: int
    ) -> None:
        """A URL waits for a time; its port could not be reached, `tries` times."""
        row = self._retries.remove(key)
        row.tries = max(row.tries, tries)
        if row.standing == Standing.FETCHED:
            note_missed(row, reason, detail, at_us)
        else:
            row.reason, row.detail, row.at_us = reason, detail, at_us
        self._retries.wait(row, key, retry_us)

    # -- reports

    def report(self, report: Report, retry_us: int | None = None) -> VisitKind | None:
        """Note how a lease ended. None when this very outcome was noted before (a replay).

        With `retry_us` it is not the end: the URL waits for that time.
        """
        key = report.lease.key
        row = self._known.find(key)
        if row is not None and row.standing == Standing.FETCHED:
            return self._report_visit(row, report, retry_us)
        if report.is_unchanged:
            return None  # the version that it repeats is lost: the URL is requested again
        before = structs.replace(row) if row is not None and row.body_us else None
        if row is None:
            row = self._admit_replayed(report)
        elif row.standing == Standing.QUEUED:
            if row.at_us >= report.at_us and row.tries > report.lease.tries:
                return None
            self._retries.remove_row(row, key)
        elif row.at_us >= report.at_us:
            return None
        else:
            self._tally.uncount(row, key[:HOST_BYTES])
        if retry_us is not None:
            self._wait(row, report, retry_us)
            return VisitKind.RETRY
        learn(row, report)
        self._changes.note(None, row, report)
        self._settle(row, report)
        self._note_depth(row, report)
        is_back = before is not None and report.outcome is Outcome.FETCHED
        kind = VisitKind.BACK if is_back else VisitKind.NEW  # it had been refused, or is new
        self._tell(kind, before, row, report)
        return kind

    def _report_visit(self, row: UrlRow, report: Report, retry_us: int | None) -> VisitKind | None:
        """Note what a visit of a fetched page found."""
        key = report.lease.key
        if _is_known(row, report.at_us) and not self._queues.is_leased(row, key):
            return None
        self._retries.remove_row(row, key)
        if retry_us is not None:
            self._wait(row, report, retry_us)
            return VisitKind.RETRY
        kind = kind_of(row, report)
        before = structs.replace(row)
        if kind is VisitKind.MISSED:
            self._miss_by(row, report)
        else:
            if report.is_unchanged:
                note_unchanged(row, report)
                self._changes.note(before, row, report)
                self._captures.put(report)
                self._add_body(report)
                self._known.put(key, row)
            else:
                self._replace(before, row, report, kind)
            is_noise = kind is VisitKind.CHANGED and row.changed_us != report.at_us
            count_visit(self._counts, VisitKind.UNCHANGED if is_noise else kind)
            self._note_depth(row, report)
        self._tell(kind, before, row, report)
        return kind

    def _miss_by(self, row: UrlRow, report: Report) -> None:
        """A visit failed. An error of the server is an answer, too, and stays in the history."""
        key = report.lease.key
        reason = report.reason or Reason.PROTOCOL
        detail = report.detail or f"status {report.status}"
        self._miss(row, key, reason, detail, report.at_us)
        if report.outcome is Outcome.FETCHED:
            self._captures.put(report)
            self._add_body(report)

    def _replace(self, before: UrlRow, row: UrlRow, report: Report, kind: VisitKind) -> None:
        """Another answer takes the place of the stored version."""
        key = report.lease.key
        self._duplicates.leave(key, before)
        self._tally.uncount(before, key[:HOST_BYTES])
        note_answer(row, report, kind)
        self._changes.note(before, row, report)
        self._tally.count(row, key[:HOST_BYTES])
        self._known.put(key, row)
        if report.outcome is Outcome.FETCHED:
            self._put_capture(report)
            self._duplicates.join(report)
            self._counts.links += report.out_links

    def _tell(self, kind: VisitKind, before: UrlRow | None, row: UrlRow, report: Report) -> None:
        if self.on_visit is not None:
            self.on_visit(Visit(report.lease.key, kind, before, row, report))

    def _note_depth(self, row: UrlRow, report: Report) -> None:
        if self._note_shallower is not None and row.depth < report.lease.depth:
            self._note_shallower(report.lease.key)

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
        if report.outcome is Outcome.FETCHED:
            row.body_us = 0
        self._tally.count(row, key[:HOST_BYTES])
        self._known.put(key, row)
        if report.outcome == Outcome.FETCHED:
            self._put_capture(report)
            self._duplicates.join(report)
            self._counts.links += report.out_links

    def _wait(self, row: UrlRow, report: Report, retry_us: int) -> None:
        row.tries, row.redirects = report.lease.tries + 1, report.lease.redirects
        if row.standing == Standing.FETCHED:
            note_missed(row, report.reason or "", report.detail, report.at_us)
            if report.status == 304:  # it is of no use: the next request has no conditions
                row.etag = row.modified_at = ""
        else:
            row.at_us, row.reason, row.detail = report.at_us, report.reason or "", report.detail
        self._retries.wait(row, report.lease.key, retry_us)

    def _put_capture(self, report: Report) -> None:
        self._captures.put(report)
        self._add_body(report)

    def _add_body(self, report: Report) -> None:
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
            return row is None and self.report(report) is not None
        if row.standing == Standing.FETCHED and row.at_us >= report.at_us:
            if self._captures.find(key, report.at_us) is None:
                self._put_capture(report)
            return False
        if row.standing == Standing.FETCHED:
            kind = kind_of(row, report)
            self._replace(structs.replace(row), row, report, kind)  # it may wait for a visit
            return True
        if row.standing == Standing.QUEUED:
            self._retries.remove_row(row, key)
        else:
            self._tally.uncount(row, key[:HOST_BYTES])
        learn(row, report)
        self._settle(row, report)
        return True

    def last_capture(self, key: bytes) -> CaptureRow | None:
        """The capture with the stored version of a fetched URL, committed or not."""
        row = self._known.find(key)
        if row is None or row.standing != Standing.FETCHED:
            return None
        return self._captures.find(key, row.version_us)


def _is_known(row: UrlRow, at_us: int) -> bool:
    """Whether the row of a fetched page knows of a visit at that time."""
    return max(row.at_us, row.missed_us) >= at_us


def _as_logged(row: UrlRow, standing: Standing, reason: Reason, detail: str, at_us: int) -> UrlRow:
    """What the log says of a visit that brought no answer. The page itself stays fetched."""
    return structs.replace(row, standing=standing, reason=reason, detail=detail, at_us=at_us)
