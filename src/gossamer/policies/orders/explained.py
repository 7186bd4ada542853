"""The parts of a URL's score, for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns
from gossamer.policies.orders.mix import Mix


@dataclass(frozen=True, slots=True)
class OrderPart:
    """One order of a mix: `value` on its own scale, `share` from 0 to 1, and its weight."""

    order: str
    value: float
    weight: float = 1.0
    share: float | None = None  # only in a mix


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """Why a URL comes when it comes."""

    order: str
    value: float  # on its host the largest comes first
    parts: tuple[OrderPart, ...]
    links: int  # fetched pages that link to it
    rank: float
    site_pages: int  # fetched pages of its site, and requests in flight
    among_sites: float  # the value, divided by a power of `site_pages` + 1
    is_seed: bool  # seeds come first
    is_held_back: bool  # it comes behind all others: pages like it brought nothing new

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def explained(
    name: str,
    order: ColumnOrder,
    pages: PageColumns,
    slot: int,
    *,
    in_flight: int = 0,
    is_held_back: bool = False,
) -> ScoreParts:
    """The parts of a URL's score under an order that is called `name`."""
    slots = np.array([slot], np.int32)
    value = float(order.value(pages, slots)[0])
    had = int(pages.site_fetched[pages.site[slot]]) + in_flight
    return ScoreParts(
        order=name,
        value=value,
        parts=_parts(name, order, pages, slot),
        links=int(pages.links[slot]),
        rank=float(pages.rank[slot]),
        site_pages=had,
        among_sites=value / (1 + had) ** order.site_power,
        is_seed=int(pages.depth[slot]) == 0,
        is_held_back=is_held_back,
    )


def _parts(name: str, order: ColumnOrder, pages: PageColumns, slot: int) -> tuple[OrderPart, ...]:
    slots = np.array([slot], np.int32)
    if not isinstance(order, Mix):
        return (OrderPart(name, float(order.value(pages, slots)[0])),)
    shares = order.shares(pages, slots)
    return tuple(
        OrderPart(part.name, float(part.order.value(pages, slots)[0]), part.weight, float(share[0]))
        for part, share in zip(order.parts, shares, strict=True)
    )


def score_sentence(facts: dict[str, Any]) -> str:
    """What `as_json` gave, as one sentence."""
    if facts["is_seed"]:
        return f"Its score (order {facts['order']}): it is a seed, and comes first."
    parts = facts["parts"]
    if len(parts) > 1:
        terms = (
            f"{one['weight']:.3g} x {one['share']:.3g} ({one['order']} {one['value']:.3g})"
            for one in parts
        )
        made = f"{facts['value']:.4g} = {' + '.join(terms)}"
    else:
        made = f"{facts['value']:.4g}"
    told = [f"{facts['links']} fetched pages link to it", f"rank {facts['rank']:.3g}"]
    if facts["among_sites"] != facts["value"]:
        had = f"its site has had {facts['site_pages']} pages"
        told.append(f"{had}, so it counts {facts['among_sites']:.3g} among sites")
    held = " It is held back: pages like it brought nothing new." if facts["is_held_back"] else ""
    return f"Its score (order {facts['order']}): {made}; {', '.join(told)}.{held}"
