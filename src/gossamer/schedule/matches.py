"""Matches: the answers that `limits.max_matches` counts.

A match is an answer with status 200 whose type is in `fetch.types`: a fetched page or file, or one
that is only listed (`fetch.list_only`). HTML is fetched in any case, because its links lead to the
matches. It is a match only if `fetch.types` names it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from gossamer.fetch.judge import ResponseJudge
from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.records import Outcome, Reason, Report
from gossamer.settings import Settings

_TYPES: Final = 100  # kept in memory: a crawl meets few

IsMatch = Callable[[int, str], bool]


def matcher(settings: Settings) -> IsMatch:
    """A function that tells matches by status and MIME type; an empty type means HTML."""
    wants = lru_cache(_TYPES)(
        ResponseJudge(settings.fetch.types, settings.fetch.max_body_bytes).wants
    )
    return lambda status, mime: status == 200 and wants(mime or "text/html")


def may_match(report: Report) -> bool:
    """Whether a report brought something: an answer, or the headers of a file that is listed."""
    return report.outcome is Outcome.FETCHED or report.reason is Reason.LISTED


def count_matches(store: Store, is_match: IsMatch) -> int:
    """Count the matches in the state. It reads all rows: some 3 s for a million URLs."""
    count = 0
    for _, packed in walk(store, StateTable.URL):
        if standing_of(packed) in (Standing.FETCHED, Standing.REFUSED):
            row = UrlRow.decode(packed)
            if row.standing == Standing.FETCHED or row.reason == Reason.LISTED:
                count += is_match(row.status, row.type)
    return count
