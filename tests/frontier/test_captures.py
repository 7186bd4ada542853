"""The captures of one URL, whatever of them is on disk, and however many others there are."""

from __future__ import annotations

import time

import pytest

from frontier.frontier_model import KEYS, lease_of, report_of
from gossamer.frontier.captures import Captures
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import MemoryStore
from gossamer.records import Outcome

URL = "http://a.example/page"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def pending(store: MemoryStore) -> Pending:
    return Pending(store)


@pytest.fixture
def captures(store: MemoryStore, pending: Pending) -> Captures:
    return Captures(store, pending)


def put(captures: Captures, at_us: int, url: str = URL) -> None:
    captures.put(report_of(lease_of(url), Outcome.FETCHED, at_us))


def moments(captures: Captures, from_us: int = 0, limit: int = 9) -> list[int]:
    return [at_us for at_us, _ in captures.since(KEYS.of(URL), from_us, limit)]


def test_what_is_on_disk_and_what_is_not_comes_in_one_order(
    captures: Captures, pending: Pending, store: MemoryStore
) -> None:
    put(captures, 30)
    captures.begin()
    store.write(pending.begin())
    pending.end()
    captures.end()
    put(captures, 10)
    captures.begin()
    pending.begin()  # it is being written
    put(captures, 20)
    put(captures, 5, "http://a.example/other")

    assert moments(captures) == [10, 20, 30]
    assert moments(captures, 11) == [20, 30]
    assert moments(captures, 0, 2) == [10, 20]
    assert captures.find(KEYS.of(URL), 20) is not None
    assert captures.find(KEYS.of(URL), 21) is None


def test_a_question_costs_nothing_for_what_others_have_brought(captures: Captures) -> None:
    for number in range(20_000):
        put(captures, 1, f"http://a.example/{number}")
    began_s = time.monotonic()

    for _ in range(5_000):  # 20 s when all that is pending is walked over
        moments(captures)

    assert time.monotonic() - began_s < 5
