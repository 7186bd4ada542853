"""Plots as SVG, without a library: as a file of their own, and inside the HTML page.

Colours come from a set that can be told apart by people with red-green blindness (Okabe and Ito,
2008), with dashes from the eighth curve on.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from gossamer.lab.experiment import CurvePoints, LabPlot
from gossamer.lab.output.axes import Axis, axis_of, mark_text

WIDTH: Final = 860
HEIGHT: Final = 430
LEFT: Final = 64
TOP: Final = 44
_LEGEND: Final = 190  # room for names on the right
_BOTTOM: Final = 52
RIGHT: Final = WIDTH - _LEGEND
FLOOR: Final = HEIGHT - _BOTTOM
_DOTS_UP_TO: Final = 30  # points of a curve that get a dot each
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07d00", "#56b4e9", "#7f7f7f")
_DASHES: Final = ("", "7 4", "2 3", "9 3 2 3")
STYLE: Final = """
.plot{font:13px system-ui,sans-serif}
.plot text{fill:var(--ink,#222)}
.plot .paper{fill:var(--paper,#fff)}
.plot .line{stroke:var(--rule,#dcdcdc);stroke-width:1}
.plot .axis{stroke:var(--ink,#222);stroke-width:1}
.plot .title{font-size:16px;font-weight:600}
.plot .soft{fill:var(--soft,#5a5a5a)}
.plot polyline{fill:none;stroke-width:2;stroke-linejoin:round}
"""


def colour_of(number: int) -> str:
    """The colour of the curve with this number."""
    return _COLOURS[number % len(_COLOURS)]


def dash_of(number: int) -> str:
    """Its dashes; empty for a solid line."""
    return _DASHES[number // len(_COLOURS) % len(_DASHES)]


def axes_of(plot: LabPlot) -> tuple[Axis, Axis]:
    """Both axes of a plot."""
    points = [point for curve in plot.curves.values() for point in curve]
    return axis_of((x for x, _ in points), plot.x_scale), axis_of(
        (y for _, y in points), plot.y_scale
    )


def svg_file(plots: Sequence[LabPlot]) -> str:
    """All plots of a result below each other."""
    height = max(1, len(plots)) * (HEIGHT + 20)
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, plot in enumerate(plots):
        parts.append(f'<g transform="translate(0 {number * (HEIGHT + 20)})">{drawn(plot)}</g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def drawn(plot: LabPlot) -> str:
    """One plot as the content of an SVG element of WIDTH by HEIGHT."""
    x_axis, y_axis = axes_of(plot)
    title = escape(plot.title)
    middle = f'x="{(LEFT + RIGHT) / 2:.0f}" y="{HEIGHT - 10}"'
    parts = [
        f'<g class="plot"><title>{title}</title>',
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="20">{title}</text>',
        f'<text class="soft" x="{LEFT}" y="38">{escape(plot.y_name)}</text>',
        *(_level(y_axis, mark) for mark in y_axis.marks),
        *(_mark(x_axis, mark) for mark in x_axis.marks),
        f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{FLOOR}" y2="{FLOOR}"/>',
        f'<text class="soft" {middle} text-anchor="middle">{escape(plot.x_name)}</text>',
    ]
    for number, (name, points) in enumerate(plot.curves.items()):
        parts.append(_curve(number, name, points, x_axis, y_axis))
    return "".join([*parts, "</g>"])


def _level(axis: Axis, mark: float) -> str:
    y = FLOOR - axis.place(mark) * (FLOOR - TOP)
    return (
        f'<line class="line" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{mark_text(mark)}</text>'
    )


def _mark(axis: Axis, mark: float) -> str:
    x = LEFT + axis.place(mark) * (RIGHT - LEFT)
    return (
        f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{FLOOR}" y2="{FLOOR + 5}"/>'
        f'<text x="{x:.1f}" y="{FLOOR + 19}" text-anchor="middle">{mark_text(mark)}</text>'
    )


def _curve(number: int, name: str, points: CurvePoints, x_axis: Axis, y_axis: Axis) -> str:
    """A line and its name. The names stand below each other, so that none hides another."""
    colour, dash = colour_of(number), dash_of(number)
    style = f'stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")
    wide, high = RIGHT - LEFT, FLOOR - TOP
    at = [
        (LEFT + x_axis.place(x) * wide, FLOOR - y_axis.place(y) * high)
        for x, y in sorted(points)
        if (x > 0 or x_axis.scale == "linear") and (y > 0 or y_axis.scale == "linear")
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    dots = ""
    if len(at) <= _DOTS_UP_TO:
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at)
    y = TOP + 10 + 20 * number
    shown = name if len(name) <= 24 else f"{name[:23]}…"
    return (
        f'<g class="series" data-curve="{number}"><polyline points="{path}" {style}/>{dots}'
        f'<line x1="{RIGHT + 14}" x2="{RIGHT + 38}" y1="{y - 4}" y2="{y - 4}" stroke-width="3" '
        f'{style}/><text x="{RIGHT + 46}" y="{y}">{escape(shown)}</text></g>'
    )
