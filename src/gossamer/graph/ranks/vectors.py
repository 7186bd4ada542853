"""Rank pages by the links to them: PageRank, and hubs and authorities.

PageRank is the probability of being on a page for somebody who follows random links, and in 15 of
100 steps, or on a page without links, goes to a random page. Hubs and authorities: a good hub links
to good authorities, and good hubs link to a good authority.

Both are power iterations over `InLinks`, in float64, chunk by chunk. Pure; the same links give the
same numbers to the last bit, however many chunks are read at once.

Successive steps of PageRank often become proportional: each is the one before, shortened by a
fifth. Then the sum of all further steps is known and is added at once (`_rest`), so the graph of a
crawl of three sites takes 46 iterations and not 95. It ends with a normal iteration, whose change
bounds the error in any case.
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

from gossamer.graph.ranks.numbered_links import InLinks, Places

Vector = NDArray[np.float64]

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-10
ROUNDS: Final = 200  # 0.85 ** 142 is 1e-10: from an even start more are never needed
HITS_TOLERANCE: Final = 1e-8
HITS_ROUNDS: Final = 200
CHUNK_LINKS: Final = 1_000_000  # 4 MB of sources, and as many ones for SciPy in 8 MB
# SciPy processes 600 million links per second and NumPy 190 (bench/ranks.py), but importing SciPy
# takes 0.18 s of CPU: as much as fifty iterations over this many links.
_FEW_LINKS: Final = 1_000_000
_LEAP_EVERY: Final = 5  # iterations: other directions fade in between
_THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class Ranked:
    """The result of an iteration: a value per node, in their order."""

    values: Vector
    rounds: int
    change: float  # in the last iteration: the sum of all differences

    @classmethod
    def nothing(cls) -> Ranked:
        return cls(np.empty(0), 0, 0.0)


@dataclass(frozen=True, slots=True)
class Hits:
    """Hubs and authorities; each sums to 1."""

    hubs: Ranked
    authorities: Ranked


def pagerank(
    links: InLinks,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
    start: Vector | None = None,
) -> Ranked:
    """The PageRank of each node; the values sum to 1.

    Ends when an iteration changes less than `tolerance` in sum, or after `rounds`. `start` is a
    vector to start from, such as an earlier result; its scale does not matter, and entries with 0
    start at an even share.
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
    """Hubs and authorities, from an even start. Without links all are 0."""
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
    """The initial ranks of places with outgoing links; all places together have 1."""
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
    """The ranks of the first `rows` places after one more step."""
    adrift = 1 - ranks.sum()  # rank on pages without links
    anywhere = (1 - damping + damping * adrift) / links.nodes
    new = pull(ranks / links.out_links, rows)
    new *= damping
    new += anywhere
    return new


def _size(step: Vector) -> float:
    """The size of a step. Rank on pages without links is one lump: all of it is distributed
    evenly.
    """
    return float(np.abs(step).sum() + abs(step.sum()))


def _rest(step: Vector, before: Vector) -> Vector | float:
    """The sum of the following steps, if they continue like these two; else 0.

    From here the goal is at most `reach` steps away, damping / (1 - damping). A leap is wrong by at
    most reach / (1 - ratio) times the difference of the steps: with half of 1 - ratio it is worth
    it for any links.
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
    """A span of links, and the rows in it; the first and last may be cut."""

    first_row: int
    starts: Places  # start of each row in `sources`; one more at the end
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
    number = links.starts.dtype.type  # with another type NumPy would copy all starts
    first = int(np.searchsorted(links.starts, number(start), "right")) - 1
    last = int(np.searchsorted(links.starts, number(stop), "left"))
    cut = np.clip(links.starts[first : last + 1], start, stop) - start
    return _Chunk(first, cut.astype(np.int32), links.sources.read(start, stop))


def _pull_of(links: InLinks) -> _Pull:
    """A function (values of places with outgoing links, rows) -> for each row the sum over its
    sources.
    """
    if links.links <= _FEW_LINKS:
        return _Plain(links).pulled
    sparse = _Sparse(links.linking)

    def pulled(values: Vector, rows: int) -> Vector:
        sums = np.zeros(rows)
        for where, part in _in_threads(links, rows, lambda chunk: sparse.pulled(chunk, values)):
            sums[where] += part  # a row in two chunks gets both
        return sums

    return pulled


def _push_of(links: InLinks) -> Callable[[Vector], Vector]:
    """A function: values of all places -> for each place with outgoing links the sum over its
    targets.
    """
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
    """The rows of each chunk and the result of `work`, in order, two at a time.

    NumPy and SciPy release the interpreter lock while they add.
    """

    def done(read: Callable[[], _Chunk]) -> tuple[slice, Vector]:
        chunk = read()
        return chunk.rows, work(chunk)

    reads = list(_chunks(links, rows))
    if len(reads) < 2:
        yield from map(done, reads)
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        for begin in range(0, len(reads), _THREADS):  # limits how many are in memory
            yield from pool.map(done, reads[begin : begin + _THREADS])


class _Plain:
    """The sums by NumPy, for few links."""

    def __init__(self, links: InLinks) -> None:
        # NumPy would widen 32-bit indices in every iteration, for a third of its time.
        self._sources = links.sources.read(0, links.links).astype(np.intp)
        self._in_counts = np.diff(links.starts)
        self._filled = np.flatnonzero(self._in_counts)
        self._starts = links.starts
        self._linking = links.linking

    def pulled(self, values: Vector, rows: int) -> Vector:
        sums = np.zeros(rows)
        filled = self._filled[: np.searchsorted(self._filled, rows)]
        if len(filled):
            # three quarters of the time of values[]
            spread = values.take(self._sources[: self._starts[rows]])
            sums[filled] = np.add.reduceat(spread, self._starts[filled])
        return sums

    def pushed(self, values: Vector) -> Vector:
        weights = np.repeat(values, self._in_counts)
        sums = np.bincount(self._sources, weights, self._linking)
        return sums.astype(np.float64, copy=False)  # it already is; the stubs do not know


class _Sparse:
    """The same sums by SciPy; a link has weight 1, and all chunks share the ones."""

    def __init__(self, columns: int) -> None:
        # Imported here: a small crawl ends without SciPy.
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
