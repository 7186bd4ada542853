"""The request and the results of a search for copies. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, overload

from gossamer.base.notebook import link_to, plain, rows_table
from gossamer.base.plurals import counted
from gossamer.errors import UsageError
from gossamer.search.results import MAX_LIMIT, escaped_piece
from gossamer.search.snippets import Snippet

MIN_WORDS: Final = 20
LEAST_WORDS: Final = 8  # shorter passages stand everywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiesRequest:
    """A text to look for. Raises UsageError if it is invalid."""

    text: str
    but: bytes = b""  # key of a page that is left out of the results
    min_words: int = MIN_WORDS
    limit: int = 20  # pages
    max_s: float = 20.0  # then what was found is returned, and a hint says what is missing

    def __post_init__(self) -> None:
        if not LEAST_WORDS <= self.min_words <= 10_000:
            raise UsageError(
                f"min_words is {self.min_words}, but it must be from {LEAST_WORDS} to 10,000"
            )
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"limit is {self.limit}, but it must be from 1 to {MAX_LIMIT:,}")


@dataclass(frozen=True, slots=True)
class PassageSide:
    """A passage in one of the two texts: its characters from `start` until before `end`, and the
    text, in which the words that both have are marked. Of a long one the text is its beginning.
    """

    start: int
    end: int
    passage: Snippet

    @property
    def differences(self) -> Snippet:
        """The same text, in which the words that the other side does not have are marked."""
        text, marks, at = self.passage.text, [], 0
        for start, end in self.passage.marks:
            between = text[at:start]
            if any(map(str.isalnum, between)):
                inner = between.strip()
                first = at + between.index(inner)
                marks.append((first, first + len(inner)))
            at = end
        return Snippet(text, tuple(marks))

    @property
    def is_cut(self) -> bool:
        """Whether the text is only the beginning of the passage."""
        return self.end - self.start > len(self.passage.text) > 0


@dataclass(frozen=True, slots=True)
class CopiedPassage:
    """A passage that the text and a page have; `words` are the same, others may differ.

    `first_word` counts the words of the text from 1.
    """

    words: int
    first_word: int
    in_text: PassageSide
    in_page: PassageSide

    @property
    def is_exact(self) -> bool:
        """Whether all words are the same."""
        return len(self.in_text.passage.marks) == len(self.in_page.passage.marks) == 1


@dataclass(frozen=True, slots=True)
class Copy:
    """A page that has a part of the text. `words` of the text were found on it, which is `share`
    of the text; the passages are the longest, longest first, of `passages_total`.
    """

    url: str
    title: str
    fetched_at: str
    words: int
    share: float
    passages: tuple[CopiedPassage, ...]
    passages_total: int

    def __repr__(self) -> str:
        return f"<Copy {self.share:.0%}, {counted(self.words, 'word')}: {plain(self.url)}>"


@dataclass(frozen=True, slots=True)
class Copies(Sequence[Copy]):
    """Pages that have a part of a text, those with the most words of it first."""

    copies: tuple[Copy, ...]
    words: int  # of the text
    total: int  # pages found
    took_ms: float
    hint: str = ""  # what was not searched for, and why

    def __iter__(self) -> Iterator[Copy]:
        return iter(self.copies)

    def __len__(self) -> int:
        return len(self.copies)

    @overload
    def __getitem__(self, index: int) -> Copy: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Copy, ...]: ...
    def __getitem__(self, index: int | slice) -> Copy | tuple[Copy, ...]:
        return self.copies[index]

    def __repr__(self) -> str:
        lines = "".join(f"\n  {copy!r}" for copy in self.copies[:10])
        more = f"\n  ... {len(self) - 10} more" if len(self) > 10 else ""
        return f"<Copies: {self.sentence}>{lines}{more}"

    def _repr_html_(self) -> str:
        """HTML for notebooks: all text escaped."""
        rows = [
            (
                f"{copy.share:.0%}",
                str(copy.words),
                link_to(copy.url, copy.title.strip() or copy.url),
                copy.passages[0].in_page.passage.marked("<b>", "</b>", escaped_piece),
            )
            for copy in self.copies
        ]
        return rows_table(("share", "words", "page", "longest passage"), rows, self.sentence)

    def with_hint(self, more: str) -> Copies:
        """The same with one more hint, if it is not empty."""
        return replace(self, hint="; ".join(filter(None, (self.hint, more))))

    @property
    def sentence(self) -> str:
        """What was found, in one line."""
        found = f"{counted(self.total, 'page')} with parts of the text"
        shown = f"{len(self)} of {found}" if len(self) < self.total else found
        return f"{shown} ({counted(self.words, 'word')}), {self.took_ms:.1f} ms"


def copies_object(found: Copies) -> dict[str, Any]:
    """The results as in `copies --json`."""
    return {
        "schema": 1,
        "words": found.words,
        "total": found.total,
        "took_ms": round(found.took_ms, 3),
        "hint": found.hint or None,
        "pages": [_copy_object(copy) for copy in found],
    }


def _copy_object(copy: Copy) -> dict[str, Any]:
    return {
        "url": copy.url,
        "title": copy.title,
        "fetched_at": copy.fetched_at,
        "words": copy.words,
        "share": round(copy.share, 4),
        "passages_total": copy.passages_total,
        "passages": [
            {
                "words": one.words,
                "first_word": one.first_word,
                "exact": one.is_exact,
                "text": _side_object(one.in_text),
                "page": _side_object(one.in_page),
            }
            for one in copy.passages
        ],
    }


def _side_object(side: PassageSide) -> dict[str, Any]:
    return {
        "start": side.start,
        "end": side.end,
        "passage": side.passage.text,
        "marks": [list(pair) for pair in side.passage.marks],
    }
