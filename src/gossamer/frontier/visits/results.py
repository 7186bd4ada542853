"""Note what a visit found, in the row of its page and in the sums.

missed      the page keeps its row, but for when and why the visit failed
unchanged   the row says when the page was seen; `body_us` says when its version was captured
any other   the row says what the answer says; what it says of earlier versions stays
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.frontier.counts import Counts
from gossamer.frontier.rows import UrlRow, learn
from gossamer.frontier.visits.kinds import Visit, VisitKind
from gossamer.records import Outcome, Reason, Report

OnVisit = Callable[[Visit], None]

# Rules of the operator. They forbid the visit and say nothing of the page, which stays as it is.
# Any other refusal is about the page: its site or its answer does not allow it any more.
OWN_RULES: Final = frozenset(
    {
        Reason.SCOPE,
        Reason.DEPTH,
        Reason.BANNED,
        Reason.NOFOLLOW,
        Reason.TRAP,
        Reason.UNSAFE,
        Reason.BUDGET,
        Reason.CONTACT,
        Reason.PORT,
        Reason.REDIRECTS,
        Reason.MALFORMED,
    }
)


def note_missed(row: UrlRow, reason: Reason | str, detail: str, at_us: int) -> None:
    """A visit failed: when and why. The caller counts it."""
    row.missed_us, row.missed_reason, row.missed_detail = at_us, str(reason), detail


def note_unchanged(row: UrlRow, report: Report) -> None:
    """The page was seen as it was. Its headers may have new validators."""
    row.body_us = row.version_us
    row.at_us, row.took_s, row.tries = report.at_us, report.took_s, report.lease.tries
    row.etag = report.etag or row.etag
    row.modified_at = report.modified_at or row.modified_at
    _note_seen(row)


def note_answer(row: UrlRow, report: Report, kind: VisitKind) -> None:
    """The answer takes the place of the stored version, or a refusal does."""
    version_us = row.version_us
    learn(row, report)
    # A refusal has no version of its own: the row still says when there was one.
    row.body_us = 0 if report.outcome is Outcome.FETCHED else version_us
    if kind is VisitKind.GONE:
        row.gone_us = report.at_us
    elif kind is not VisitKind.UNCHANGED:  # it may be gone still
        row.gone_us = 0
    _note_seen(row)


def _note_seen(row: UrlRow) -> None:
    row.visits += 1
    row.missed, row.missed_us, row.missed_reason, row.missed_detail = 0, 0, "", ""


def note_refused(row: UrlRow) -> None:
    """A fetched page is refused without a request: the row says nothing of an answer any more, but
    when its last version was captured."""
    row.body_us = row.version_us
    row.status = row.size_bytes = row.out_links = 0
    row.type = row.digest = row.title = row.language = row.robots = row.redirect = ""
    row.is_cut = False
    _note_seen(row)


def count_visit(counts: Counts, kind: VisitKind) -> None:
    """A visit ended."""
    counts.visits += 1
    match kind:
        case VisitKind.UNCHANGED:
            counts.unchanged += 1
        case VisitKind.CHANGED:
            counts.changed += 1
        case VisitKind.GONE:
            counts.gone += 1
        case VisitKind.BACK:
            counts.back += 1
        case VisitKind.MOVED:
            counts.moved += 1
        case VisitKind.MISSED:
            counts.missed += 1
