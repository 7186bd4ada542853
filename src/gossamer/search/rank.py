"""Order the candidates.

The index gives the best pages by words (plan.py). The first `Weights.candidates` of them are
ordered again: pages with more of the words first, then by relevance raised by link rank, then, for
a stable order, by key. The pages after them keep the order of the index, so that page two of the
hits continues page one.

Pure: gets scores and ranks, returns an order.
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

# Relevance that gives half of the largest score; a hit for two rare words has about 20.
_HALF: Final = 20.0


@dataclass(frozen=True, slots=True)
class RankCandidate:
    """A page that was found. `lift` is the factor of its link rank on relevance."""

    kept: Kept
    score: Score
    lift: float = 1.0

    @property
    def relevance(self) -> float:
        return self.score.relevance * self.lift

    @property
    def shown_score(self) -> float:
        """Number of words, with relevance as the fraction; decreases with the order."""
        return self.score.steps + self.relevance / (self.relevance + _HALF)


def lift_of(rank: float, weights: Weights) -> float:
    """The factor of a link rank (1.0 is average, 0.0 unknown) on relevance."""
    return 1 + weights.link_rank * math.log1p(rank)


def ordered(found: Sequence[RankCandidate], looked_at: int) -> list[RankCandidate]:
    """Candidates in display order; those after the first `looked_at` keep theirs."""
    first = sorted(
        found[:looked_at], key=lambda one: (-one.score.steps, -one.relevance, one.kept.key)
    )
    return [*first, *found[looked_at:]]


def newest(found: Iterable[RankCandidate]) -> list[RankCandidate]:
    """By date, newest first."""
    return sorted(found, key=lambda one: (-one.kept.at_us, one.kept.key))


def collapsed(found: Iterable[RankCandidate], per_site: int) -> Iterator[RankCandidate]:
    """The same order with at most `per_site` pages of a site; 0 means no limit."""
    if not per_site:
        yield from found
        return
    shown: Counter[str] = Counter()
    for one in found:
        site = site_of(host_of(one.kept.url))
        shown[site] += 1
        if shown[site] <= per_site:
            yield one
