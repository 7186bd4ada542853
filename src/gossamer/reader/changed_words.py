"""Compare the words of two lines: removed, added or unchanged. Pure.

Words are separated by white space. Of long lines only a limited number of words is compared,
because the work grows with the product of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

_MOST_WORDS: Final = 1_000
_NEAR: Final = 0.3  # lines that share less count as two lines, not as one changed line


class ChangedWords(NamedTuple):
    """Adjacent words with the same change."""

    kind: Literal["same", "removed", "added"]
    text: str


def changed_words(old: str, new: str) -> list[ChangedWords]:
    """Return the words of both texts in order; texts with little in common are not split."""
    one, other = old.split(), new.split()
    whole = [ChangedWords("removed", " ".join(one)), ChangedWords("added", " ".join(other))]
    if max(len(one), len(other)) > _MOST_WORDS:
        return whole
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return list(_pieces(matcher, one, other)) if matcher.ratio() >= _NEAR else whole


def _pieces(
    matcher: SequenceMatcher[str], one: list[str], other: list[str]
) -> Iterator[ChangedWords]:
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield ChangedWords("same", " ".join(one[start:end]))
            continue
        if end > start:
            yield ChangedWords("removed", " ".join(one[start:end]))
        if new_end > new_start:
            yield ChangedWords("added", " ".join(other[new_start:new_end]))
