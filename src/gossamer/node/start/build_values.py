"""Bring an order by value up to a stored crawl, and keep it up to date."""

from __future__ import annotations

from gossamer.frontier.store import Store
from gossamer.node.parts import Parts
from gossamer.urls.keys import Keys


def add_values(parts: Parts, store: Store, keys: Keys) -> None:
    """Read what earlier runs learned: at once, or while the crawl runs if it is much."""
    selection = parts.frontier.selection
    if selection is None:
        return
    from gossamer.node.selection.live_values import LiveValues  # it loads NumPy

    restorer = None
    if not selection.is_restored:
        from gossamer.node.selection.restore import FEW_URLS, Restorer  # it loads DuckDB: 80 ms

        restorer = Restorer(selection, store, parts.paths.graph, keys)
        if parts.frontier.counts.known <= FEW_URLS:
            restorer.restore()
            restorer = None
    parts.background += (LiveValues(selection, parts.clock, restorer).keep_up,)
