"""The files that a crawl has found, the pages that link to them, and their anchor texts.

A *file* is an answer with status 200 and another type than HTML, whether it was taken or only
listed (`fetch.list_only`). Types are those of `--type`: names such as audio, or MIME types.

The state says which files there are. The graph says which pages link to them; a running crawl adds
to it about every 30 seconds, and until then a file has the page by which it was found.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final

from gossamer.base.clock import iso_of
from gossamer.fetch.judge import ResponseJudge
from gossamer.frontier.rows import UrlRow
from gossamer.graph.lookup import links_to_all
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome, Reason

MOST_WORDS: Final = 5  # anchor texts of one file
MOST_PAGES: Final = 5  # linking pages of one file
_AT_ONCE: Final = 200  # files whose links are looked up together
_HTML: Final = frozenset({"", "text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file. `words` are its anchor texts, the most frequent first; `pages` link to it."""

    url: str
    type: str
    bytes: int | None  # as received, or as the headers say; None: unknown
    is_taken: bool  # False: only listed
    title: str
    words: tuple[str, ...]
    pages: tuple[str, ...]
    pages_total: int
    found_us: int

    def as_json(self) -> dict[str, Any]:
        facts = asdict(self)
        del facts["found_us"]
        return {**facts, "found_at": iso_of(self.found_us)}


def is_file(row: UrlRow) -> bool:
    """Whether a URL is a file that was found."""
    if row.outcome is Outcome.REFUSED:
        return row.reason == Reason.LISTED
    is_answer = row.outcome is Outcome.FETCHED and row.status == 200 and not row.redirect
    return is_answer and row.type not in _HTML


def found_files(reader: CollectionReader, types: Sequence[str] = ()) -> Iterator[FoundFile]:
    """Yield all files, or those of some types, in the order of the state. Memory holds some
    hundred. Raises SettingsError for an unknown type, CorruptFile."""
    return _with_links(reader, _rows(reader, types))


def newest_files(
    reader: CollectionReader, types: Sequence[str], limit: int, offset: int = 0
) -> tuple[list[FoundFile], int]:
    """Some files, the last found first, and how many there are. Raises the same."""
    total = 0

    def counted() -> Iterator[UrlRow]:
        nonlocal total
        for row in _rows(reader, types):
            total += 1
            yield row

    newest = heapq.nlargest(offset + limit, counted(), key=lambda row: (row.at_us, row.url))
    return list(_with_links(reader, newest[offset:])), total


def _rows(reader: CollectionReader, types: Sequence[str]) -> Iterator[UrlRow]:
    judge = ResponseJudge(types, 1) if types else None
    for row in reader.url_rows():
        if is_file(row) and (judge is None or judge.wants(row.type)):
            yield row


def _with_links(reader: CollectionReader, rows: Iterable[UrlRow]) -> Iterator[FoundFile]:
    left = iter(rows)
    while some := list(islice(left, _AT_ONCE)):
        sources: dict[str, Counter[str]] = {}
        words: dict[str, Counter[str]] = {}
        links = links_to_all(reader.paths.graph, [row.url for row in some])
        columns = (links.column(name).to_pylist() for name in ("target", "source", "anchor"))
        for target, source, anchor in zip(*columns, strict=True):
            sources.setdefault(target, Counter())[source] += 1
            if anchor:
                words.setdefault(target, Counter())[anchor] += 1
        for row in some:
            yield _file(reader, row, sources.get(row.url), words.get(row.url, Counter()))


def _file(
    reader: CollectionReader, row: UrlRow, sources: Counter[str] | None, words: Counter[str]
) -> FoundFile:
    is_taken = row.outcome is Outcome.FETCHED
    pages: Sequence[str] = _most(sources, MOST_PAGES) if sources else _found_by(reader, row)
    return FoundFile(
        url=row.url,
        type=row.type,
        bytes=row.size_bytes if is_taken else row.named_bytes or None,
        is_taken=is_taken,
        title=row.title,
        words=_most(words, MOST_WORDS),
        pages=tuple(pages),
        pages_total=len(sources) if sources else len(pages),
        found_us=row.at_us,
    )


def _most(counts: Counter[str], limit: int) -> tuple[str, ...]:
    """The most frequent, among equals in alphabetical order."""
    return tuple(sorted(counts, key=lambda one: (-counts[one], one))[:limit])


def _found_by(reader: CollectionReader, row: UrlRow) -> Sequence[str]:
    """The page by which it was found; none for a seed."""
    via = reader.find_key(row.via) if row.via else None
    return [via.url] if via is not None else []
