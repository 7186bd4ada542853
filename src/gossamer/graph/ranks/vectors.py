"""How much does a page matter, by the links to it? PageRank, and hubs and authorities.

PageRank: whoever follows links at random, and in 15 of 100 steps, or where there is no link to
follow, goes anywhere, is on a page with this probability. Hubs and authorities: a good hub
links to good authorities, which good hubs link to.

Both are power iterations over `InLinks`, in float64, chunk by chunk. Pure; the same links give
the same numbers to the last bit, however many chunks are read at once.

Steps towards PageRank often become alike: each is the one before, by a fifth shorter. What all
further ones would add up to is then known and gone at once (`_rest`), so the graph of a crawl of
three sites takes 46 rounds and not 95. It ends with a round from where it has got to, and what
that changes says how far off it is, however it came there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.ranks.numbered_links import InLinks, Places, in_links_of

Vector = NDArray[np.float64]

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-10
ROUNDS: Final = 200  # 0.85 ** 142 is 1e-10: more are never needed from an even start
HITS_TOLERANCE: Final = 1e-8
HITS_ROUNDS: Final = 200
CHUNK_LINKS: Final = 1_000_000  # 4 MB of sources, and as many ones for SciPy in 8 MB
# SciPy visits 600 million links a second and NumPy 190 (bench/ranks.py), but to import SciPy
# takes 0.18 s of CPU: as much as fifty rounds over so many links.
_FEW_LINKS: Final = 1_000_000
_LEAP_EVERY: Final = 5  # rounds: what is left of other directions fades in between
_THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class Ranked:
    """What came of an iteration: a value for each node, in their order."""

    values: Vector
    rounds: int
    change: float  # in the last round: the sum of all differences

    @classmethod
    def nothing(cls) -> Ranked:
        return cls(np.empty(0), 0, 0.0)


@dataclass(frozen=True, slots=True)
class Hits:
    """Hubs and authorities; each sums up to 1."""

    hubs: Ranked
    authorities: Ranked


def pagerank_of_pairs(
    sources: NDArray[np.integer],
    targets: NDArray[np.integer],
    nodes: int,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    start: Vector | None = None,
) -> Ranked:
    """PageRank of a graph given as two arrays, its nodes numbered 0 to `nodes` - 1."""
    links = in_links_of(sources, targets, nodes)
    return pagerank(links, damping=damping, tolerance=tolerance, start=start)


def pagerank(
    links: InLinks,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
    start: Vector | None = None,
) -> Ranked:
    """The PageRank of each node; the values sum up to 1.

    Ends when a round changes less than `tolerance` in sum, or after `rounds`. `start` is a
    vector to begin with, such as an earlier result; its scale does not matter, and what it
    leaves at 0 begins at an even share.
    """
    if not links.nodes:
        return Ranked.nothing()
    pull = _pull_of(links)
    ranks = _start(links, start)
    before, change, done = ranks, float("inf"), 0
    while done < rounds and change >= tolerance:
        new = _step(links, pull, ranks, damping, links.linking)
        change = _size(step := new - ranks)
        ranks = new
        done += 1
        if done % _LEAP_EVERY == 0 and change > tolerance and done < rounds:
            ranks += _rest(step, before)
        before = step
    full = _step(links, pull, ranks, damping, links.nodes)
    full /= full.sum()
    return Ranked(full[links.place_of], done, change)


def hits(links: InLinks, *, tolerance: float = HITS_TOLERANCE, rounds: int = HITS_ROUNDS) -> Hits:
    """Hubs and authorities, from an even start. A graph without links has none: all are 0."""
    if not links.links:
        none = Ranked(np.zeros(links.nodes), 0, 0.0)
        return Hits(none, none)
    pull, push = _pull_of(links), _push_of(links)
    hubs = np.full(links.linking, 1 / links.linking)
    authorities, change, done = np.zeros(links.nodes), float("inf"), 0
    while done < rounds and change >= tolerance:
        authorities = _in_sum_one(pull(hubs, links.nodes))
        new = _in_sum_one(push(authorities))
        change = float(np.abs(new - hubs).sum())
        hubs = new
        done += 1
    all_hubs = np.zeros(links.nodes)
    all_hubs[: links.linking] = hubs
    return Hits(
        Ranked(all_hubs[links.place_of], done, change),
        Ranked(authorities[links.place_of], done, change),
    )


def _start(links: InLinks, given: Vector | None) -> Vector:
    """Where the linking places begin; all places together have 1."""
    if given is None or not given.sum() > 0:
        return np.full(links.linking, 1 / links.nodes)
    begun = given / given.sum()
    begun[~(begun > 0)] = 1 / links.nodes
    begun /= begun.sum()
    does_link = links.place_of < links.linking
    start = np.empty(links.linking)
    start[links.place_of[does_link]] = begun[does_link]
    return start


def _step(links: InLinks, pull: _Pull, ranks: Vector, damping: float, rows: int) -> Vector:
    """The ranks of the first `rows` places after one more step from those that link."""
    adrift = 1 - ranks.sum()  # on pages without links
    anywhere = (1 - damping + damping * adrift) / links.nodes
    new = pull(ranks / links.out_links, rows)
    new *= damping
    new += anywhere
    return new


def _size(step: Vector) -> float:
    """How much a step changes. Rank outside `linking` is one lump: all of it goes anywhere,
    whoever has it."""
    return float(np.abs(step).sum() + abs(step.sum()))


def _rest(step: Vector, before: Vector) -> Vector | float:
    """What the steps that follow add up to, if they go on as these two; else nothing.

    From here the goal is at most `reach` steps off, damping / (1 - damping). A leap is off by at
    most reach / (1 - ratio) times what the steps differ by: with half of 1 - ratio it is worth it,
    whatever the links are.
    """
    size = _size(step)
    ratio = size / (_size(before) or size)
    if ratio >= 1 or _size(step - ratio * before) > (1 - ratio) / 2 * size:
        return 0.0
    return step * (ratio / (1 - ratio))


def _in_sum_one(values: Vector) -> Vector:
    shares: Vector = values / values.sum()
    return shares


# -- sums over links

_Pull = Callable[[Vector, int], Vector]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A span of links, and the rows that it touches; the first and last may be cut."""

    first_row: int
    starts: Places  # where each row begins in `sources`; one more at the end
    sources: Places

    @property
    def rows(self) -> slice:
        return slice(self.first_row, self.first_row + len(self.starts) - 1)


def _chunks(links: InLinks, rows: int) -> Iterator[Callable[[], _Chunk]]:
    """The links of the first `rows` places in chunks, each read when it is called."""
    stop_link = int(links.starts[rows])
    for start in range(0, stop_link, CHUNK_LINKS):
        stop = min(start + CHUNK_LINKS, stop_link)
        yield partial(_read, links, start, stop)


def _read(links: InLinks, start: int, stop: int) -> _Chunk:
    number = links.starts.dtype.type  # of another type, it would make NumPy copy all starts
    first = int(np.searchsorted(links.starts, number(start), "right")) - 1
    last = int(np.searchsorted(links.starts, number(stop), "left"))
    cut = np.clip(links.starts[first : last + 1], start, stop) - start
    return _Chunk(first, cut.astype(np.int32), links.sources.read(start, stop))


def _pull_of(links: InLinks) -> _Pull:
    """A function (values of linking places, rows) -> for each row the sum over its sources."""
    if links.links <= _FEW_LINKS:
        return _Plain(links).pulled
    sparse = _Sparse(links.linking)

    def pulled(values: Vector, rows: int) -> Vector:
        sums = np.zeros(rows)
        for where, part in _in_threads(links, rows, lambda chunk: sparse.pulled(chunk, values)):
            sums[where] += part  # a row that lies in two chunks gets both
        return sums

    return pulled


def _push_of(links: InLinks) -> Callable[[Vector], Vector]:
    """A function: values of all places -> for each linking place the sum over its targets."""
    if links.links <= _FEW_LINKS:
        return _Plain(links).pushed
    sparse = _Sparse(links.linking)

    def pushed(values: Vector) -> Vector:
        sums = np.zeros(links.linking)
        for _, part in _in_threads(links, links.nodes, lambda chunk: sparse.pushed(chunk, values)):
            sums += part
        return sums

    return pushed


def _in_threads(
    links: InLinks, rows: int, work: Callable[[_Chunk], Vector]
) -> Iterator[tuple[slice, Vector]]:
    """The rows of each chunk and what `work` makes of it, in their order, two at a time.

    NumPy and SciPy let go of the interpreter while they add.
    """

    def done(read: Callable[[], _Chunk]) -> tuple[slice, Vector]:
        chunk = read()
        return chunk.rows, work(chunk)

    reads = list(_chunks(links, rows))
    if len(reads) < 2:
        yield from map(done, reads)
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for begin in range(0, len(reads), _THREADS):  # so that no more are in memory
            yield from pool.map(done, reads[begin : begin + _THREADS])


class _Plain:
    """The sums by NumPy, over links that are few."""

    def __init__(self, links: InLinks) -> None:
        # NumPy would widen indices of 32 bits anew in every round, for a third of its time.
        self._sources = links.sources.read(0, links.links).astype(np.intp)
        self._in_counts = np.diff(links.starts)
        self._filled = np.flatnonzero(self._in_counts)
        self._starts = links.starts
        self._linking = links.linking

    def pulled(self, values: Vector, rows: int) -> Vector:
        sums = np.zeros(rows)
        filled = self._filled[: np.searchsorted(self._filled, rows)]
        if len(filled):
            spread = values.take(self._sources[: self._starts[rows]])  # three quarters of values[]
            sums[filled] = np.add.reduceat(spread, self._starts[filled])
        return sums

    def pushed(self, values: Vector) -> Vector:
        weights = np.repeat(values, self._in_counts)
        sums = np.bincount(self._sources, weights, self._linking)
        return sums.astype(np.float64, copy=False)  # it is; the stubs do not know


class _Sparse:
    """The same sums by SciPy; a link weighs 1, and all chunks share the ones."""

    def __init__(self, columns: int) -> None:
        # Not at the top of the file: a small crawl ends without SciPy.
        self._matrix: Any = importlib.import_module("scipy.sparse").csr_array
        self._ones = np.ones(CHUNK_LINKS)
        self._columns = columns

    def pulled(self, chunk: _Chunk, values: Vector) -> Vector:
        sums: Vector = self._matrix_of(chunk) @ values
        return sums

    def pushed(self, chunk: _Chunk, values: Vector) -> Vector:
        sums: Vector = self._matrix_of(chunk).T @ values[chunk.rows]
        return sums

    def _matrix_of(self, chunk: _Chunk) -> Any:
        ones = self._ones[: len(chunk.sources)]
        shape = (len(chunk.starts) - 1, self._columns)
        return self._matrix((ones, chunk.sources, chunk.starts), shape=shape, copy=False)
