"""Figures of freshness name hosts: a host that is forgotten is not among them any more."""

from __future__ import annotations

from pathlib import Path

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths, open_to_read, open_to_write
from gossamer.frontier.meta_keys import FRESHNESS_KEY
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.freshness import Freshness, SiteFreshness
from gossamer.upkeep.forget import forget
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl
from support.a_site import page, site_in_thread


def _figures(*hosts: str) -> Freshness:
    sites = tuple(SiteFreshness(host, 1, 0.9, 60.0, None, None, 0) for host in hosts)
    sums = (1.0, 2.0, 3.0)
    return Freshness(1, "uniform", 2, 0.9, 60.0, None, None, 0.1, 0, 0, 0, 0, sums, sites)


def test_figures_of_freshness_do_not_name_a_host_that_was_forgotten(collection: Path) -> None:
    with (
        site_in_thread({"/": page("one")}) as one,
        site_in_thread({"/": page("two")}, host="127.0.0.2") as two,
    ):
        crawl(collection, [one.url(), two.url()])
    paths = CollectionPaths(collection)
    store = open_to_write(paths, 16)
    row = _figures("127.0.0.1", "127.0.0.2").encode()
    store.write({StateTable.META: {FRESHNESS_KEY: row}})
    store.close()

    forget(paths, ["127.0.0.2"], SystemClock(), lambda _said: None)

    after = open_to_read(paths)
    left = after.find(StateTable.META, FRESHNESS_KEY)
    after.close()
    assert left is not None
    assert Freshness.decode(left) == _figures("127.0.0.1")
    assert list(verify(collection)) == []
