"""Links as numbers, the form in which ranks are computed.

    pairs in any order --> sorted by target --> InLinks: for each target its sources

Nodes are numbered from 0, and get *places*: first those with outgoing links, then those without,
each in the order of their numbers. Rank flows only from the first ones, so an iteration processes
their rows only, and pages that were found and not fetched cost nothing until the last iteration.

A link of a node to itself does not count, and a repeated link counts once. Memory holds some
numbers per node and one chunk of links; many links are held in a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.ranks.spool import CHUNK, Spool, SpooledNumbers

Places = NDArray[np.int32]
_LOW: Final = np.int64(0xFFFFFFFF)
_MOST_SHORT: Final = 2**31 - 1
_NONE: Final = np.empty(0, np.int64)
_SAMPLE: Final = 1_000_000  # pairs that determine where the others are split


@dataclass(frozen=True, slots=True)
class LinkSources:
    """The sources of all links, by target: in memory, or in a file of int32."""

    kept: Places | None
    path: Path | None = None

    def read(self, start: int, stop: int) -> Places:
        if self.kept is not None:
            return self.kept[start:stop]
        assert self.path is not None, "they are in one of the two"
        return np.fromfile(self.path, np.int32, stop - start, offset=4 * start)


@dataclass(frozen=True, slots=True)
class InLinks:
    """Links by target. All fields but `place_of` use places, not numbers."""

    place_of: Places  # of each node
    linking: int  # places below this one have outgoing links
    starts: SpooledNumbers | Places  # of each place, the start of its sources; one more at the end
    out_links: Places  # of each place with outgoing links
    sources: LinkSources

    @property
    def nodes(self) -> int:
        return len(self.place_of)

    @property
    def links(self) -> int:
        return int(self.starts[-1])


def packed(sources: NDArray[np.integer], targets: NDArray[np.integer]) -> SpooledNumbers:
    """Pairs as one number each, the form in which they are spooled."""
    pairs = sources.astype(np.int64)
    pairs <<= 32
    pairs |= targets
    return pairs


def unpacked(pairs: SpooledNumbers) -> tuple[SpooledNumbers, SpooledNumbers]:
    """The sources and the targets of pairs."""
    return pairs >> 32, pairs & _LOW


def in_links_of(sources: NDArray[np.integer], targets: NDArray[np.integer], nodes: int) -> InLinks:
    """The links of a graph in memory."""
    return _gathered(packed(sources, targets), nodes)


def gather(pairs: Spool, nodes: int, folder: Path, chunk: int = CHUNK) -> InLinks:
    """The links of spooled pairs (`packed`). Data beyond one chunk is written to `folder`."""
    if len(pairs) <= chunk:
        chunks = list(pairs.chunks())  # usually one, which is not copied
        return _gathered(
            chunks[0] if len(chunks) == 1 else np.concatenate(chunks or [_NONE]), nodes
        )
    place_of = _place_of(pairs.chunks(), nodes)
    parted = _part(pairs, place_of, folder, chunk)
    path = folder / "sources.i32"
    path.unlink(missing_ok=True)
    return _joined(_sorted(parted), place_of, path)


def _gathered(pairs: SpooledNumbers, nodes: int) -> InLinks:
    """The links of pairs in memory."""
    place_of = _place_of([pairs], nodes)
    return _joined([np.sort(_placed(pairs, place_of))], place_of, None)


def _place_of(chunks: Iterable[SpooledNumbers], nodes: int) -> Places:
    """The place of each node: those with outgoing links come first."""
    links = np.zeros(nodes, bool)
    for pairs in chunks:
        sources, targets = unpacked(pairs)
        links[sources[sources != targets]] = True
    places = np.empty(nodes, np.int32)
    linking = int(links.sum())
    places[links] = np.arange(linking, dtype=np.int32)
    places[~links] = np.arange(linking, nodes, dtype=np.int32)
    return places


def _placed(pairs: SpooledNumbers, place_of: Places) -> SpooledNumbers:
    """Pairs as (target, source) in places, without links of a node to itself."""
    sources, targets = unpacked(pairs)
    other = sources != targets
    return packed(place_of[targets[other]], place_of[sources[other]])


def _part(pairs: Spool, place_of: Places, folder: Path, chunk: int) -> list[Spool]:
    """Pairs in spools of about half a chunk, in the order of targets."""
    bounds = _bounds(pairs, place_of, chunk)
    parted = [Spool(folder, f"part-{n}", max(1, chunk // 64)) for n in range(len(bounds) + 1)]
    for piece in pairs.chunks():
        placed = np.sort(_placed(piece, place_of))
        cuts = np.searchsorted(placed, bounds)
        for spool, numbers in zip(parted, np.split(placed, cuts), strict=True):
            spool.add(numbers.copy())  # a view would keep the whole piece in memory
    return parted


def _bounds(pairs: Spool, place_of: Places, chunk: int) -> SpooledNumbers:
    """The split positions: quantiles of every nth pair."""
    step = max(1, len(pairs) // _SAMPLE)
    sample = np.sort(np.concatenate([_placed(p[::step], place_of) for p in pairs.chunks()]))
    if not len(sample):  # only links of nodes to themselves
        return sample
    parts = 2 * len(pairs) // chunk + 1
    return np.unique(sample[np.arange(1, parts) * len(sample) // parts])


def _sorted(parted: list[Spool]) -> Iterator[SpooledNumbers]:
    for spool in parted:
        numbers = np.concatenate([np.empty(0, np.int64), *spool.chunks()])
        spool.drop()
        numbers.sort()
        yield numbers


def _joined(ordered: Iterable[SpooledNumbers], place_of: Places, path: Path | None) -> InLinks:
    """InLinks of consecutive sorted pieces of (target, source)."""
    nodes = len(place_of)
    in_counts, out_counts = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    kept = [np.empty(0, np.int32)]
    for pairs in ordered:
        targets, sources = unpacked(once(pairs))
        _count(in_counts, targets)
        _count(out_counts, sources)
        if path is None:
            kept.append(sources.astype(np.int32))
        else:
            with path.open("ab") as file:
                file.write(sources.astype(np.int32).data)
    starts = _starts(in_counts)
    linking = int(np.count_nonzero(out_counts))
    column = LinkSources(np.concatenate(kept)) if path is None else LinkSources(None, path)
    return InLinks(place_of, linking, starts, out_counts[:linking].copy(), column)


def _starts(counts: Places) -> SpooledNumbers | Places:
    """The start of each group for the given counts, and the end of the last."""
    if counts.sum(dtype=np.int64) > _MOST_SHORT:
        starts = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        return starts
    short = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=short[1:])
    return short


def once(ordered: SpooledNumbers) -> SpooledNumbers:
    """Sorted numbers without repeats. Equal ones are never in two pieces, because `_part` splits
    between.
    """
    if not len(ordered):
        return ordered
    is_new = np.empty(len(ordered), bool)
    is_new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def _count(counts: NDArray[np.signedinteger], nodes: SpooledNumbers) -> None:
    """Add how often each node occurs; the nodes of a sorted piece are close together."""
    if len(nodes):
        first, last = int(nodes.min()), int(nodes.max())
        counts[first : last + 1] += np.bincount(nodes - first).astype(counts.dtype)
