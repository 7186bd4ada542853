"""The figures of a crawl at one moment: the same names for a running and for a stored one.

All figures of one snapshot come from one `Counts`, so they add up:

    known = queued + fetched + redirects + failed + refused = sum of by_class
    fetched + redirects = sum of by_status

A running crawl is ahead of what it has committed. Whoever mixes its figures with stored ones shows
sums that contradict each other, so `crawl_figures` takes all from the one or all from the other.
"""

from __future__ import annotations

from typing import Any

from gossamer.collection.directory import CollectionPaths
from gossamer.node.control import NotRunning, send
from gossamer.node.progress import figures_of
from gossamer.reader.collection_reader import CollectionReader


def crawl_figures(paths: CollectionPaths) -> dict[str, Any]:
    """How a crawl stands, from the running process if there is one, else from the stored state.

    Raises NoCollection, StoreError.
    """
    try:
        return dict(send(paths, "status"))
    except NotRunning:
        with CollectionReader.open(paths.path) as reader:
            return {"schema": 1, "state": "stored", **figures_of(reader.counts())}
