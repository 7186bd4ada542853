"""Compare the words of two lines: removed, added or unchanged. Pure.

Words are separated by white space. Of long lines only a limited number of words is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from gossamer.compare.regions import Region, regions_of

_MOST_WORDS: Final = 1_000
_NEAR: Final = 0.5  # of lines that share less, only the words at both ends are the same
_ISLAND: Final = 3  # words that are the same by chance: fewer than a third of both neighbours

WordKind = Literal["same", "removed", "added"]


class ChangedWords(NamedTuple):
    """Adjacent words with the same change."""

    kind: WordKind
    text: str


def changed_words(old: str, new: str) -> list[ChangedWords]:
    """Return the words of both texts in order; texts with little in common are not split."""
    one, other = old.split(), new.split()
    return list(_pieces(word_regions(one, other), one, other))


def word_regions(one: Sequence[str], other: Sequence[str]) -> list[Region]:
    """Which words of two lines are the same. If the lines have little in common, only those at
    both ends are."""
    if max(len(one), len(other)) > _MOST_WORDS or not (one and other):
        return [Region(False, 0, len(one), 0, len(other))] if one or other else []
    regions = without_islands(regions_of(one, other).regions)
    same = sum(region.size for region in regions if region.is_same)
    return regions if 2 * same >= _NEAR * (len(one) + len(other)) else _ends(regions)


def _ends(regions: list[Region]) -> list[Region]:
    first = 1 if regions[0].is_same else 0
    last = len(regions) - (1 if regions[-1].is_same else 0)
    inner = regions[first:last]
    if not inner:
        return regions
    start, end = inner[0], inner[-1]
    changed = Region(False, start.old_start, end.old_end, start.new_start, end.new_end)
    return [*regions[:first], changed, *regions[last:]]


def without_islands(regions: list[Region]) -> list[Region]:
    """Join changes with a few unchanged words between them: in two different sentences words such
    as "the" are the same by chance."""
    found: list[Region] = []
    for number, region in enumerate(regions):
        follows = regions[number + 1] if number + 1 < len(regions) else None
        joins = bool(found) and not found[-1].is_same
        if region.is_same and joins and follows is not None:
            joins = region.size * _ISLAND <= min(found[-1].size, follows.size)
        elif region.is_same:
            joins = False
        if joins:
            found[-1] = found[-1]._replace(old_end=region.old_end, new_end=region.new_end)
        else:
            found.append(region)
    return found


def _pieces(
    regions: list[Region], one: Sequence[str], other: Sequence[str]
) -> Iterator[ChangedWords]:
    for is_same, start, end, new_start, new_end in regions:
        if is_same:
            yield ChangedWords("same", " ".join(one[start:end]))
            continue
        if end > start:
            yield ChangedWords("removed", " ".join(one[start:end]))
        if new_end > new_start:
            yield ChangedWords("added", " ".join(other[new_start:new_end]))
