"""In which order are the candidates shown?

The index gives the best pages by words (plan.py). The first `Weights.candidates` of them are put in
order again: pages with more of the words first, then by relevance raised by link rank, then, so
that the order is the same each time, by key. What comes after them keeps the index's order. So
page two of the hits goes on where page one ends.

Pure: told scores and ranks, returns an order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gossamer.index.entry import Kept
from gossamer.search.plan import Score
from gossamer.search.weights import Weights
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

# Relevance that makes half of the largest score; an answer of two rare words has about 20.
_HALF: Final = 20.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that was found. `lift` is what its link rank multiplies relevance by."""

    kept: Kept
    score: Score
    lift: float = 1.0

    @property
    def relevance(self) -> float:
        return self.score.relevance * self.lift

    @property
    def shown_score(self) -> float:
        """Words that it has, and behind the point how well; falls with the order."""
        return self.score.steps + self.relevance / (self.relevance + _HALF)


def lift_of(rank: float, weights: Weights) -> float:
    """What a link rank (1.0 is an average page's, 0.0 unknown) makes of relevance."""
    return 1 + weights.link_rank * math.log1p(rank)


def ordered(found: Sequence[Candidate], looked_at: int) -> list[Candidate]:
    """Candidates in the order in which they are shown; those after the first keep theirs."""
    first = sorted(
        found[:looked_at], key=lambda one: (-one.score.steps, -one.relevance, one.kept.key)
    )
    return [*first, *found[looked_at:]]


def newest(found: Iterable[Candidate]) -> list[Candidate]:
    """By date, the newest first."""
    return sorted(found, key=lambda one: (-one.kept.at_us, one.kept.key))


def collapsed(found: Iterable[Candidate], per_site: int) -> Iterator[Candidate]:
    """The same order with at the most so many pages of a site; 0 lets all pass."""
    if not per_site:
        yield from found
        return
    shown: Counter[str] = Counter()
    for one in found:
        site = site_of(host_of(one.kept.url))
        shown[site] += 1
        if shown[site] <= per_site:
            yield one
