"""Compare the lines of two texts: added, removed or unchanged. Pure.

Equal lines at both ends are skipped first. Of the rest a limited number of lines is compared,
because the work grows with the product of their numbers and the texts come from outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

_MOST_LINES: Final = 1_500  # of each text without equal ends: under a second at worst
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
    before, after = _lines(old), _lines(new)
    if before == after:
        return TextChanges(())
    head = _same_at_start(before, after)
    tail = _same_at_start(before[head:][::-1], after[head:][::-1])
    one, other = before[head : len(before) - tail], after[head : len(after) - tail]
    is_cut = max(len(one), len(other)) > _MOST_LINES
    parts = [
        *_same(before[:head], is_first=True),
        *_compared(one[:_MOST_LINES], other[:_MOST_LINES]),
        *_same(before[len(before) - tail :] if tail else [], is_last=True),
    ]
    return TextChanges(tuple(parts), is_cut)


def _lines(text: str) -> list[str]:
    stripped = (line.strip()[:_LONGEST_LINE] for line in text.splitlines())
    return [line for line in stripped if line]


def _same_at_start(one: list[str], other: list[str]) -> int:
    count = 0
    for old, new in zip(one, other, strict=False):
        if old != new:
            break
        count += 1
    return count


def _compared(one: list[str], other: list[str]) -> list[Change]:
    parts: list[Change] = []
    # Very frequent lines are not anchors (autojunk): otherwise 1,500 equal lines take minutes.
    for tag, start, end, new_start, new_end in SequenceMatcher(None, one, other).get_opcodes():
        if tag == "equal":
            parts += _same(one[start:end])
            continue
        if end > start:
            parts.append(Change("removed", tuple(one[start:end])))
        if new_end > new_start:
            parts.append(Change("added", tuple(other[new_start:new_end])))
    return parts


def _same(lines: list[str], *, is_first: bool = False, is_last: bool = False) -> list[Change]:
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
