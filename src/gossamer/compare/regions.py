"""Find which parts of two sequences are the same, by their longest common subsequence. Pure.

Equal ends are skipped first. Of the rest at most `MOST_ITEMS` items of each side are compared: the
work grows with the product of the two numbers, 2 ms and 2 MB at the limit, whatever the items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from rapidfuzz.distance import Indel

MOST_ITEMS: Final = 4_000


class Region(NamedTuple):
    """Items `old_start` to `old_end` of the old sequence, where the new one has `new_start` to
    `new_end`. Regions that are the same and that differ take turns."""

    is_same: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int

    @property
    def size(self) -> int:
        return max(self.old_end - self.old_start, self.new_end - self.new_start)


class Regions(NamedTuple):
    """All regions in order; `is_cut` if the sequences were too long to compare completely."""

    regions: list[Region]
    is_cut: bool = False


def regions_of(old: Sequence[Hashable], new: Sequence[Hashable]) -> Regions:
    """Compare two sequences. What is beyond the limit is in no region."""
    head = same_at_start(old, new)
    tail = same_at_start(old[head:][::-1], new[head:][::-1])
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    is_cut = max(len(one), len(other)) > MOST_ITEMS
    middle = _compared(one[:MOST_ITEMS], other[:MOST_ITEMS])
    found = [Region(True, 0, head, 0, head)] if head else []
    found += [Region(same, head + a, head + b, head + c, head + d) for same, a, b, c, d in middle]
    if tail:
        found.append(Region(True, len(old) - tail, len(old), len(new) - tail, len(new)))
    return Regions(list(_joined(found)), is_cut)


def same_at_start(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many items are equal from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def similarity(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """The share of items that both have in the same order, from 0 to 1."""
    return Indel.normalized_similarity(one, other)


def _compared(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[Region]:
    numbers: dict[Hashable, int] = {}  # the library compares hashes, which two items may share
    a = [numbers.setdefault(item, len(numbers)) for item in one]
    b = [numbers.setdefault(item, len(numbers)) for item in other]
    for code in Indel.opcodes(a, b):
        yield Region(
            code.tag == "equal", code.src_start, code.src_end, code.dest_start, code.dest_end
        )


def _joined(regions: list[Region]) -> Iterator[Region]:
    """Join neighbours that differ, or that are the same."""
    last: Region | None = None
    for region in regions:
        if last is not None and last.is_same is region.is_same:
            last = last._replace(old_end=region.old_end, new_end=region.new_end)
            continue
        if last is not None:
            yield last
        last = region
    if last is not None:
        yield last
