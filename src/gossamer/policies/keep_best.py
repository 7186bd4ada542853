"""A limited buffer: which pages leave a collection that holds a fixed number (Cho, 1998)?

When there are too many pages, those of the least importance leave. A page that left is requested
again only if its importance has grown clearly beyond the least one that is kept, and only a few
times. So pages whose importance is near the border are not fetched again and again.

Pure: told values by position, answers with positions. The caller knows which pages those are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.policies.orders.columns import Values

PagePositions = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class KeepBest:
    """The rule of a collection that holds at most `room` pages."""

    room: int
    margin: float = 0.2  # by which a page must exceed the least kept one to be requested again
    # The same while other URLs are queued: importance still grows, and the page might leave again.
    early_margin: float = 1.0
    most_returns: int = 2  # how often a page is requested again after it left

    def leaving(self, values: Values, surplus: int) -> PagePositions:
        """The `surplus` pages that leave. Among equals those that came last leave: `values` are in
        the order in which the pages came."""
        surplus = min(surplus, len(values))
        if surplus <= 0:
            return np.zeros(0, np.intp)
        border = np.partition(values, surplus - 1)[surplus - 1]
        below = np.flatnonzero(values < border)
        equal = np.flatnonzero(values == border)
        last = equal[len(equal) - (surplus - len(below)) :]
        return np.sort(np.concatenate((below, last)))

    def returning(
        self,
        values: Values,
        returns: NDArray[np.integer],
        kept: Values,
        most: int,
        *,
        is_early: bool = False,
    ) -> PagePositions:
        """Of the pages that left, those to request again, the best first, at most `most`.

        `values` are of pages that left, `returns` says how often each was requested again, and
        `kept` are the values of the pages that are there or under way. A page returns if it is
        among the `room` best of all and clearly better than the least that is kept. While there is
        room, the best return that are worth anything. `is_early`: other URLs are queued.
        """
        may = np.flatnonzero((values > 0) & (returns < self.most_returns))
        best = may[np.argsort(-values[may], kind="stable")][: min(most, self.room)]
        free = max(0, self.room - len(kept))
        # The n-th of them takes the place of the n-th least of the kept pages, after the free ones.
        leaving = np.sort(kept)[: max(0, len(best) - free)]
        margin = self.early_margin if is_early else self.margin
        wanted = np.concatenate((np.zeros(len(best) - len(leaving)), leaving * (1 + margin)))
        if is_early:
            wanted[: len(best) - len(leaving)] = np.inf  # free places are for the queued URLs
        found: PagePositions = best[values[best] > wanted]
        return found
