"""A site that names hosts without end costs little memory and no rows."""

from __future__ import annotations

import tracemalloc

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.records import NAMED, Found, Reason
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.keys import Keys

KEYS = Keys(b"salt" * 4)
VIA = b"v" * 16
NOW_US = 1_700_000_000_000_000


def a_frontier(store: MemoryStore | None = None, **values: int) -> Frontier:
    settings = FrontierSettings(**values)  # type: ignore[arg-type]
    return Frontier(store or MemoryStore(), settings, lambda _: None)


def found(host: str, via: bytes = VIA) -> Found:
    url = f"http://{host}/"
    return Found(url, KEYS.of(url), 1, via)


def commit(frontier: Frontier, store: MemoryStore) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def farm(page: int, hosts: int) -> list[Found]:
    return [found(f"h{page}-{number}.farm.example") for number in range(hosts)]


def test_a_site_has_only_so_many_hosts_and_others_are_not_concerned() -> None:
    frontier = a_frontier(hosts_per_site=10)

    frontier.admit(farm(0, 15), NOW_US)
    frontier.admit([found("www.good.example")], NOW_US)

    assert frontier.counts.queued == 11
    assert frontier.counts.by_reason == {"budget": 5}
    row = frontier.find(KEYS.of("http://h0-12.farm.example/"))
    assert row is not None
    assert row.reason == Reason.BUDGET
    assert "frontier.hosts_per_site" in row.detail


def test_a_second_link_to_a_refused_host_is_refused_too() -> None:
    frontier = a_frontier(hosts_per_site=2)
    frontier.admit(farm(0, 3), NOW_US)
    other = "http://h0-2.farm.example/other"

    frontier.admit([Found(other, KEYS.of(other), 1, VIA)], NOW_US)

    assert frontier.counts.queued == 2
    assert frontier.counts.by_reason == {"budget": 2}


def test_more_urls_of_a_known_host_are_let_in() -> None:
    frontier = a_frontier(hosts_per_site=2)
    frontier.admit(farm(0, 3), NOW_US)
    other = "http://h0-1.farm.example/other"

    frontier.admit([Found(other, KEYS.of(other), 1, VIA)], NOW_US)

    assert frontier.counts.queued == 3


def test_hosts_that_the_operator_names_are_let_in() -> None:
    frontier = a_frontier(hosts_per_site=2)
    frontier.admit(farm(0, 3), NOW_US)

    frontier.admit([found("typed.farm.example", b""), found("listed.farm.example", NAMED)], NOW_US)

    assert frontier.counts.queued == 4


def test_of_a_page_with_many_refused_hosts_few_get_a_row_and_all_are_counted() -> None:
    store = MemoryStore()
    frontier = a_frontier(store, hosts_per_site=100)

    for page in range(3):
        frontier.admit(farm(page, 1000), NOW_US)
    commit(frontier, store)

    counts = frontier.counts
    assert counts.queued == 100
    assert counts.by_reason == {"budget": 60}
    assert counts.known == 160
    assert counts.dropped == 3000 - 160
    assert len(store.scan(StateTable.URL, b"", None, 10_000)) == 160
    assert len(store.scan(StateTable.HOST, b"", None, 10_000)) == 160


def test_sites_that_share_the_last_two_labels_are_told_apart() -> None:
    frontier = a_frontier(hosts_per_site=3)

    frontier.admit([found(f"www.site{number}.co.uk") for number in range(20)], NOW_US)
    frontier.admit([found(f"h{number}.farm.co.uk") for number in range(20)], NOW_US)

    assert frontier.counts.queued == 23


def test_the_hosts_of_a_stored_collection_count() -> None:
    store = MemoryStore()
    frontier = a_frontier(store, hosts_per_site=10)
    frontier.admit(farm(0, 8), NOW_US)
    commit(frontier, store)

    again = a_frontier(store, hosts_per_site=10)
    again.admit(farm(1, 8), NOW_US)

    assert again.counts.queued == 10


def test_a_host_farm_takes_little_memory() -> None:
    store = MemoryStore()
    frontier = a_frontier(store, hosts_per_site=500)
    frontier.admit(farm(0, 1), NOW_US)
    pages = [farm(page, 5_000) for page in range(5)]
    tracemalloc.start()
    try:
        for page in pages:
            frontier.admit(page, NOW_US)
        commit(frontier, store)
        kept_bytes, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept_bytes < 8_000_000
    assert peak_bytes < 12_000_000


def test_the_names_of_a_long_sitemap_do_not_come_before_all_linked_pages() -> None:
    frontier = a_frontier()
    listed = [f"http://a.example/listed/{number}" for number in range(50_000)]
    linked = [f"http://a.example/linked/{number}" for number in range(10)]

    frontier.admit_listed((Found(url, KEYS.of(url), 1, VIA) for url in listed), NOW_US)
    frontier.admit([Found(url, KEYS.of(url), 2, VIA) for url in linked], NOW_US)

    host_key = KEYS.host("a.example")
    first = []
    for _ in range(3_000):
        entry = frontier.peek(host_key)
        assert entry is not None
        frontier.take(host_key)
        first.append(entry[1].url)
    assert set(linked) <= set(first)
    assert first[0] == listed[0]
    assert frontier.counts.queued == 50_010
