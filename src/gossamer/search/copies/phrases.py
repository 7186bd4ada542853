"""Choose the phrases of a text that are looked up in the index.

A page that has `reach` words of the text in a row has at least one of the phrases whole. Of the
phrases that would do, the one with the rarest word is taken: the index finds it first, in the
fewest pages. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class CheckedPhrase(NamedTuple):
    """Words of the text in a row; `pages` is the number of pages with the rarest of them."""

    start: int
    words: tuple[str, ...]
    pages: int


def phrases_of(
    words: Sequence[str], length: int, reach: int, pages_with: Callable[[str], int]
) -> list[CheckedPhrase]:
    """Phrases of `length` words such that `reach` words in a row contain one.

    Phrases with a word that no page has are left out: they stand nowhere, nor does anything that
    contains them.
    """
    rarity: dict[str, int] = {}
    for word in words:
        if word not in rarity:
            rarity[word] = pages_with(word)
    rarest = _least([rarity[word] for word in words], length)
    found: dict[tuple[str, ...], CheckedPhrase] = {}
    at, room = -1, reach - length + 1
    while at + room < len(rarest):
        # the last of the rarest: the next choice is as far away as possible
        at = min(range(at + room, at, -1), key=rarest.__getitem__)
        if rarest[at]:
            phrase = tuple(words[at : at + length])
            found.setdefault(phrase, CheckedPhrase(at, phrase, rarest[at]))
    return list(found.values())


def _least(counts: Sequence[int], length: int) -> list[int]:
    """The least of each `length` counts in a row."""
    every = np.array(counts, np.int64)
    size = len(every) - length + 1
    if size < 1:
        return []
    return [*map(int, np.lib.stride_tricks.sliding_window_view(every, length).min(axis=1))]
