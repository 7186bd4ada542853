"""Curves as an SVG picture, without a library. The x axis is logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

_WIDTH: Final = 720
_HEIGHT: Final = 400
_LEFT: Final = 60
_RIGHT: Final = 200  # room for the names
_TOP: Final = 40
_BOTTOM: Final = 50
_COLOURS: Final = ("#1b6ac9", "#c4442b", "#2d8a4e", "#8b4fb8", "#b8860b", "#4a4a4a")

Points = Sequence[tuple[float, float]]


def svg_curves(title: str, x_name: str, y_name: str, curves: Mapping[str, Points]) -> str:
    """One line per curve, named at its right end."""
    xs = [math.log10(x) for points in curves.values() for x, _ in points] or [0.0]
    ys = [y for points in curves.values() for _, y in points] or [0.0]
    low_x, high_x = (min(xs), max(xs)) if len(set(xs)) > 1 else (min(xs) - 1, max(xs) + 1)
    low_y, high_y = min(0.0, *ys), max(1.0, *ys)

    def at(x: float, y: float) -> tuple[float, float]:
        wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        right = (math.log10(x) - low_x) / (high_x - low_x)
        up = (y - low_y) / (high_y - low_y)
        return _LEFT + wide * right, _HEIGHT - _BOTTOM - high * up

    marks = sorted({x for points in curves.values() for x, _ in points})
    levels = sorted({low_y, 0.0, 0.25, 0.5, 0.75, 1.0, high_y})
    size, font = f"0 0 {_WIDTH} {_HEIGHT}", 'font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" {font}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="15">{escape(title)}</text>',
        *(_level(y, at(10**low_x, y), at(10**high_x, y)) for y in levels),
        *(_mark(x, at(x, low_y)) for x in marks),
        f'<text x="{_LEFT}" y="{_HEIGHT - 10}">{escape(x_name)}</text>',
        f'<text x="{_LEFT}" y="{_TOP - 4}" fill="#555">{escape(y_name)}</text>',
    ]
    for (name, points), colour in zip(curves.items(), _COLOURS * len(curves), strict=False):
        parts.append(_curve(name, [at(x, y) for x, y in sorted(points)], colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _level(y: float, begin: tuple[float, float], end: tuple[float, float]) -> str:
    return (
        f'<line x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="#ddd"/><text x="{_LEFT - 8}" y="{begin[1] + 4:.1f}" text-anchor="end">{y:.2f}'
        "</text>"
    )


def _mark(x: float, place: tuple[float, float]) -> str:
    return (
        f'<text x="{place[0]:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{x:g}</text>'
    )


def _curve(name: str, points: Points, colour: str) -> str:
    if not points:
        return ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
    x, y = points[-1]
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'
        f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>'
    )
