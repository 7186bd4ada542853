"""Which passage of a page answers the query best, and where are the query's words in it?

The text is folded character by character to a text of the same length, so that a place found in
it is a place in the page. The words that a query asks for are found in it by one expression,
one group for each. The best passage is the window with the most of the query's words, the rare
ones first; of equals the earliest. A page of 8 kB takes 0.1 ms.

Pure: told the text, returns text and places. Reading pages is `engine.py`'s work.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gossamer.index.words import normal

WIDTH: Final = 240  # characters of a passage: two or three lines
_MAX_TEXT: Final = 200_000  # what is read of a page; few have more, and their words stand before
_MAX_FINDS: Final = 400
_SENTENCE: Final = re.compile(r"[.!?]\s+|[。！？]|\n")
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sought:
    """Something that the query asks for: words side by side, a word and its kin, or a beginning."""

    words: tuple[str, ...]
    weight: float = 1.0
    is_prefix: bool = False
    kin: tuple[str, ...] = ()  # of a single word: those that count as it does


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage; `marks` are (start, end) of the query's words in it, from left to right."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def marked(self, before: str, after: str, escape: Callable[[str], str] = str) -> str:
        """The passage with something around each of the query's words."""
        pieces, at = [], 0
        for start, end in self.marks:
            pieces += [escape(self.text[at:start]), before, escape(self.text[start:end]), after]
            at = end
        return "".join([*pieces, escape(self.text[at:])])

    def as_html(self) -> str:
        """Escaped, with the words in `<b>`: text from the web is never markup of ours."""
        return self.marked("<b>", "</b>", html.escape)


@dataclass(frozen=True, slots=True)
class _Find:
    start: int
    end: int
    which: int


class Marker:
    """Finds what one query asks for in any text."""

    def __init__(self, sought: Iterable[Sought]) -> None:
        # Phrases first: where two could be found at one place, the first wins.
        self._sought = sorted(sought, key=lambda one: -len(one.words))
        choices = "|".join(f"({_choice_of(one)})" for one in self._sought)
        self._pattern = re.compile(choices) if choices else None

    def snippet(self, text: str, width: int = WIDTH) -> Snippet:
        """The best passage of about `width` characters; the beginning where none has a word."""
        text = text[:_MAX_TEXT]
        finds = self._finds(fold(text))
        start, end = _passage(text, *_best_window(finds, self._sought, width), width)
        return _shown(text, start, end, finds)

    def marks(self, text: str) -> Snippet:
        """The whole of a short text, a title, with its words marked."""
        return _shown(text, 0, len(text), self._finds(fold(text)))

    def _finds(self, folded: str) -> list[_Find]:
        if self._pattern is None:
            return []
        every = itertools.islice(self._pattern.finditer(folded), _MAX_FINDS)
        return [_Find(one.start(), one.end(), (one.lastindex or 1) - 1) for one in every]


def fold(text: str) -> str:
    """The text as the index spells it, character for character: as long as before."""
    return text.lower().replace("_", " ") if text.isascii() else text.translate(_FOLD)


@lru_cache(maxsize=1024)
def is_unspaced(char: str) -> bool:
    """Whether a character is a word of its own, as an ideograph is."""
    return normal(char) == f" {char} "


class _Fold(dict[int, str]):
    """What each character is to the index, learned as it is asked for."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # What unfolds to several letters keeps its first: a word with a ligature is not marked.
        self[code] = folded = normal(char).strip()[:1] or " "
        return folded


_FOLD: Final = _Fold()


def _choice_of(one: Sought) -> str:
    """An expression for one thing; without groups, so that the number of its own group names it."""
    if len(one.words) > 1:
        return _bounded(_side_by_side(one.words), one.words[0][0], one.words[-1][-1])
    word = one.words[0]
    if one.is_prefix:
        return rf"(?<!\w){re.escape(word)}\w*"
    if is_unspaced(word[0]):
        return re.escape(word)
    # The longest first: of `form` and `forms` the expression takes what it meets first.
    every = sorted({word, *one.kin}, key=lambda word: -len(word))
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, every))})(?!\w)"


def _side_by_side(words: Sequence[str]) -> str:
    """Words with nothing between them but what is no letter."""
    pieces = [re.escape(words[0])]
    for before, word in itertools.pairwise(words):
        has_gap = not (is_unspaced(before[-1]) or is_unspaced(word[0]))
        pieces += [r"\W{1,9}" if has_gap else r"\W{0,9}", re.escape(word)]
    return "".join(pieces)


def _bounded(pattern: str, first: str, last: str) -> str:
    before = "" if is_unspaced(first) else r"(?<!\w)"
    return before + pattern + ("" if is_unspaced(last) else r"(?!\w)")


def _best_window(finds: Sequence[_Find], sought: Sequence[Sought], width: int) -> tuple[int, int]:
    """Start of the first and end of the last find of the best window; (0, 0) for none.

    Each thing counts once with its weight, and a tenth of it for every further time.
    """
    best, best_worth, first, worth = (0, 0), 0.0, 0, 0.0
    times = [0] * len(sought)
    for last in finds:
        worth += sought[last.which].weight * (0.1 if times[last.which] else 1.0)
        times[last.which] += 1
        while last.end - finds[first].start > width and finds[first] is not last:
            gone = finds[first].which
            times[gone] -= 1
            worth -= sought[gone].weight * (0.1 if times[gone] else 1.0)
            first += 1
        if worth > best_worth + 1e-9:
            best, best_worth = (finds[first].start, last.end), worth
    return best


def _passage(text: str, first: int, last: int, width: int) -> tuple[int, int]:
    """Where to cut: at the sentence's start if it is near, else between words."""
    room = max(0, width - (last - first))
    earliest = max(0, first - room)
    sentences = [found.end() for found in _SENTENCE.finditer(text, earliest, first)]
    start = sentences[0] if sentences else _word_start(text, max(0, first - room // 2))
    if earliest == 0 and first <= room // 2:
        start = 0
    end = min(len(text), max(last, start + width))
    if end < len(text):
        blank = text.rfind(" ", max(last, end - 40), end)
        end = blank if blank > 0 else end
    return start, end


def _word_start(text: str, at: int) -> int:
    if at == 0:
        return 0
    blank = text.find(" ", at, at + 40)
    return blank + 1 if blank >= 0 else at


def _shown(text: str, start: int, end: int, finds: Sequence[_Find]) -> Snippet:
    """The passage on one line, with its marks moved to where their words are then."""
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    at, length = start, 0

    def add(stop: int) -> int:
        nonlocal at
        piece = _SPACES.sub(" ", text[at:stop])
        if piece.startswith(" ") and (not pieces or pieces[-1].endswith(" ")):
            piece = piece[1:]
        at = stop
        if piece:
            pieces.append(piece)
        return len(piece)

    for find in finds:
        if find.start >= at and find.end <= end:
            length += add(find.start)
            marked = add(find.end)
            marks.append((length, length + marked))
            length += marked
    add(end)
    return Snippet("".join(pieces).rstrip(), tuple(marks))
