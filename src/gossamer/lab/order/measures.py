"""What the visits of a crawl were worth, by what is known of all pages at the end.

Fractions of the crawl count the pages that can be reached from its seeds; what cannot be reached is
left out of all figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph
from gossamer.lab.order.true_rank import TrueRanks, true_ranks
from gossamer.lab.virtual_crawler import GraphPages

FRACTIONS: Final = (0.1, 0.2, 0.5)  # of the crawl, for tables
POINTS: Final = np.linspace(0.0, 1.0, 101)  # of curves
LINKS_HOT: Final = (3, 10, 100)  # Cho's G: links to a hot page
RANK_HOT: Final = 13.2  # Cho's G for PageRank, where 1 is average

Shares = NDArray[np.float64]


@dataclass(frozen=True)
class KnownWorth:
    """What pages are worth, by all links of the graph."""

    graph: LinkGraph
    ranks: TrueRanks = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranks", true_ranks(self.graph))

    @cached_property
    def hot(self) -> dict[str, NDArray[np.bool_]]:
        """Hot pages, by the name of their definition."""
        by_links = {f"links >= {least}": self.graph.in_degree >= least for least in LINKS_HOT}
        return by_links | {f"rank >= {RANK_HOT}": self.ranks >= RANK_HOT}

    @cached_property
    def places(self) -> dict[str, GraphPages]:
        """The place of each page among all, by importance; the first has 0."""
        return {"links": _places(self.graph.in_degree), "rank": _places(self.ranks)}


@dataclass(frozen=True)
class VisitMeasures:
    """One crawl: curves over `POINTS`."""

    pages: int  # that were visited: all that can be reached
    area: float  # between the curve of rank mass and the diagonal
    mass: Shares  # share of the rank that is found
    hot: dict[str, Shares]  # share of the hot pages that are found, by definition
    top: dict[str, Shares]  # share of the K best pages among K visited ones, by importance
    hot_pages: dict[str, int]


def measure_visits(visits: GraphPages, worth: KnownWorth) -> VisitMeasures:
    """Measure a crawl that visited all pages that it can reach, in this order."""
    found = np.concatenate(([0.0], np.cumsum(worth.ranks[visits])))
    shares = found / found[-1]
    at = np.round(POINTS * len(visits)).astype(np.int64)
    hot, counts = {}, {}
    for name, is_hot in worth.hot.items():
        seen = np.concatenate(([0], np.cumsum(is_hot[visits])))
        counts[name] = int(seen[-1])
        hot[name] = seen[at] / max(counts[name], 1)
    return VisitMeasures(
        pages=len(visits),
        area=float(np.trapezoid(shares - np.linspace(0.0, 1.0, len(shares)))) / len(visits),
        mass=shares[at],
        hot=hot,
        top={name: _top_shares(visits, places, at) for name, places in worth.places.items()},
        hot_pages=counts,
    )


def shared_pages(starts: Sequence[GraphPages]) -> float | None:
    """The mean share of pages that two of these sets have in common; None with fewer than two."""
    shares = [
        len(np.intersect1d(one, other)) / max(len(one), 1)
        for number, one in enumerate(starts)
        for other in starts[number + 1 :]
    ]
    return sum(shares) / len(shares) if shares else None


def at_fractions(curve: Shares) -> dict[str, float]:
    """The values of a curve at `FRACTIONS`, for people and programs."""
    return {f"{part:g}": round(float(np.interp(part, POINTS, curve)), 4) for part in FRACTIONS}


def _places(worth: NDArray[np.number]) -> GraphPages:
    places = np.empty(len(worth), np.int32)
    places[np.argsort(-worth, kind="stable")] = np.arange(len(worth), dtype=np.int32)
    return places


def _top_shares(visits: GraphPages, places: GraphPages, at: NDArray[np.int64]) -> Shares:
    """Crawl & stop: of the first K visits, the share that belongs to the K best of all visited."""
    among = np.empty(len(visits), np.int32)
    among[np.argsort(places[visits])] = np.arange(len(visits), dtype=np.int32)
    return np.array([(among[:many] < many).mean() if many else 0.0 for many in at])
