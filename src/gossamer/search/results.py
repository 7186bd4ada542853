"""The request and the results of a search. Nothing here does I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, overload

from gossamer.base.notebook import escaped, link_to, plain, quoted, rows_table
from gossamer.base.plurals import counted
from gossamer.errors import UsageError
from gossamer.search.snippets import Snippet

Sort = Literal["relevance", "date"]
MAX_LIMIT: Final = 1_000
MAX_OFFSET: Final = 10_000  # for deeper results, use site: or since:


def sort_of(text: str) -> Sort:
    """A sort order by its name. Raises UsageError."""
    match text:
        case "relevance" | "date":
            return text
        case _:
            raise UsageError(f"sort is {text!r}, but it must be relevance or date")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A query with its options. Raises UsageError if it is invalid."""

    query: str
    limit: int = 10
    offset: int = 0
    site: str = ""
    type: str = ""
    lang: str = ""
    since: str = ""
    changed: str = ""
    sort: Sort = "relevance"
    per_site: int = 0  # maximum of hits per site; 0 means no limit
    explain: bool = False
    all_copies: bool = False  # show every duplicate; else one of each, with a number of copies

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"limit is {self.limit}, but it must be from 1 to {MAX_LIMIT:,}")
        if not 0 <= self.offset <= MAX_OFFSET:
            raise UsageError(f"offset is {self.offset}, but it must be from 0 to {MAX_OFFSET:,}")
        sort_of(self.sort)
        if self.per_site < 0:
            raise UsageError(f"per_site is {self.per_site}, but it must be at least 0")


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A part of a score, as `--explain` shows it."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that matches. `passage` is the `snippet` with the positions of matched words."""

    url: str
    title: str
    snippet: str
    score: float
    fetched_at: str
    type: str = ""
    language: str = ""
    passage: Snippet = field(default=Snippet(""))
    parts: tuple[ScorePart, ...] = ()
    copies: int = 0  # other pages of which this is a duplicate, or that are duplicates of it

    def __repr__(self) -> str:
        return f"<Hit {self.score:.3f} {plain(self.url)} {quoted(self.title)}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks, as on the page of results."""
        return rows_table(_SHOWN, [self._cells()])

    def _cells(self) -> tuple[str, ...]:
        title = link_to(self.url, self.title.strip() or self.url)
        passage = self.passage.marked("<b>", "</b>", escaped_piece)
        return f"{self.score:.3f}", f"{title}<br><small>{escaped(self.url)}</small>", passage


_SHOWN: Final = ("score", "page", "passage")


def escaped_piece(text: str) -> str:
    """A piece of a passage within HTML; spaces at its ends stay."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{escaped(text, 1_000)}{after}"


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """Hits, best first; `total` counts all matching pages."""

    hits: tuple[Hit, ...]
    total: int
    took_ms: float
    suggestion: str = ""  # a spelling suggestion, if nothing was found
    hint: str = ""  # how the query was read if that differs from what was typed; what is damaged

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __repr__(self) -> str:
        told = f"{len(self)} of {counted(self.total, 'page')} in {self.took_ms:.1f} ms"
        hint = f"; hint: {self.hint}" if self.hint else ""
        lines = "".join(f"\n  {hit!r}" for hit in self.hits[:10])
        more = f"\n  ... {len(self) - 10} more" if len(self) > 10 else ""
        return f"<Results {told}{hint}>{lines}{more}"

    def _repr_html_(self) -> str:
        """HTML for notebooks: the hits with the words of the query in bold, all text escaped."""
        note = f"{len(self)} of {counted(self.total, 'page')} in {self.took_ms:.1f} ms. {self.hint}"
        return rows_table(_SHOWN, [hit._cells() for hit in self.hits], note.strip())


def results_object(results: Results, request: Request) -> dict[str, Any]:
    """The hits, as in `search --json`, each with the positions of its words."""
    return {
        "schema": 1,
        "query": request.query,
        "offset": request.offset,
        "total": results.total,
        "took_ms": round(results.took_ms, 3),
        "suggestion": results.suggestion or None,
        "hint": results.hint or None,
        "hits": [_hit_object(hit) for hit in results],
    }


def _hit_object(hit: Hit) -> dict[str, Any]:
    found: dict[str, Any] = {
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet,
        "marks": [list(pair) for pair in hit.passage.marks],
        "score": hit.score,
        "fetched_at": hit.fetched_at,
        "type": hit.type or None,
        "language": hit.language or None,
        "copies": hit.copies,
    }
    if hit.parts:
        found["parts"] = {part.name: part.value for part in hit.parts}
    return found


def as_json(results: Results, request: Request) -> bytes:
    """The same as text."""
    found = results_object(results, request)
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        errors="replace"  # a terminal may send a lone surrogate
    )
