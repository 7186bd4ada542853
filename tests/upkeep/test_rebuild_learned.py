"""A rebuild keeps what visits have taught and no archive says: rates, freshness, a revisit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.meta_keys import FRESHNESS_KEY, REVISIT_KEY
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.a_crawl import crawl, crawl_again, crawl_forever
from support.a_site import page, site_in_thread


def _rates(home: Path) -> dict[str, tuple[float, float, int, int]]:
    with CollectionReader.open(home) as reader:
        return {
            row.url: (row.rate_shape, row.rate_scale, row.hint_us, row.next_us)
            for row in reader.url_rows()
        }


def _meta(home: Path, key: bytes) -> bytes | None:
    with CollectionReader.open(home) as reader:
        return reader.store.find(StateTable.META, key)


@pytest.mark.slow
def test_a_rebuilt_state_knows_how_often_pages_change(collection: Path) -> None:
    web: dict[str, Any] = {"/": page("<a href=/a>a</a>"), "/a": page("one")}
    with site_in_thread(web) as site:
        crawl_forever(collection, [site.url()], lambda: site.asked.count("/a") > 3)
    before, figures = _rates(collection), _meta(collection, FRESHNESS_KEY)
    assert all(scale > 0 for _, scale, _, _ in before.values())

    rebuild(CollectionPaths(collection), "state", SystemClock(), lambda _said: None)

    assert _rates(collection) == before
    assert _meta(collection, FRESHNESS_KEY) == figures
    assert list(verify(collection)) == []


@pytest.mark.slow
def test_a_revisit_that_was_stopped_goes_on_after_a_rebuild(collection: Path) -> None:
    web: dict[str, Any] = {"/": page("".join(f"<a href=/{n}>{n}</a>" for n in range(20)))}
    web |= {f"/{n}": page(f"<title>{n}</title>") for n in range(20)}
    with site_in_thread(web) as site:
        crawl(collection, [site.url()])
        stopped = crawl_again(collection, until=lambda: len(site.asked) >= 32)
        assert stopped.visited["revisits"] > 0
        rebuild(CollectionPaths(collection), "all", SystemClock(), lambda _said: None)
        crawl(collection, [])

        assert [site.asked.count(f"/{n}") for n in range(20)] == [2] * 20
    assert _meta(collection, REVISIT_KEY) is None
    assert list(verify(collection)) == []
