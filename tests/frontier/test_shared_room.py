"""Many hosts share the memory for queues, and nothing is lost or doubled by it."""

from __future__ import annotations

import random
import sys

import pytest

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.host_queue import HostQueue
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import MemoryStore
from gossamer.records import Found
from gossamer.settings import Frontier as FrontierSettings
from gossamer.urls.keys import Keys

KEYS = Keys(b"salt" * 4)


def found(host: int, path: int) -> Found:
    url = f"http://h{host}.example/{path}"
    return Found(url, KEYS.of(url), 0)


def commit(frontier: Frontier, store: MemoryStore) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def held(frontier: Frontier) -> int:
    return sum(len(queue._buffer) for queue in frontier.state.hosts.queues.values())


def test_many_hosts_hold_no_more_entries_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["gossamer.frontier.host_table"], "_ENTRIES", 200)
    store = MemoryStore()
    frontier = Frontier(store, FrontierSettings(host_buffer=20), lambda _: None)

    for path in range(60):
        frontier.admit((found(host, path) for host in range(50)), 1)
        commit(frontier, store)

    assert held(frontier) <= 2 * 200


def test_every_url_is_given_once_and_in_order_however_little_room_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["gossamer.frontier.host_table"], "_ENTRIES", 30)
    chance = random.Random(7)
    store = MemoryStore()
    frontier = Frontier(store, FrontierSettings(host_buffer=8), lambda _: None)
    given: dict[bytes, list[str]] = {}
    links = [found(host, path) for host in range(40) for path in range(25)]

    while links or frontier.counts.queued > sum(map(len, given.values())):
        for _ in range(min(len(links), chance.randrange(60))):
            frontier.admit([links.pop(0)], 1)
        if chance.random() < 0.4:
            commit(frontier, store)
        for host in chance.sample(range(40), 10):
            key = KEYS.host(f"h{host}.example")
            first = frontier.peek(key) if key in frontier.state.hosts.rows else None
            if first is not None:
                frontier.take(key)
                given.setdefault(key, []).append(first[1].url)

    for host in range(40):
        urls = given[KEYS.host(f"h{host}.example")]
        assert urls == [f"http://h{host}.example/{path}" for path in range(25)]


def test_a_queue_that_must_share_leaves_the_last_entries_behind() -> None:
    store = MemoryStore()
    queue = HostQueue(b"h" * 8, 8, is_empty=True)
    places = [number.to_bytes(12, "big") for number in range(10)]
    for place in places:
        queue.add(place, b"row")

    queue.share(2)

    taken = []
    while queue.first(store, Pending(store)) is not None:
        taken.append(queue.take()[0])
    assert taken == places
