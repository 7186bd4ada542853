"""The layout of the picture of a link graph. Pure: numbers in, numbers out.

    pages that link to it  )   centre   (  pages that it links to

The requested node is in the middle. On an arc to its left are the nodes that link to it, to its
right those that it links to; nodes that do both are placed where there is room, in another colour.
Each node has its own line, so names never overlap. Without a centre the nodes alternate between
both arcs. The table beside the picture has the same content.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from gossamer.graph.ego import Ego, Neighbour

WIDTH: Final = 1_000
_LINE: Final = 30  # from one name to the next
_EDGE: Final = 20  # above the first and below the last
_INNER: Final = 325  # x of the ends of an arc, from the side
_BULGE: Final = 70  # how much further out its middle is
_LEAST_HEIGHT: Final = 180
_LONGEST: Final = 29  # characters of a name that are shown

NodeKind = Literal["centre", "in", "out", "both"]


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A dot and its name; `side` is the side of the name: left, right or middle."""

    name: str
    label: str
    x: float
    y: float
    radius: float
    kind: NodeKind
    side: Literal["left", "right", "middle"]
    links_in: int = 0
    links_out: int = 0


@dataclass(frozen=True, slots=True)
class PictureCurve:
    """A curve from one node to another; `path` is that of SVG."""

    path: str
    width: float
    kind: Literal["in", "out", "between"]


@dataclass(frozen=True, slots=True)
class Picture:
    """All shapes of the picture, in a field of `WIDTH` by `height`."""

    nodes: tuple[PictureNode, ...]
    lines: tuple[PictureCurve, ...]
    height: int


def draw(ego: Ego) -> Picture:
    """Lay out a node and its neighbours."""
    left, right = _sides(ego)
    height = max(_LEAST_HEIGHT, 2 * _EDGE + _LINE * max(len(left), len(right)))
    most = max((one.links for one in ego.neighbours), default=1)
    home = origin_in(ego.centre)
    nodes = [
        *_arc(left, "left", height, most, home),
        *_arc(right, "right", height, most, home),
    ]
    if ego.centre:
        label = shortened(ego.centre, 30)
        nodes.append(PictureNode(ego.centre, label, WIDTH / 2, height / 2, 13, "centre", "middle"))
    return Picture(tuple(nodes), tuple(_lines(ego, nodes)), height)


def origin_in(url: str) -> str:
    """Return the origin of a URL; its neighbours are shown by their paths."""
    scheme, colon, rest = url.partition("://")
    return f"{scheme}{colon}{rest.partition('/')[0]}" if colon else ""


def shortened(name: str, most: int = _LONGEST, home: str = "") -> str:
    """Shorten a name: drop its scheme, and replace the middle of a long one."""
    if home and name.startswith(f"{home}/"):
        plain = name[len(home) :]
    else:
        plain = name.removeprefix("https://").removeprefix("http://")
    if len(plain) <= most:
        return plain
    tail = most * 3 // 5
    return f"{plain[: most - tail - 1]}…{plain[-tail:]}"


def _sides(ego: Ego) -> tuple[list[Neighbour], list[Neighbour]]:
    if not ego.centre:
        return list(ego.neighbours[0::2]), list(ego.neighbours[1::2])
    sides: tuple[list[Neighbour], list[Neighbour]] = ([], [])
    for one in ego.neighbours:
        if not (one.links_in and one.links_out):
            sides[0 if one.links_in else 1].append(one)
    for one in ego.neighbours:
        if one.links_in and one.links_out:
            min(sides, key=len).append(one)
    return tuple(sorted(side, key=lambda one: -one.links) for side in sides)  # type: ignore[return-value]  # two of them


def _arc(
    side: list[Neighbour], where: Literal["left", "right"], height: int, most: int, home: str
) -> Iterable[PictureNode]:
    """Place one side from top to bottom, with the strongest nodes nearest to the middle."""
    ordered = _strongest_in_the_middle(side)
    for number, one in enumerate(ordered):
        y = height / 2 + (number - (len(ordered) - 1) / 2) * _LINE
        share = (y - height / 2) / (height / 2)
        inward = _INNER - _BULGE * math.sqrt(max(0.0, 1 - share * share))
        yield PictureNode(
            name=one.name,
            label=shortened(one.name, home=home),
            x=round(inward if where == "left" else WIDTH - inward, 1),
            y=round(y, 1),
            radius=round(4 + 6 * math.sqrt(one.links / most), 1),
            kind=kind_of(one),
            side=where,
            links_in=one.links_in,
            links_out=one.links_out,
        )


def _strongest_in_the_middle(side: list[Neighbour]) -> list[Neighbour]:
    return [*side[1::2][::-1], *side[0::2]]


def kind_of(one: Neighbour) -> NodeKind:
    if one.links_in and one.links_out:
        return "both"
    return "in" if one.links_in else "out"


def _lines(ego: Ego, nodes: list[PictureNode]) -> Iterable[PictureCurve]:
    at = {node.name: node for node in nodes}
    most = max((links for *_, links in ego.between), default=1)
    for source, target, links in ego.between:
        yield PictureCurve(_curve(at[source], at[target]), width_of(links, most) / 2, "between")
    centre = at.get(ego.centre)
    if centre is None:
        return
    most = max((one.links for one in ego.neighbours), default=1)
    for one in ego.neighbours:
        kind: Literal["in", "out"] = "in" if one.links_in else "out"
        yield PictureCurve(_curve(at[one.name], centre), width_of(one.links, most), kind)


def width_of(links: int, most: int) -> float:
    return round(1 + 3 * math.sqrt(links / most), 1)


def _curve(one: PictureNode, other: PictureNode) -> str:
    """Return a curve bent towards the middle, so that it does not run along the arc."""
    bend_x = (one.x + other.x) / 2 * 0.45 + WIDTH / 2 * 0.55
    bend_y = (one.y + other.y) / 2
    return f"M{one.x:g} {one.y:g}Q{bend_x:.1f} {bend_y:.1f} {other.x:g} {other.y:g}"
