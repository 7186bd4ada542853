"""Compare the ways to crawl with several processes, on a stored link graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.graph.ranks.numbered_links import in_links_of
from gossamer.graph.ranks.vectors import pagerank
from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.lockstep import BATCH_PAGES, IN_FLIGHT, ProcessGroup
from gossamer.lab.parallel.measures import (
    LEVELS,
    Crawled,
    Quality,
    balance_of,
    crawl,
    overlap_of,
    quality_of,
)
from gossamer.lab.parallel.modes import (
    DYNAMIC,
    EXCHANGE_BATCH,
    FIREWALL,
    INDEPENDENT,
    STATIC,
    Mode,
    Sending,
)
from gossamer.lab.parallel.owners import PageOwners
from gossamer.lab.parallel.queues import PageNumbers
from gossamer.lab.parallel.reached import messages, reachable, reached_by_each
from gossamer.policies.partition import NAMES, URL_HASH

PROCESSES: Final = (2, 4, 8, 16, 32, 64)
MOST_PROCESSES: Final = 64
NO_PARTITION: Final = "none"
_PIECES: Final = 32  # per process, with a dynamic assignment

Importance = Literal["pagerank", "backlinks"]
ParallelProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ParallelLab:
    """What an experiment is made with."""

    processes: tuple[int, ...] = PROCESSES
    partitions: tuple[str, ...] = NAMES
    seeds: int = 64  # in all, whatever the number of processes
    repeats: int = 1  # with other random seeds
    random_seed: int = 1
    fraction: float = 0.1  # of the pages, when quality is measured
    importance: Importance = "pagerank"
    in_flight: int = IN_FLIGHT  # pages that a process fetches at once
    batch_pages: int = BATCH_PAGES  # between two batches of a process


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """One mode with one partition and number of processes, from one set of seeds."""

    overlap: float
    coverage: float
    quality: float
    urls_per_page: float
    hot: float  # share of the best pages that were fetched, when quality is measured
    balance: float
    overlap_at: dict[float, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParallelRow:
    """One mode with one partition and number of processes: the figures of each repeat."""

    partition: str
    mode: str
    assignment: str
    processes: int
    runs: tuple[ModeFigures, ...]

    def mean(self, name: str) -> float:
        """The mean of a figure over the repeats."""
        return fmean(getattr(run, name) for run in self.runs)

    def span(self, name: str) -> tuple[float, float]:
        """The smallest and the largest value of a figure."""
        values = [getattr(run, name) for run in self.runs]
        return min(values), max(values)


class _Start:
    """One set of seeds, and the crawls from it."""

    def __init__(
        self, graph: LinkGraph, lab: ParallelLab, seeds: PageNumbers, worth: NDArray[np.float64]
    ) -> None:
        self._graph, self._lab, self._seeds, self._worth = graph, lab, seeds, worth
        self._is_reachable = reachable(graph, seeds)
        self._pages = int(np.count_nonzero(self._is_reachable))

    def static(self, mode: Mode, owners: PageNumbers, count: int) -> ModeFigures:
        """A mode with a static assignment, or none."""
        group = ProcessGroup(count, mode, owners, 0, "breadth", *self._pace)
        if mode is FIREWALL:
            return self._figures(self._walled(owners, count), group)
        if mode is EXCHANGE_BATCH:
            return self._figures(crawl(self._graph, group, self._seeds, self._pages), group)
        if mode.keeps_all:
            return self._overlapping(group)
        return self._figures(self._exchanged(mode, owners, count), group)

    def dynamic(self, pieces_of: PageNumbers, count: int) -> ModeFigures:
        """A coordinator gives pieces of the web to processes."""
        pieces = int(pieces_of.max()) + 1
        group = ProcessGroup(count, DYNAMIC, pieces_of, pieces, "breadth", *self._pace)
        return self._figures(crawl(self._graph, group, self._seeds, self._pages), group)

    @property
    def _pace(self) -> tuple[int, int]:
        return self._lab.in_flight, self._lab.batch_pages

    def _walled(self, owners: PageNumbers, count: int) -> Crawled:
        is_fetched = reachable(self._graph, self._seeds, owners)
        return Crawled(is_fetched, np.bincount(owners[is_fetched], minlength=count))

    def _exchanged(self, mode: Mode, owners: PageNumbers, count: int) -> Crawled:
        is_fetched = self._is_reachable
        links, urls = messages(self._graph, is_fetched, owners, count)
        sent = links if mode.sending is Sending.ALL else urls
        return Crawled(is_fetched, np.bincount(owners[is_fetched], minlength=count), sent)

    def _overlapping(self, group: ProcessGroup) -> ModeFigures:
        """Processes that fetch the same pages: what each reaches, and the overlap on the way."""
        starts = group.piece_of[self._seeds]
        if group.mode is INDEPENDENT:
            starts = (np.arange(len(self._seeds)) % group.count).astype(np.int32)
        by_process = reached_by_each(self._graph, self._seeds, starts, group.count)
        levels = {level: int(np.ceil(level * self._pages)) for level in LEVELS}
        crawled = crawl(self._graph, group, self._seeds, max(levels.values()), levels)
        whole = Crawled(self._is_reachable, np.array(by_process), 0, crawled.overlap_at)
        return self._figures(whole, group)

    def _figures(self, crawled: Crawled, group: ProcessGroup) -> ModeFigures:
        quality = self._quality(group)
        return ModeFigures(
            overlap=overlap_of(crawled.fetched, crawled.distinct),
            coverage=crawled.distinct / self._pages,
            quality=quality.importance,
            urls_per_page=crawled.urls_per_page,
            hot=quality.hot,
            balance=balance_of(crawled.by_process),
            overlap_at=crawled.overlap_at,
        )

    def _quality(self, group: ProcessGroup) -> Quality:
        by_links = ProcessGroup(
            group.count, group.mode, group.piece_of, group.pieces, "backlinks", *self._pace
        )
        most = max(1, round(self._lab.fraction * self._pages))
        crawled = crawl(self._graph, by_links, self._seeds, most)
        return quality_of(crawled.is_fetched, self._is_reachable, self._worth)


def compare(
    graph: LinkGraph, lab: ParallelLab, notify: ParallelProgress = lambda _: None
) -> list[ParallelRow]:
    """Crawl the graph in every way. Raises UsageError if it has no pages."""
    if not graph.pages:
        raise UsageError("the graph has no pages")
    owners = PageOwners(graph)
    if not usable(lab.partitions, owners):
        raise UsageError(f"{', '.join(lab.partitions)} needs sites; give --sites FILE")
    worth = importance_of(graph, lab.importance)
    chance = np.random.default_rng(lab.random_seed)
    count = min(lab.seeds, graph.pages)
    starts = [
        _Start(graph, lab, chance.choice(graph.pages, count, replace=False).astype(np.int32), worth)
        for _ in range(lab.repeats)
    ]
    return list(_rows(lab, owners, starts, graph.pages, notify))


def _rows(
    lab: ParallelLab,
    owners: PageOwners,
    starts: Sequence[_Start],
    pages: int,
    notify: ParallelProgress,
) -> Iterator[ParallelRow]:
    nobody = np.zeros(pages, np.int32)
    for count in sorted({1, *lab.processes}):
        notify(f"{count} independent")
        runs = tuple(start.static(INDEPENDENT, nobody, count) for start in starts)
        yield ParallelRow(NO_PARTITION, INDEPENDENT.name, INDEPENDENT.assignment, count, runs)
    for partition in usable(lab.partitions, owners):
        for count in lab.processes:
            owned = owners.by(partition, count)
            for mode in STATIC:
                notify(f"{count} {partition} {mode.name}")
                runs = tuple(start.static(mode, owned, count) for start in starts)
                yield ParallelRow(partition, mode.name, mode.assignment, count, runs)
            notify(f"{count} {partition} {DYNAMIC.name}")
            pieces = owners.by(partition, _PIECES * count)
            runs = tuple(start.dynamic(pieces, count) for start in starts)
            yield ParallelRow(partition, DYNAMIC.name, DYNAMIC.assignment, count, runs)


def usable(partitions: Sequence[str], owners: PageOwners) -> list[str]:
    """The partitions that the data allows: without sites only the one by URLs."""
    return [name for name in partitions if owners.has_sites or name == URL_HASH]


def importance_of(graph: LinkGraph, kind: Importance) -> NDArray[np.float64]:
    """The true importance of each page, from all links."""
    if kind == "backlinks":
        return graph.in_degree.astype(np.float64)
    sources = np.repeat(np.arange(graph.pages, dtype=np.int32), graph.out_degree)
    return pagerank(in_links_of(sources, graph.targets, graph.pages)).values


def processes_in(text: str) -> tuple[int, ...]:
    """`2,4,8` as numbers of processes. Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_PROCESSES for word in words):
        raise UsageError(
            f"--processes {text!r} is not a list of numbers from 1 to {MOST_PROCESSES}, "
            "such as 2,4,8,16"
        )
    return tuple(sorted(set(map(int, words))))


def partitions_in(text: str) -> tuple[str, ...]:
    """`url-hash,site-hash` as names of partitions. Raises UsageError."""
    names = [word.strip() for word in text.split(",")]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise UsageError(
            f"--partitions: there is no {unknown[0]!r} (choose from {', '.join(NAMES)})"
        )
    return tuple(dict.fromkeys(names))
