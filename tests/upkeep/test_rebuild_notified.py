"""A rebuild keeps how far webhook and command were told: the archive does not say it."""

from __future__ import annotations

import shutil
from pathlib import Path

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths, open_to_read, open_to_write
from gossamer.frontier.meta_keys import NOTIFIED_PREFIX
from gossamer.frontier.store import StateTable
from gossamer.node.notify.positions import Position, positions_in
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl
from support.a_site import page, site_in_thread

TOLD = Position(3, 5, delivered=3, batches=2, fault="it answered 500", failures=1)


def _crawled(collection: Path) -> CollectionPaths:
    with site_in_thread({"/": page("<p>some words</p>")}) as site:
        crawl(collection, [site.url()])
    paths = CollectionPaths(collection)
    store = open_to_write(paths, 16)
    store.write({StateTable.META: {NOTIFIED_PREFIX + b"webhook": TOLD.encode()}})
    store.close()
    return paths


def test_a_rebuilt_state_knows_what_was_sent(collection: Path) -> None:
    paths = _crawled(collection)

    rebuild(paths, "all", SystemClock(), lambda _said: None)

    store = open_to_read(paths)
    assert positions_in(store) == {"webhook": TOLD}
    store.close()


def test_a_lost_state_is_rebuilt_without_it(collection: Path) -> None:
    paths = _crawled(collection)
    shutil.rmtree(paths.state)

    rebuild(paths, "all", SystemClock(), lambda _said: None)

    store = open_to_read(paths)
    assert positions_in(store) == {}
    store.close()
