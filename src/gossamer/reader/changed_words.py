"""Which words of a line were taken out, put in, or stayed? Pure.

Words are what white space parts. Of long lines only so many words are compared: the work grows with
the product of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

_MOST_WORDS: Final = 1_000
_NEAR: Final = 0.3  # lines that share less are two lines, not one that was changed


class Piece(NamedTuple):
    """Words that stand together."""

    kind: Literal["same", "removed", "added"]
    text: str


def changed_words(old: str, new: str) -> list[Piece]:
    """The words of both texts in order; two texts that have little in common stay whole."""
    one, other = old.split(), new.split()
    whole = [Piece("removed", " ".join(one)), Piece("added", " ".join(other))]
    if max(len(one), len(other)) > _MOST_WORDS:
        return whole
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return list(_pieces(matcher, one, other)) if matcher.ratio() >= _NEAR else whole


def _pieces(matcher: SequenceMatcher[str], one: list[str], other: list[str]) -> Iterator[Piece]:
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield Piece("same", " ".join(one[start:end]))
            continue
        if end > start:
            yield Piece("removed", " ".join(one[start:end]))
        if new_end > new_start:
            yield Piece("added", " ".join(other[new_start:new_end]))
