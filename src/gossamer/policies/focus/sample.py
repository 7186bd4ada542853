"""A bounded sample of the pages that a crawl has fetched, with their words.

The judge learns what ordinary pages look like from it, and judges its pages again when it has
learned more. Each fetched page has the same chance to be in it (reservoir sampling, Vitter 1985);
as long as there are no more pages than it has places, it holds them all.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.focus.words import Words, numbers_of, weights_of

SAMPLE_PAGES: Final = 1_000  # 2 KB each


class PageSample:
    """Slots and words of some fetched pages."""

    def __init__(self, most: int = SAMPLE_PAGES, seed: int = 1) -> None:
        self._most = most
        self._random = np.random.default_rng(seed)
        self.seen = 0  # pages that were offered
        self.slots: list[int] = []  # -1: a page of an earlier run
        self.words: list[Words] = []
        self.relevance: list[float] = []  # as the judge found it last

    def offer(self, slot: int, words: Words, relevance: float) -> None:
        """A page was fetched and judged; it may take the place of another one."""
        self.seen += 1
        if len(self.slots) < self._most:
            self.slots.append(slot)
            self.words.append(words)
            self.relevance.append(relevance)
            return
        place = int(self._random.integers(self.seen))
        if place < self._most:
            self.slots[place], self.words[place] = slot, words
            self.relevance[place] = relevance


class WordTable:
    """The words of several pages, side by side: a sparse matrix with a row for each page."""

    def __init__(self, pages: list[Words]) -> None:
        sizes = np.array([len(words) for words in pages], np.intp)
        joined = np.concatenate(pages) if pages else np.zeros(0, np.uint32)
        self.pages = len(pages)
        self.numbers = numbers_of(joined)
        self.weights: NDArray[np.float32] = weights_of(joined)
        self.row = np.repeat(np.arange(self.pages), sizes)

    def weigh(self, idf: NDArray[np.float32]) -> None:
        """Weigh each word by how rare it is, and make all pages equally long."""
        self.weights = self.weights * idf[self.numbers]
        length = np.sqrt(sums(self.row, self.weights**2, self.pages))
        length[length == 0.0] = 1.0
        self.weights = (self.weights / length[self.row]).astype(np.float32)

    def times(self, column: NDArray[Any]) -> NDArray[np.float64]:
        """For each page the sum of its weights times the entries of a column by word."""
        values = column[self.numbers].astype(np.float32, copy=False)
        return sums(self.row, self.weights * values, self.pages)

    def mean(self, shares: NDArray[np.float64], buckets: int) -> NDArray[np.float64]:
        """The mean of the pages, each with its share, as a column by word."""
        total = float(shares.sum())
        if total <= 0.0:
            return np.zeros(buckets)
        column = sums(self.numbers, self.weights * shares[self.row], buckets)
        column /= total
        return column


def sums(groups: NDArray[np.integer], values: NDArray[Any], many: int) -> NDArray[np.float64]:
    """The sum of the values of each group, from 0 to `many` - 1."""
    totals: NDArray[np.float64] = np.bincount(groups, values, many).astype(np.float64, copy=False)
    return totals
