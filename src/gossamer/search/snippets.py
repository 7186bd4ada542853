"""Which passage of a page answers the query best, and where are the query's words in it?

The text is folded character by character to a text of the same length, so that a place found in
it is a place in the page. The best passage is the window with the most of the query's words, the
rare ones first; of equals the earliest. A page of 8 kB takes 0.1 ms.

Pure: told the text, returns text and places. Reading pages is `engine.py`'s work.
"""

from __future__ import annotations

import html
import itertools
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gossamer.base import native
from gossamer.base.values import dataclass
from gossamer.index.words import normal

WIDTH: Final = 240  # characters of a passage: two or three lines
# What is read of a page: its beginning, and more only where that lacks a word that the page has.
_LOOKS: Final = (20_000, 200_000)
_MAX_FINDS: Final = 100  # of one thing
# Characters. Arrays of a whole text would be given back to the system and asked for anew each time.
_FOLDED_AT_ONCE: Final = 8_192
_SENTENCE: Final = re.compile(r"[.!?]\s+|[。！？]|\n")
_SPACES: Final = re.compile(r"\s+")
# Each character as the index spells it; 0 where it has not been met. Grows truer, never wrong.
_FOLDED: Final = np.zeros(0x20000, np.uint32)
_c: Final = native.load("gossamer.index._words")


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


class _Find(NamedTuple):
    start: int
    end: int
    which: int


class Marker:
    """Finds what one query asks for in any text."""

    def __init__(self, sought: Iterable[Sought]) -> None:
        # Phrases first: where two things begin at one place, the longer one is marked.
        self._sought = sorted(sought, key=lambda one: -len(one.words))
        self._seekers = [_seeker_of(one) for one in self._sought]

    def snippet(self, text: str, width: int = WIDTH) -> Snippet:
        """The best passage of about `width` characters; the beginning where none has a word."""
        return self.snippet_from(iter((text,)), width=width)

    def snippet_from(
        self, pieces: Iterator[str], has: int | None = None, width: int = WIDTH
    ) -> Snippet:
        """The same of a text that comes in pieces; those that are not needed are not taken.

        `has` says how many of the things sought the page has, where that is known.
        """
        wanted = len(self._sought) if has is None else has
        text = folded = ""
        for looked_at in _LOOKS:
            # A passage may end behind what is looked at, but no more than its width.
            text = _at_least(looked_at + width + 1, text, pieces)
            folded += fold(text[len(folded) : looked_at])
            finds = self._finds(folded)
            if len({find.which for find in finds}) >= wanted or len(text) <= looked_at:
                break
        first, last = _best_window(finds, self._sought, width)
        start, end = _passage(text, first, last, width)
        return _shown(text, start, end, finds)

    def marks(self, text: str) -> Snippet:
        """The whole of a short text, a title, with its words marked."""
        return _shown(text, 0, len(text), self._finds(fold(text)))

    def _finds(self, folded: str) -> list[_Find]:
        """All places in their order; where two overlap, the first, and of those the longest."""
        every = [
            (start, -end, which)
            for which, seek in enumerate(self._seekers)
            for start, end in itertools.islice(seek(folded), _MAX_FINDS)
        ]
        every.sort()
        kept: list[_Find] = []
        until = 0
        for start, minus_end, which in every:
            if start >= until:
                until = -minus_end
                kept.append(_Find(start, until, which))
        return kept


def _at_least(length: int, text: str, pieces: Iterator[str]) -> str:
    """The text with as many more pieces as make it that long; shorter only where it ends."""
    taken, have = [text], len(text)
    while have < length and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        have += len(piece)
    return "".join(taken)


def fold(text: str) -> str:
    """The text as the index spells it, character for character: as long as before."""
    if text.isascii():
        return text.lower().replace("_", " ")
    folded: str | None = None if _c is None else _c.folded(text, _FOLDED)
    return fold_in_python(text) if folded is None else folded  # which learns what was not known


def fold_in_python(text: str) -> str:
    """The same without `index/_words.c`, for any text; 20,000 characters take 58 us, there 13."""
    starts = range(0, len(text), _FOLDED_AT_ONCE)
    return "".join([_fold_some(text[start : start + _FOLDED_AT_ONCE]) for start in starts])


def _fold_some(text: str) -> str:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    # Characters beyond the table are rare ideographs, which are not marked.
    folded = _FOLDED.take(codes, mode="clip")
    if not folded.all():
        _learn(np.unique(codes[folded == 0]))
        folded = _FOLDED.take(codes, mode="clip")
    return folded.tobytes().decode("utf-32-le")


def _learn(codes: NDArray[np.uint32]) -> None:
    """Note what characters are to the index."""
    for code in np.minimum(codes, len(_FOLDED) - 1):
        # What unfolds to several letters keeps its first: a word with a ligature is not marked.
        _FOLDED[code] = ord(normal(chr(code)).strip()[:1] or " ")


@lru_cache(maxsize=1024)
def is_unspaced(char: str) -> bool:
    """Whether a character is a word of its own, as an ideograph is."""
    return normal(char) == f" {char} "


Seeker = Callable[[str], Iterable[tuple[int, int]]]


def _seeker_of(one: Sought) -> Seeker:
    """What finds one thing in a folded text."""
    if len(one.words) > 1:
        first = one.words[0]
        return _seeker(first, _side_by_side(one.words).removeprefix(re.escape(first)))
    word = one.words[0]
    if is_unspaced(word[0]):
        return _seeker(word, "")
    if one.is_prefix:
        return _seeker(word, r"\w*")
    kin = frozenset({word, *one.kin})
    if beginning := _common_start(kin):
        ends = "|".join(re.escape(each.removeprefix(beginning)) for each in sorted(kin))
        return _seeker(beginning, rf"(?:{ends})(?!\w)")
    # Arabic words of one stem need not begin alike.
    seekers = [_seeker(each, r"(?!\w)") for each in sorted(kin)]
    return lambda text: itertools.chain.from_iterable(seek(text) for seek in seekers)


def _seeker(beginning: str, rest: str) -> Seeker:
    """What finds `beginning`, where that starts a word, and the pattern `rest` behind it.

    An expression that begins with plain letters is searched for as plain text; so what comes before
    it is looked at after it. The other way round takes ten times as long.
    """
    plain = re.escape(beginning)
    bound = "" if is_unspaced(beginning[0]) else rf"(?<!\w{plain})"
    pattern = re.compile(plain + bound + rest)

    def seek(text: str) -> Iterable[tuple[int, int]]:
        at = text.find(beginning)  # most pages have not all of the words, and this is quicker still
        return map(re.Match.span, pattern.finditer(text, at)) if at >= 0 else ()

    return seek


def _side_by_side(words: Sequence[str]) -> str:
    """Words with nothing between them but what is no letter."""
    pieces = [re.escape(words[0])]
    for before, word in itertools.pairwise(words):
        has_gap = not (is_unspaced(before[-1]) or is_unspaced(word[0]))
        pieces += [r"\W{1,9}" if has_gap else r"\W{0,9}", re.escape(word)]
    return "".join(pieces) + ("" if is_unspaced(words[-1][-1]) else r"(?!\w)")


def _common_start(words: Iterable[str]) -> str:
    first, last = min(words), max(words)  # what these two share, all between them share
    pairs = zip(first, last, strict=False)
    return "".join(one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _best_window(finds: Sequence[_Find], sought: Sequence[Sought], width: int) -> tuple[int, int]:
    """Start of the first and end of the last find of the best window; (0, 0) for none.

    Each thing counts once with its weight, and a tenth of it for every further time.
    """
    best, best_worth, first, worth = (0, 0), 0.0, 0, 0.0
    times = [0] * len(sought)
    weights = [one.weight for one in sought]
    for last in finds:
        _, end, which = last
        worth += weights[which] * (0.1 if times[which] else 1.0)
        times[which] += 1
        while end - finds[first].start > width and finds[first] is not last:
            gone = finds[first].which
            times[gone] -= 1
            worth -= weights[gone] * (0.1 if times[gone] else 1.0)
            first += 1
        if worth > best_worth + 1e-9:
            best, best_worth = (finds[first].start, end), worth
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

    first = bisect_left(finds, (start,))
    for find in itertools.takewhile(lambda find: find.end <= end, finds[first:]):
        length += add(find.start)
        marked = add(find.end)
        marks.append((length, length + marked))
        length += marked
    add(end)
    return Snippet("".join(pieces).rstrip(), tuple(marks))
