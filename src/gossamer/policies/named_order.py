"""The order that a setting names: one of ours, or a plug-in.

A plug-in runs inside the node, for every URL. If it fails there, the crawl stops with one sentence
that names it; what was committed is safe.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gossamer.plugins import ORDER, Plugin, load_plugin, plugin_fault
from gossamer.policies.order import ORDERS, Candidate, Order
from gossamer.settings import Frontier, choices_of, describe

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.policies.orders.column_order import ColumnOrder

_BY_VALUE: Final = frozenset(choices_of(describe("frontier.order")[0])) - ORDERS.keys()
_BREADTH: Final = "breadth"
_MEMBERS: Final = ("score", "is_newest_first", "revision", "uses_link_counts")


def is_by_value(text: str) -> bool:
    """Whether an order scores URLs by what the crawl has learned of all of them, or is a mix. The
    others score a URL once (`order.py`)."""
    return text in _BY_VALUE or len(text.split()) > 1 or "+" in text


def disk_order(text: str) -> str:
    """The name of the order that the queue on disk has."""
    return _BREADTH if is_by_value(text) else text


def looks_at_anchors(text: str) -> bool:
    """Whether an order needs the anchor texts of links (`UrlOrder.wants_anchors`)."""
    return "similarity" in text


def looks_at_links(text: str) -> bool:
    """Whether an order needs anchor text and context of the links to new URLs. Raises
    PluginError."""
    if looks_at_anchors(text):
        return True
    if is_by_value(text) or text in ORDERS:
        return False
    order = order_named(text)
    return isinstance(order, PluginOrder) and order.uses_anchors


def is_focused(text: str) -> bool:
    """Whether an order needs the words of pages (`policies/focus/`)."""
    return any(word.strip() == "focus" for word in re.split(r"[\s+*]", text))


def order_named(name: str) -> Order:
    """The order of the queue on disk; that of an order by value is breadth-first.

    Raises PluginError for a plug-in that cannot be used, or is not there."""
    name = disk_order(name)
    ours = ORDERS.get(name)
    return ours() if ours is not None else PluginOrder(load_plugin(ORDER, name, _MEMBERS))


def values_named(
    settings: Frontier,
    visits: Mapping[str, float] | None = None,
    focus: ColumnOrder | None = None,
) -> ColumnOrder | None:
    """The order by value that the settings name; None where they name another order. `visits` are
    those of the log that they name, `focus` is the order of a focused crawl.

    Raises UsageError if a setting that the order needs is missing or wrong."""
    if not is_by_value(settings.order):
        return None
    from gossamer.policies.orders.makers import OrderFacts, make_order  # loads NumPy

    facts = OrderFacts(settings.query, settings.location, visits or {}, settings.order_seed, focus)
    return make_order(settings.order, facts)


class PluginOrder:
    """An order of another package, whose failures are errors of ours."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._order: Order = plugin.made
        self.uses_link_counts = bool(self._order.uses_link_counts)
        self.is_newest_first = bool(self._order.is_newest_first)
        self.uses_anchors = bool(getattr(self._order, "uses_anchors", False))

    @property
    def revision(self) -> int:
        try:
            return int(self._order.revision)
        except Exception as fault:
            raise plugin_fault(self._plugin, "to give its revision", fault) from fault

    def score(self, candidate: Candidate) -> int:
        try:
            return int(self._order.score(candidate))
        except Exception as fault:
            raise plugin_fault(self._plugin, f"to score {candidate.url}", fault) from fault
