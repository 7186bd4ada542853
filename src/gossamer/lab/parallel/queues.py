"""The pages that wait in each process, in the order in which they were found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PageNumbers = NDArray[np.int32]


class PageQueue:
    """Pages of one process. The best come first; among equals those that were found first."""

    def __init__(self) -> None:
        self._pages: PageNumbers = np.empty(64, np.int32)
        self._head = self._end = 0

    def __len__(self) -> int:
        return self._end - self._head

    @property
    def waiting(self) -> PageNumbers:
        """The pages that wait, in the order in which they were found."""
        return self._pages[self._head : self._end]

    def add(self, pages: PageNumbers) -> None:
        """Put pages at the end."""
        end = self._end + len(pages)
        if end > len(self._pages):
            held = self.waiting
            room = np.empty(2 * (len(held) + len(pages)) + 64, np.int32)
            room[: len(held)] = held
            self._pages, self._head, self._end = room, 0, len(held)
            end = len(held) + len(pages)
        self._pages[self._end : end] = pages
        self._end = end

    def take_first(self, most: int) -> PageNumbers:
        """Remove the first `most` pages."""
        taken = self._pages[self._head : min(self._head + most, self._end)].copy()
        self._head += len(taken)
        return taken

    def take_best(self, scores: PageNumbers, most: int) -> PageNumbers:
        """Remove the `most` pages with the highest scores (one for each that waits), in the order
        in which they were found."""
        if len(scores) <= most:
            return self.take_first(most)
        limit = np.partition(scores, len(scores) - most)[len(scores) - most]
        is_taken = scores > limit
        equal = np.flatnonzero(scores == limit)
        is_taken[equal[: most - int(is_taken.sum())]] = True
        waiting = self.waiting
        taken: PageNumbers = waiting[is_taken]
        kept = waiting[~is_taken]
        self._pages[self._head : self._head + len(kept)] = kept
        self._end = self._head + len(kept)
        return taken
