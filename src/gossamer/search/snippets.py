"""Find the best passage of a page for a query, and the query's words in it.

The text is folded character by character to a text of the same length, so that a position in it is
a position in the page (`passages.py`).

Pure: gets the text, returns text and positions. `engine.py` reads the pages.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.index.words import normal
from gossamer.native.extensions import SEARCH, load
from gossamer.search.passages import passage_for
from gossamer.search.term_patterns import Term, groups_of

WIDTH: Final = 240  # characters of a passage: two or three lines
# How much of a page is read: its start, and more only if that lacks a word that the page has.
_LOOKS: Final = (20_000, 200_000)
# Characters per step. Arrays of a whole text would be freed and allocated again each time.
_FOLDED_AT_ONCE: Final = 8_192
# Each character as the index spells it; 0 if it is not known yet. Filled on demand.
_FOLDED: Final = np.zeros(0x20000, np.uint32)
# C folds blocks of ASCII at once, if all of it is known
_ASCII: Final = np.arange(128, dtype=np.uint32)
_c: Final = load(SEARCH)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage; `marks` are (start, end) of the query's words in it, from left to right."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def marked(self, before: str, after: str, escape: Callable[[str], str] = str) -> str:
        """The passage with markup around each of the query's words."""
        pieces, at = [], 0
        for start, end in self.marks:
            pieces += [escape(self.text[at:start]), before, escape(self.text[start:end]), after]
            at = end
        return "".join([*pieces, escape(self.text[at:])])

    def as_html(self) -> str:
        """Escaped, with the words in `<b>`: text from the web is never used as markup."""
        return self.marked("<b>", "</b>", html.escape)


class Highlighter:
    """Finds the terms of one query in any text."""

    def __init__(self, terms: Iterable[Term]) -> None:
        # Phrases first: if two terms begin at one position, the longer one is marked.
        ordered = sorted(terms, key=lambda one: -len(one.words))
        self._things = tuple((float(one.weight), groups_of(one)) for one in ordered)
        self._passage = passage_for(self._things)

    def snippet(self, text: str, width: int = WIDTH) -> Snippet:
        """The best passage of about `width` characters; the start of the text if none has a
        word.
        """
        return self.snippet_from(iter((text,)), width=width)

    def snippet_from(
        self, pieces: Iterator[str], has: int | None = None, width: int = WIDTH
    ) -> Snippet:
        """The same for a text that comes in pieces; pieces that are not needed are not read.

        `has` is the number of terms that the page has, if known.
        """
        wanted = len(self._things) if has is None else has
        text = folded = ""
        for looked_at in _LOOKS:
            # A passage may end after the part that is searched, by at most its width.
            text = _at_least(looked_at + width + 1, text, pieces)
            folded += fold(text[len(folded) : looked_at])
            is_last = len(text) <= looked_at or looked_at == _LOOKS[-1]
            found = self._passage(text, folded, self._things, wanted, is_last, width)
            if found is not None:
                return Snippet(*found)
        raise AssertionError("the last look always finds a passage")

    def marks(self, text: str) -> Snippet:
        """The whole of a short text, such as a title, with its words marked."""
        width = 4 * len(text)  # room for all of it, wherever the words are
        found = self._passage(text, fold(text), self._things, 0, True, width)
        return Snippet("") if found is None else Snippet(*found)


def _at_least(length: int, text: str, pieces: Iterator[str]) -> str:
    """The text with more pieces until it has that length; shorter only if it ends."""
    taken, have = [text], len(text)
    while have < length and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        have += len(piece)
    return "".join(taken)


def fold(text: str) -> str:
    """The text as the index spells it, character by character, with the same length."""
    if text.isascii():
        return text.lower().replace("_", " ")
    folded: str | None = None if _c is None else _c.folded(text, _FOLDED)
    # the Python version adds unknown characters
    return fold_in_python(text) if folded is None else folded


def fold_in_python(text: str) -> str:
    """The same without C, for any text; 20,000 characters take 59 us instead of 6."""
    starts = range(0, len(text), _FOLDED_AT_ONCE)
    return "".join([_fold_some(text[start : start + _FOLDED_AT_ONCE]) for start in starts])


def _fold_some(text: str) -> str:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    # Characters beyond the table are rare ideographs, which are not marked.
    folded = _FOLDED.take(codes, mode="clip")
    if not folded.all():
        unknown = codes[folded == 0]
        _learn(np.unique(unknown) if _FOLDED[0] else np.union1d(unknown, _ASCII))
        folded = _FOLDED.take(codes, mode="clip")
    return folded.tobytes().decode("utf-32-le")


def _learn(codes: NDArray[np.uint32]) -> None:
    """Store how the index spells these characters."""
    for code in np.minimum(codes, len(_FOLDED) - 1):
        # A character that unfolds to several letters keeps the first: a word with a ligature is not
        # marked.
        _FOLDED[code] = ord(normal(chr(code)).strip()[:1] or " ")
