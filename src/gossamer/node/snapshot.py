"""The figures of a crawl at one moment, with the same names for a running and a stored crawl.

All figures of one snapshot come from one `Counts`, so they add up:

    known = queued + fetched + redirects + failed + refused = sum of by_class
    fetched + redirects = sum of by_status

A running crawl is ahead of what it has committed. Running and stored figures together would
contradict each other, so `crawl_figures` takes all from one source.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gossamer.base.packing import unpack
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.disk_use import disk_use
from gossamer.frontier.meta_keys import FOCUS_FIGURES_KEY, PRUNED_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.node.control import NotRunning, send
from gossamer.node.figures.progress import figures_of
from gossamer.node.notify.positions import notified_figures
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.trap_facts import trap_verdicts


def crawl_figures(paths: CollectionPaths) -> dict[str, Any]:
    """The figures of a crawl, from the running process if there is one, else from the stored state.

    Raises NoCollection, StoreError.
    """
    try:
        return dict(send(paths, "status"))
    except NotRunning:
        with CollectionReader.open(paths.path) as reader:
            fresh = reader.freshness()
            return {
                "schema": 1,
                "state": "stored",
                **figures_of(reader.counts()),
                "notified": notified_figures(reader.store),
                "focus": focus_figures(reader.store),
                "freshness": fresh.as_json() if fresh is not None else None,
            }


def focus_figures(store: Store) -> dict[str, Any] | None:
    """The figures of the last crawl for a topic, as it stored them; None where there was none."""
    row = store.find(StateTable.META, FOCUS_FIGURES_KEY)
    return None if row is None else dict(unpack(row))


def trap_figures(paths: CollectionPaths) -> list[dict[str, Any]]:
    """The verdicts about traps, as they were last committed. Raises NoCollection, StoreError."""
    with CollectionReader.open(paths.path) as reader:
        verdicts = sorted(trap_verdicts(reader.store), key=lambda one: -one.wasted)
        return [{**asdict(one), "sentence": one.sentence} for one in verdicts]


def disk_figures(paths: CollectionPaths) -> dict[str, Any]:
    """The disk use of each part, the budget, and what the retention rule has deleted so far.

    Raises NoCollection, StoreError.
    """
    with CollectionReader.open(paths.path) as reader:
        archive = reader.settings().archive
        row = reader.store.find(StateTable.META, PRUNED_KEY)
        captures, size = unpack(row)[:2] if row else (0, 0)
    return {
        **disk_use(paths.path).as_json(),
        "budget": archive.max_disk_bytes,
        "keep": archive.keep,
        "pruned_captures": captures,
        "pruned_bytes": size,
    }
