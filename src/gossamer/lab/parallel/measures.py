"""Overlap, coverage, quality and communication of a parallel crawl, as Cho and Garcia-Molina define
them ("Parallel Crawlers", 2002).

    overlap          (N - I) / I: N pages fetched by all processes together, I of them distinct
    coverage         I / U: U pages that one process reaches alone from the same seeds
    quality          importance of the distinct pages, as a share of that of the best I pages of U
    urls per page    URLs sent to other processes, per fetched page
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.lockstep import Lockstep, ProcessGroup
from gossamer.lab.parallel.queues import PageNumbers
from gossamer.lab.parallel.reached import PageMask

LEVELS: Final = (0.5, 0.8, 0.9, 0.95)  # shares of coverage at which overlap is noted


@dataclass(slots=True)
class Crawled:
    """A parallel crawl, finished or stopped."""

    is_fetched: PageMask  # by any process
    by_process: NDArray[np.int64]  # pages that each process has fetched
    messages: int = 0
    overlap_at: dict[float, float | None] = field(default_factory=dict)

    @property
    def fetched(self) -> int:
        return int(self.by_process.sum())

    @property
    def distinct(self) -> int:
        return int(np.count_nonzero(self.is_fetched))

    @property
    def overlap(self) -> float:
        return overlap_of(self.fetched, self.distinct)

    @property
    def urls_per_page(self) -> float:
        return self.messages / self.fetched if self.fetched else 0.0


def overlap_of(fetched: int, distinct: int) -> float:
    """The share of fetches that were in vain, relative to the distinct pages."""
    return (fetched - distinct) / distinct if distinct else 0.0


def crawl(
    graph: LinkGraph,
    group: ProcessGroup,
    seeds: PageNumbers,
    most: int,
    levels: Mapping[float, int] | None = None,
) -> Crawled:
    """Crawl until `most` distinct pages are fetched, or no process has a page left. `levels` are
    numbers of distinct pages at which the overlap is noted, by their names."""
    crawled = Crawled(np.zeros(graph.pages, bool), np.zeros(group.count, np.int64))
    crawled.overlap_at = dict.fromkeys(levels or {})
    waiting = sorted((pages, level) for level, pages in (levels or {}).items())
    fetched = distinct = 0
    for step in Lockstep(graph, group, seeds).steps():
        new = step.pages[~crawled.is_fetched[step.pages]]
        distinct += len(np.unique(new))
        fetched += len(step.pages)
        crawled.is_fetched[new] = True
        crawled.by_process += np.bincount(step.processes, minlength=group.count)
        crawled.messages += step.messages
        while waiting and distinct >= waiting[0][0]:
            crawled.overlap_at[waiting.pop(0)[1]] = overlap_of(fetched, distinct)
        if distinct >= most:
            break
    return crawled


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the fetched pages are, beside the best ones of the same number."""

    importance: float  # share of the importance of the best pages
    hot: float  # share of the best pages that were fetched


def quality_of(
    is_fetched: PageMask, is_reachable: PageMask, importance: NDArray[np.float64]
) -> Quality:
    """Compare the fetched pages with the most important ones among all that can be reached."""
    fetched = np.flatnonzero(is_fetched)
    if not len(fetched):
        return Quality(0.0, 0.0)
    pages = np.flatnonzero(is_reachable)
    best = pages[np.argsort(-importance[pages], kind="stable")[: len(fetched)]]
    mass = float(importance[best].sum())
    share = float(importance[fetched].sum()) / mass if mass else 0.0
    return Quality(share, int(is_fetched[best].sum()) / len(best))


def balance_of(pages: NDArray[np.integer] | Sequence[int]) -> float:
    """Pages of the busiest process, as a multiple of the mean. 1 is a perfect balance."""
    counts = np.asarray(pages)
    return float(counts.max() / counts.mean()) if counts.sum() else 1.0
