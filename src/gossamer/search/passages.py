"""Find the passage of a text with the most terms, and their positions in it.

The best passage is the window with the most terms, heavy ones first; of equals the earliest. It
starts with a sentence if one begins near, and is shown on one line.

Pure: gets a text and its folded form, character by character, and returns text and positions.
Written twice: here, and in `native/passage.c`, which takes a tenth of the time.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gossamer.native.extensions import SEARCH, load
from gossamer.search.term_patterns import TermPattern, finder_of, is_simple

_MAX_FINDS: Final = 100  # of one term
_SENTENCE: Final = re.compile(r"[.!?]\s+|[。！？]|\n")
_SPACES: Final = re.compile(r"\s+")
_c: Final = load(SEARCH)

Terms = tuple[tuple[float, tuple[TermPattern, ...]], ...]  # the weight of each, and its groups
Passage = tuple[str, tuple[tuple[int, int], ...]]  # and (start, end) of the terms in it
# (text, folded, terms, wanted, is_last, width): the passage; None if the folded start of the text
# has fewer terms than wanted, unless no more of it is read.
FindPassage = Callable[[str, str, Terms, int, bool, int], Passage | None]


class _Find(NamedTuple):
    start: int
    end: int
    which: int


def passage_for(terms: Terms) -> FindPassage:
    """The function that finds these terms: in C, or else in Python."""
    groups = (group for _, every in terms for group in every)
    if _c is not None and all(map(is_simple, groups)):
        find_passage: FindPassage = _c.passage
        return find_passage
    return passage_in_python


def passage_in_python(
    text: str, folded: str, terms: Terms, wanted: int, is_last: bool, width: int
) -> Passage | None:
    """See `FindPassage`."""
    finds = _finds(folded, terms)
    if len({find.which for find in finds}) < wanted and not is_last:
        return None
    first, last = _best_window(finds, [weight for weight, _ in terms], width)
    start, end = _passage(text, first, last, width)
    return _shown(text, start, end, finds)


def _finds(folded: str, terms: Terms) -> list[_Find]:
    """All matches in order; of overlapping ones the first, and of those the longest."""
    every = [
        (start, -end, which)
        for which, (_, groups) in enumerate(terms)
        for start, end in itertools.islice(finder_of(groups)(folded), _MAX_FINDS)
    ]
    every.sort()
    kept: list[_Find] = []
    until = 0
    for start, minus_end, which in every:
        if start >= until:
            until = -minus_end
            kept.append(_Find(start, until, which))
    return kept


def _best_window(finds: Sequence[_Find], weights: Sequence[float], width: int) -> tuple[int, int]:
    """Start of the first and end of the last match of the best window; (0, 0) for none.

    Each term counts once with its weight, and a tenth of it for every further match.
    """
    best, best_worth, first, worth = (0, 0), 0.0, 0, 0.0
    times = [0] * len(weights)
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
    """Where to cut: at the start of the sentence if it is near, else between words."""
    room = max(0, width - (last - first))
    earliest = max(0, first - room)
    sentence = _SENTENCE.search(text, earliest, first)
    start = sentence.end() if sentence else min(first, _word_start(text, first - room // 2))
    if earliest == 0 and first <= room // 2:
        start = 0
    end = min(len(text), max(last, start + width))
    if end < len(text):
        blank = text.rfind(" ", max(last, end - 40), end)
        end = blank if blank > 0 else end
    return start, end


def _word_start(text: str, at: int) -> int:
    if at <= 0:
        return 0
    blank = text.find(" ", at, at + 40)
    return blank + 1 if blank >= 0 else at


def _shown(text: str, start: int, end: int, finds: Sequence[_Find]) -> Passage:
    """The passage on one line, with its marks moved accordingly."""
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
    return "".join(pieces).rstrip(), tuple(marks)
