"""The table of a report that lists pages which are nearly the same as another.

Only a crawl with `--duplicates near` or `html95` has it. The table `duplicates` lists pages that
are the same byte for byte, in every mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.analyse.report_questions import ReportQuestion
from gossamer.frontier.duplicates.pointers import all_pointers
from gossamer.reader.collection_reader import CollectionReader

_COLUMNS: Final = ("URL", "same as", "similarity")
_ADVICE: Final = {
    "near": "Their text is the same except for dates, counters and tokens. Redirect one to the "
    "other, or set a canonical URL.",
    "html95": "At least 95 % of their HTML is the same. Check them: on reference manuals a third "
    "of such pages have a text of their own (`gossamer lab duplicates` counts them).",
}


def similar_pages(
    reader: CollectionReader, inside: Callable[[str], bool], shown_rows: int
) -> tuple[ReportQuestion, int, list[tuple[str, str, str]]] | None:
    """The question, the number of pages and the first of them; None if none were looked for."""
    mode = reader.settings().duplicates.mode
    if mode not in _ADVICE:
        return None
    question = ReportQuestion("similar", "Nearly the same pages", _ADVICE[mode], _COLUMNS)
    rows = []
    for key, pointer in all_pointers(reader.store):
        page, first = reader.find_key(key), reader.find_key(pointer.first)
        if page and first and inside(page.url) and page.digest != first.digest:
            rows.append((page.url, first.url, f"{pointer.similarity:.1%}"))
    return question, len(rows), sorted(rows)[:shown_rows]
