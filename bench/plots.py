"""Curves as SVG: a line through the medians, and a band from the smallest to the largest run.

Pure: points in, text out. No package draws here, because a figure in `bench/out` must be there on
every machine that can run the bench.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 360
_LEFT: Final = 70
_RIGHT: Final = 20
_TOP: Final = 44
_BOTTOM: Final = 56
_COLOURS: Final = ("#1b5e8c", "#c1502e", "#3f7f3f", "#7a4a9c", "#8a6d1d")
_FONT: Final = 'font-family="sans-serif" font-size="12"'
_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class Point:
    """One place on the x axis and every value measured there."""

    x: float
    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Curve:
    """What is measured, in the order of x."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """What a plot is of. `is_even` puts the points at even distances, whatever their x."""

    title: str
    x: str
    y: str
    is_even: bool = False


@dataclass(frozen=True, slots=True)
class _Frame:
    """From values to places on the paper."""

    low_x: float
    high_x: float
    high_y: float

    def x(self, value: float) -> float:
        share = (value - self.low_x) / ((self.high_x - self.low_x) or 1.0)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - value / self.high_y * (HEIGHT - _TOP - _BOTTOM)


def drawn(axes: Axes, curves: Sequence[Curve]) -> str:
    """The plot of one or more curves; y begins at 0, so that no change looks larger than it is."""
    labels: dict[float, str] = {}
    if axes.is_even:
        labels, curves = _evened(curves)
    xs = [point.x for curve in curves for point in curve.points] or [0.0]
    highest = max((v for c in curves for p in c.points for v in p.values), default=0.0)
    frame = _Frame(min(xs), max(xs), _nice(highest))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {_FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, 18, axes.title, "middle", 'font-weight="bold"'),
        _text(WIDTH / 2, HEIGHT - 6, axes.x, "middle"),
        _text(8, _TOP - 12, axes.y, "start"),
        *_grid(frame, labels),
    ]
    for number, curve in enumerate(curves):
        parts += _curve(frame, curve, _COLOURS[number % len(_COLOURS)], number)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _evened(curves: Sequence[Curve]) -> tuple[dict[float, str], list[Curve]]:
    xs = sorted({point.x for curve in curves for point in curve.points})
    place = {x: float(at) for at, x in enumerate(xs)}
    labels = {place[x]: f"{x:g}" for x in xs}
    moved = [
        Curve(curve.name, tuple(Point(place[p.x], p.values) for p in curve.points))
        for curve in curves
    ]
    return labels, moved


def _grid(frame: _Frame, labels: dict[float, str]) -> list[str]:
    parts = []
    for step in range(_TICKS + 1):
        value = frame.high_y * step / _TICKS
        y = frame.y(value)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{value:g}", "end"))
    width = (frame.high_x - frame.low_x) or 1.0
    ticks = [frame.low_x + width * step / _TICKS for step in range(_TICKS + 1)]
    # To a thousandth of the width: what is as good as 0 is written so.
    digits = max(0, 3 - math.ceil(math.log10(width)))
    places = labels or {tick: f"{round(tick, digits):.4g}" for tick in ticks}
    for at, label in places.items():
        parts.append(_text(frame.x(at), HEIGHT - _BOTTOM + 18, label, "middle"))
    return parts


def _curve(frame: _Frame, curve: Curve, colour: str, number: int) -> list[str]:
    if not curve.points:
        return []
    points = curve.points
    there = [f"{frame.x(p.x):.1f},{frame.y(max(p.values)):.1f}" for p in points]
    back = [f"{frame.x(p.x):.1f},{frame.y(min(p.values)):.1f}" for p in reversed(points)]
    line = [f"{frame.x(p.x):.1f},{frame.y(p.middle):.1f}" for p in points]
    parts = [
        f'<polyline points="{" ".join(line)}" fill="none" stroke="{colour}" stroke-width="2"/>'
    ]
    if any(len(p.values) > 1 for p in points):
        band = f'<polygon points="{" ".join(there + back)}" fill="{colour}" opacity="0.15"/>'
        dots = (place.split(",") for place in line)
        circles = [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in dots]
        parts = [band, *parts, *circles]
    at = WIDTH - _RIGHT - 4
    return [*parts, _text(at, _TOP - 8 + 14 * number, curve.name, "end", f'fill="{colour}"')]


def _text(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(words)}</text>'


def _nice(value: float) -> float:
    """The next round number: 1, 2 or 5 times a power of ten, so that the ticks are round too."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7.5, 10) if step * power >= value)
