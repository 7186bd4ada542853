"""Where the marks of an axis stand, and what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

_MARKS: Final = 6  # about so many on an axis
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`; marks are values between."""

    low: float
    high: float
    marks: Sequence[float]
    scale: Literal["linear", "log"] = "linear"

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        if self.scale == "log":
            low, high = math.log10(self.low), math.log10(self.high)
            return (math.log10(max(value, self.low)) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)


def axis_of(values: Iterable[float], scale: Literal["linear", "log"]) -> Axis:
    """An axis for these values. A linear one starts at 0 unless values are negative or far from 0.
    On a logarithmic one, values of 0 and below have no place and are left out."""
    known = [value for value in values if math.isfinite(value)]
    if scale == "log":
        return _log_axis([value for value in known if value > 0])
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0 and low < 0.7 * high:
        low = 0.0
    if high <= low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    step = _step((high - low) / _MARKS)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    marks = [round(number * step, 12) for number in range(first, last + 1)]
    return Axis(marks[0], marks[-1], marks)


def _log_axis(known: list[float]) -> Axis:
    low, high = min(known, default=1.0), max(known, default=10.0)
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    if last - first >= 3:
        every = max(1, (last - first) // 8)
        return Axis(
            10.0**first, 10.0**last, [10.0**n for n in range(first, last + 1, every)], "log"
        )
    fine = [digit * 10.0**n for n in range(first, last + 1) for digit in (1, 2, 5)]
    marks = [mark for mark in fine if low / 2 <= mark <= high * 2] or [low, high]
    if len(marks) < 2:
        marks = [marks[0] / 2, *marks, marks[0] * 2]
    return Axis(min(low, marks[0]), max(high, marks[-1]), marks, "log")


def _step(about: float) -> float:
    """A round number that is at least so large."""
    power = 10.0 ** math.floor(math.log10(about))
    return next(step * power for step in _STEPS if step * power >= about * (1 - 1e-9))


def mark_text(value: float) -> str:
    """A mark for a person: 0.25, 1,000, 20 M."""
    size = abs(value)
    for least, name in ((1e9, " G"), (1e6, " M")):
        if size >= least:
            return f"{value / least:g}{name}"
    return f"{value:,.0f}" if size >= 1_000 else f"{value:g}"
