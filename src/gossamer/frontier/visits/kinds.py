"""What did a visit find? One function decides, for the row, the sums and everybody who is told."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from gossamer.frontier.rows import UrlRow
from gossamer.records import Outcome, Report

GONE_STATUSES: Final = frozenset({404, 410})


class VisitKind(StrEnum):
    """How a report changes what is known of its URL."""

    NEW = "new"  # the URL had no outcome before, or was never there
    RETRY = "retry"  # not the end: it waits, and is requested once more
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"  # 404 or 410, and the page was there
    BACK = "back"  # it was gone, and is there again
    MOVED = "moved"  # it leads elsewhere now
    MISSED = "missed"  # no answer, or an error of the server: nothing is known of the page
    REFUSED = "refused"  # a rule forbids the page now, at the latest by its headers


class Visit(NamedTuple):
    """A URL got an outcome: a new one, or that of another visit."""

    key: bytes
    kind: VisitKind
    before: UrlRow | None  # None for a URL that had no outcome
    row: UrlRow  # as it is now
    report: Report

    @property
    def is_changed(self) -> bool:
        """Whether a page that was known has changed, and not by noise."""
        return self.before is not None and self.row.changed_us == self.report.at_us


def kind_of(before: UrlRow, report: Report) -> VisitKind:
    """What a visit found, of a page that was fetched before."""
    if report.outcome is Outcome.REFUSED:
        return VisitKind.REFUSED
    if report.outcome is not Outcome.FETCHED or is_server_error(before, report):
        return VisitKind.MISSED
    was_gone, is_gone = before.status in GONE_STATUSES, report.status in GONE_STATUSES
    if report.is_unchanged or (was_gone and is_gone):
        return VisitKind.UNCHANGED
    if report.redirect and report.redirect == before.redirect:
        return VisitKind.UNCHANGED
    if is_gone:
        return VisitKind.GONE
    if report.redirect and not before.redirect:
        return VisitKind.MOVED
    if was_gone and report.status < 400:
        return VisitKind.BACK if before.gone_us else VisitKind.NEW
    return VisitKind.CHANGED


def is_server_error(before: UrlRow, report: Report) -> bool:
    """Whether the server failed, which says nothing of a page that it answered before."""
    return report.status >= 500 > before.status
