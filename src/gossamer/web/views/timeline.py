"""Lay out the visits of a page on a time axis. The page draws it as SVG without JavaScript.

Positions are percentages, so that one drawing fits every width and its texts keep their size. A
visit that found a change is a large mark, one that found the page as it was a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

MOST_MARKS: Final = 400  # the newest; older ones are only in the table
_LEFT, _RIGHT = 3.0, 97.0  # percent, so that no mark is cut off
_TICKS: Final = 4
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR_US: Final = 3_600_000_000
_SHORT_US: Final = 2 * 86_400_000_000  # below it ticks have a time
SMALL: Final = frozenset({"same", "noise"})  # kinds of visits that are small marks


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """One visit: its place in percent, and its facts as the table has them."""

    x: float
    is_large: bool
    visit: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TimelineTick:
    """A date on the axis. `anchor` is how its text is aligned."""

    x: float
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A drawing of visits, from left to right in the order of time."""

    marks: tuple[TimelineMark, ...]
    ticks: tuple[TimelineTick, ...]
    left_out: int  # visits before the first mark


def timeline_of(visits: Sequence[dict[str, Any]]) -> Timeline:
    """The drawing for visits in the order of time; each has `at_us` and `kind`.

    Large marks come last, so that small ones do not cover them.
    """
    shown = visits[-MOST_MARKS:]
    if not shown:
        return Timeline((), (), 0)
    first, last = shown[0]["at_us"], shown[-1]["at_us"]
    marks = [
        TimelineMark(_place(visit["at_us"], first, last), visit["kind"] not in SMALL, visit)
        for visit in shown
    ]
    marks.sort(key=lambda mark: mark.is_large)
    return Timeline(tuple(marks), tuple(_ticks(first, last)), len(visits) - len(shown))


def _place(at_us: int, first: int, last: int) -> float:
    share = (at_us - first) / (last - first) if last > first else 0.5
    return round(_LEFT + share * (_RIGHT - _LEFT), 2)


def _ticks(first: int, last: int) -> list[TimelineTick]:
    if first == last:
        return [TimelineTick(50.0, _label(first, 0), "middle")]
    span = last - first
    times = [first + span * step // (_TICKS - 1) for step in range(_TICKS)]
    anchors = ("start", *("middle" for _ in times[2:]), "end")
    ticks = [
        TimelineTick(_place(at_us, first, last), _label(at_us, span), anchor)
        for at_us, anchor in zip(times, anchors, strict=True)
    ]
    # Neighbours with the same label say nothing.
    kept = [ticks[0]]
    kept += [tick for before, tick in pairwise(ticks) if before.label != tick.label]
    return kept


def _label(at_us: int, span_us: int) -> str:
    moment = _EPOCH + timedelta(microseconds=at_us)
    if span_us == 0:
        return moment.strftime("%Y-%m-%d %H:%M")
    if span_us > _SHORT_US:
        return moment.strftime("%Y-%m-%d")
    return moment.strftime("%m-%d %H:%M" if span_us > _HOUR_US else "%H:%M:%S")
