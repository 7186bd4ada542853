"""Make the order that a text names: one order, or a weighted mix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from gossamer.base.weighted_names import read_mix
from gossamer.errors import UsageError
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.location import Location
from gossamer.policies.orders.logged_visits import LoggedVisits
from gossamer.policies.orders.mix import Mix, MixPart
from gossamer.policies.orders.named import LINK_ORDERS
from gossamer.policies.orders.similarity import Similarity


class OrderFacts(NamedTuple):
    """What the operator gives to orders."""

    query: str = ""
    location: Sequence[str] = ()
    visits: Mapping[str, float] = {}
    seed: int = 0
    focus: ColumnOrder | None = None  # made by the caller, who reads the examples


_WORD_ORDERS: Final[dict[str, Callable[[OrderFacts], ColumnOrder]]] = {
    "location": lambda facts: Location(facts.location),
    "similarity": lambda facts: Similarity(facts.query),
    "focus": lambda facts: _focus(facts.focus),
    "visits": lambda facts: LoggedVisits(facts.visits),
}
NAMES: Final = (*LINK_ORDERS, *_WORD_ORDERS)


def _focus(order: ColumnOrder | None) -> ColumnOrder:
    if order is None:
        raise UsageError(
            "--order focus needs a topic; add --query WORDS, --like FILE, or --model FILE"
        )
    return order


def make_order(text: str, facts: OrderFacts) -> ColumnOrder:
    """The order for one run. The text was checked with the settings.

    Raises UsageError if facts are missing."""
    parts = read_mix(text)
    if len(parts) == 1:
        return _one(parts[0].name, facts)
    return Mix([MixPart(weight, name, _one(name, facts)) for weight, name in parts])


def _one(name: str, facts: OrderFacts) -> ColumnOrder:
    maker = _WORD_ORDERS.get(name)
    return LINK_ORDERS[name](facts.seed) if maker is None else maker(facts)
