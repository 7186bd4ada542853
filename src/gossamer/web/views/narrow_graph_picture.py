"""The layout of the same graph for a phone: one column of names, with links as arcs beside them.

    (  centre
    (  the strongest nodes that link to it, or that it links to
    (  ...

The wide picture (`graph_picture.py`) has names on both sides, which a window of 390 pixels cannot
show at a readable size. Pure: numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, Literal

from gossamer.graph.ego import Ego
from gossamer.web.views.graph_picture import (
    Picture,
    PictureCurve,
    PictureNode,
    kind_of,
    origin_in,
    shortened,
    width_of,
)

WIDTH: Final = 350
_LINE: Final = 32
_EDGE: Final = 22
_AT: Final = 92  # x of the dots; arcs are to the left of them
_LONGEST: Final = 29  # characters of a name


def draw_narrow(ego: Ego) -> Picture:
    """Lay out a node and its neighbours, in a field of `WIDTH` by its height."""
    ordered = sorted(ego.neighbours, key=lambda one: -one.links)
    most = max((one.links for one in ordered), default=1)
    paths = origin_in(ego.centre)
    nodes = []
    if ego.centre:
        label = shortened(ego.centre, _LONGEST)
        nodes.append(PictureNode(ego.centre, label, _AT, _EDGE, 11, "centre", "right"))
    for one in ordered:
        nodes.append(
            PictureNode(
                name=one.name,
                label=shortened(one.name, _LONGEST, paths),
                x=_AT,
                y=_EDGE + len(nodes) * _LINE,
                radius=round(4 + 5 * math.sqrt(one.links / most), 1),
                kind=kind_of(one),
                side="right",
                links_in=one.links_in,
                links_out=one.links_out,
            )
        )
    height = 2 * _EDGE + _LINE * max(0, len(nodes) - 1)
    return Picture(tuple(nodes), tuple(_lines(ego, nodes)), height)


def _lines(ego: Ego, nodes: list[PictureNode]) -> Iterable[PictureCurve]:
    at = {node.name: node for node in nodes}
    longest = max(1.0, nodes[-1].y - nodes[0].y) if nodes else 1.0
    most = max((links for *_, links in ego.between), default=1)
    for source, target, links in ego.between:
        path = _arc(at[source], at[target], longest)
        yield PictureCurve(path, width_of(links, most) / 2, "between")
    centre = at.get(ego.centre)
    if centre is None:
        return
    most = max((one.links for one in ego.neighbours), default=1)
    for one in ego.neighbours:
        kind: Literal["in", "out"] = "in" if one.links_in else "out"
        yield PictureCurve(_arc(at[one.name], centre, longest), width_of(one.links, most) / 2, kind)


def _arc(one: PictureNode, other: PictureNode, longest: float) -> str:
    """Return an arc to the left of both nodes, wider for a longer one, within the picture."""
    share = math.sqrt(abs(one.y - other.y) / longest)
    x = _AT - 16 - (_AT - 24) * share * 4 / 3  # a curve goes three quarters of the way
    return f"M{one.x:g} {one.y:g}C{x:.1f} {one.y:g} {x:.1f} {other.y:g} {other.x:g} {other.y:g}"
