"""The words of a text as the index spells them, and where each stands in the text.

A text is split in blocks, so that the position of a word costs the words of its block only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from gossamer.index.words import words_of

_BLOCK_CHARS: Final = 4_000
# What `index/words.py` reads without its neighbours: non-ASCII letters depend on those beside them.
_CHUNK: Final = re.compile(r"[^\x00-\x20]+")
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]+")

WordSpan = tuple[int, int]  # start and end in the characters of the text


class LocatedWords:
    """A text, its words, and the positions of the words."""

    def __init__(self, text: str, most_words: int | None = None) -> None:
        """Words behind `most_words` are left out, about."""
        self.text = text
        self.words: list[str] = []
        self.end = 0  # of the part that is split
        self._starts: list[int] = []  # of each block, in characters
        self._firsts: list[int] = []  # the number of its first word
        self._spans: dict[int, list[WordSpan]] = {}  # of the words of blocks, computed on demand
        # A long text has millions of words, but few different ones. Pages are soon dropped.
        once: dict[str, str] = {}
        for start, end in _blocks(text):
            if most_words is not None and len(self.words) >= most_words:
                break
            self._starts.append(start)
            self._firsts.append(len(self.words))
            found = words_of(text[start:end])
            self.words += found if most_words is None else map(once.setdefault, found, found)
            self.end = end

    def __len__(self) -> int:
        return len(self.words)

    def span(self, first: int, end: int) -> WordSpan:
        """Where the words from `first` until before `end` stand."""
        return self._place(first)[0], self._place(end - 1)[1]

    def _place(self, word: int) -> WordSpan:
        block = bisect_right(self._firsts, word) - 1
        spans = self._spans.get(block)
        if spans is None:
            ends = [*self._starts[block + 1 : block + 2], self.end]
            spans = self._spans[block] = list(_spans(self.text, self._starts[block], ends[0]))
        return spans[min(word - self._firsts[block], len(spans) - 1)]


def _blocks(text: str) -> Iterator[WordSpan]:
    """Parts of a text that end between two words, if words are shorter than half of them."""
    start = 0
    while start < len(text):
        end = start + _BLOCK_CHARS
        if end < len(text):
            half = start + _BLOCK_CHARS // 2
            end = max(text.rfind(" ", half, end), text.rfind("\n", half, end)) + 1 or end
        end = min(end, len(text))
        yield start, end
        start = end


def _spans(text: str, start: int, end: int) -> Iterator[WordSpan]:
    """The position of each word in a part of a text."""
    for chunk in _CHUNK.finditer(text, start, end):
        piece, at = chunk[0], chunk.start()
        if piece.isascii():
            yield from ((at + one.start(), at + one.end()) for one in _ASCII_WORD.finditer(piece))
        else:
            yield from ((at + one, at + two) for one, two in _spans_by_character(piece))


def _spans_by_character(piece: str) -> list[WordSpan]:
    """The same for a piece without blanks, not all of ASCII."""
    spans: list[WordSpan] = []
    count = len(words_of(piece))
    is_inside = False
    for at, char in enumerate(piece):
        spelled = _spelled(char)
        if spelled == _BREAK:
            is_inside = False
        elif spelled == _ALONE:
            spans.append((at, at + 1))
            is_inside = False
        elif is_inside:
            spans[-1] = (spans[-1][0], at + 1)
        elif spelled == _LETTER:
            spans.append((at, at + 1))
            is_inside = True
    # Letters may also be joined to their neighbours, as those of decomposed Hangul.
    return spans if len(spans) == count else [(0, len(piece))] * count


_BREAK, _ALONE, _LETTER, _NOTHING = range(4)


def _spelled(char: str) -> int:
    """What a character does to the words around it."""
    became = words_of(f"a{char}a")
    match len(became):
        case 1:
            return _NOTHING if became[0] == "aa" else _LETTER
        case 2:
            return _BREAK
        case _:
            return _ALONE
