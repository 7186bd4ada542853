"""Compare the lines of two texts: added, removed or unchanged. Pure.

Of very long texts a limited number of lines is compared (`regions.py`), and of very long lines
their beginning, because the texts come from outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from gossamer.compare.regions import Region, regions_of

_LONGEST_LINE: Final = 2_000
_CONTEXT: Final = 3  # unchanged lines around each change


@dataclass(frozen=True, slots=True)
class Change:
    """Adjacent lines with the same change; of unchanged ones, `left_out` are omitted."""

    kind: Literal["added", "removed", "same"]
    lines: tuple[str, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class TextChanges:
    """All changes in order; `is_cut` if the texts were too long to compare completely."""

    parts: tuple[Change, ...]
    is_cut: bool = False


def changes(old: str, new: str) -> TextChanges:
    """Return the changes of a text; none if it is unchanged."""
    before, after = lines_of(old), lines_of(new)
    if before == after:
        return TextChanges(())
    found = regions_of(before, after)
    parts: list[Change] = []
    for number, region in enumerate(found.regions):
        if region.is_same:
            is_last = number == len(found.regions) - 1
            lines = before[region.old_start : region.old_end]
            parts += shown_same(lines, is_first=not number, is_last=is_last)
        else:
            parts += _different(region, before, after)
    return TextChanges(tuple(parts), found.is_cut)


def lines_of(text: str) -> list[str]:
    """The lines of a text that are compared: stripped, not empty, not longer than the limit."""
    stripped = (line.strip()[:_LONGEST_LINE] for line in text.splitlines())
    return [line for line in stripped if line]


def rests_of(text: str) -> list[str]:
    """What `lines_of` leaves out: the ends of lines that are too long."""
    stripped = map(str.strip, text.splitlines())
    return [line[_LONGEST_LINE:] for line in stripped if len(line) > _LONGEST_LINE]


def _different(region: Region, before: list[str], after: list[str]) -> list[Change]:
    removed = tuple(before[region.old_start : region.old_end])
    added = tuple(after[region.new_start : region.new_end])
    parts = [Change("removed", removed)] if removed else []
    return [*parts, Change("added", added)] if added else parts


def shown_same(lines: list[str], *, is_first: bool, is_last: bool) -> list[Change]:
    """Return unchanged lines: those next to a change, and the number of omitted ones."""
    before = 0 if is_first else _CONTEXT  # lines next to the change above
    after = 0 if is_last else _CONTEXT
    if not lines:
        return []
    if len(lines) <= before + after:
        return [Change("same", tuple(lines))]
    left_out = len(lines) - before - after
    first = [Change("same", tuple(lines[:before]))] if before else []
    last = tuple(lines[len(lines) - after :]) if after else ()
    return [*first, Change("same", last, left_out)]
