"""The parts of the score of a queued URL, from a running crawl or from the collection."""

from __future__ import annotations

from typing import Any

from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.stored_settings import stored_settings
from gossamer.collection.visit_log import read_visits
from gossamer.errors import GossamerError
from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import COUNTS_KEY, SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.control import NotRunning, send
from gossamer.policies.named_order import is_by_value, values_named
from gossamer.urls.keys import Keys


def score_parts(paths: CollectionPaths, url: str) -> dict[str, Any] | None:
    """The parts of the score of a canonical URL (`policies/orders/explained.py`). None if it has
    none: the order does not work by values, or nothing is known of the URL."""
    try:
        reply = send(paths, "score", url=url)
    except NotRunning:
        return _computed(paths, url)
    found = reply.get("score")
    return found if isinstance(found, dict) else None


def _computed(paths: CollectionPaths, url: str) -> dict[str, Any] | None:
    """Of a crawl that does not run. A large one is not read for one URL."""
    store = open_to_read(paths)
    try:
        settings = stored_settings(store)
        if settings is None or not is_by_value(settings.frontier.order):
            return None
        from gossamer.frontier.selection.selection import Selection  # these load NumPy
        from gossamer.node.selection.restore import FEW_URLS, Restorer

        if Counts.decode(store.find(StateTable.META, COUNTS_KEY)).known > FEW_URLS:
            return None
        try:
            order = values_named(settings.frontier, read_visits(settings))
        except GossamerError:  # a file that it needs is gone
            return None
        assert order is not None, "it is an order by value"
        selection = Selection(order, settings.frontier.scored_urls, is_new=False)
        keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
        Restorer(selection, store, paths.graph, keys).restore()
        parts = selection.explain(settings.frontier.order, keys.of(url))
        return parts.as_json() if parts is not None else None
    finally:
        store.close()
