"""The order that a setting names: one of ours, or a plug-in.

A plug-in runs inside the node, for every URL. If it fails there, the crawl stops with one sentence
that names it; what was committed is safe.
"""

from __future__ import annotations

from typing import Final

from gossamer.plugins import ORDER, Plugin, load_plugin, plugin_fault
from gossamer.policies.order import ORDERS, Candidate, Order

_MEMBERS: Final = ("score", "is_newest_first", "revision", "uses_link_counts")


def order_named(name: str) -> Order:
    """Raises PluginError for a plug-in that cannot be used, or is not there."""
    ours = ORDERS.get(name)
    return ours() if ours is not None else PluginOrder(load_plugin(ORDER, name, _MEMBERS))


class PluginOrder:
    """An order of another package, whose failures are errors of ours."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._order: Order = plugin.made
        self.uses_link_counts = bool(self._order.uses_link_counts)
        self.is_newest_first = bool(self._order.is_newest_first)

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
