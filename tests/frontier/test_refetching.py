"""A fetched page can be due again: it stays fetched until then, and keeps its captures."""

from __future__ import annotations

import pytest

from frontier.frontier_model import KEYS, found, judge, lease_of, report_of
from frontier.test_frontier import commit, take
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.records import Outcome
from gossamer.settings import Frontier as FrontierSettings

URL = "http://a.example/page"
KEY, HOST = KEYS.of(URL), KEYS.host("a.example")


def opened(store: MemoryStore) -> Frontier:
    return Frontier(store, FrontierSettings(), judge)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def frontier(store: MemoryStore) -> Frontier:
    """A page that was fetched at 5 and is due again at 100."""
    frontier = opened(store)
    frontier.admit([found(URL)], 1)
    take(frontier)
    frontier.report(report_of(lease_of(URL), Outcome.FETCHED, 5))
    frontier.refetch_at(KEY, 100)
    commit(frontier, store)
    return frontier


def outcome(frontier: Frontier) -> Outcome:
    row = frontier.find(KEY)
    assert row is not None
    return row.outcome


def test_a_page_that_is_due_later_is_fetched_until_then(frontier: Frontier) -> None:
    assert frontier.wake_due(99) == 0

    assert outcome(frontier) is Outcome.FETCHED
    assert (frontier.counts.fetched, frontier.counts.queued, frontier.waiting) == (1, 0, 0)
    assert frontier.host(HOST).waiting == 0


def test_a_page_that_is_due_is_queued_and_fetched_again(
    frontier: Frontier, store: MemoryStore
) -> None:
    assert frontier.wake_due(100) == 1
    assert (frontier.counts.fetched, frontier.counts.queued) == (0, 1)
    assert take(frontier) is not None
    frontier.report(report_of(lease_of(URL), Outcome.FETCHED, 105))
    commit(frontier, store)

    assert (frontier.counts.fetched, frontier.counts.queued, frontier.counts.known) == (1, 0, 1)
    assert [at_us for at_us, _ in frontier.captures(KEY, 0, 9)] == [5, 105]
    assert store.scan(StateTable.DUE, b"", None, 9) == []


def test_another_process_finds_what_is_due(frontier: Frontier, store: MemoryStore) -> None:
    again = opened(store)

    assert again.waiting == 0
    assert again.wake_due(100) == 1
    assert frontier.counts.known == again.counts.known == 1


def test_a_new_time_replaces_the_one_before(frontier: Frontier, store: MemoryStore) -> None:
    frontier.refetch_at(KEY, 300)
    commit(frontier, store)

    assert frontier.wake_due(299) == 0
    assert frontier.wake_due(300) == 1


def test_a_page_that_was_fetched_meanwhile_is_not_queued_by_its_old_time(
    frontier: Frontier, store: MemoryStore
) -> None:
    frontier.report(report_of(lease_of(URL), Outcome.FETCHED, 50))
    frontier.refetch_at(KEY, 150)
    commit(frontier, store)

    assert frontier.wake_due(149) == 0
    assert outcome(frontier) is Outcome.FETCHED


def test_a_failure_that_is_replayed_after_a_kill_leaves_no_time_behind(
    frontier: Frontier, store: MemoryStore
) -> None:
    """The page was queued again and requested; its commit is lost, its exchange is archived."""
    again = opened(store)

    again.report(report_of(lease_of(URL), Outcome.FAILED, 105))
    commit(again, store)

    row = again.find(KEY)
    assert row is not None
    assert (row.outcome, row.due_us) == (Outcome.FAILED, 0)
    assert store.scan(StateTable.DUE, b"", None, 9) == []


def test_a_retry_that_is_replayed_after_a_kill_waits_for_its_own_time(
    frontier: Frontier, store: MemoryStore
) -> None:
    again = opened(store)

    again.report(report_of(lease_of(URL), Outcome.FAILED, 105), 500)
    commit(again, store)

    assert again.wake_due(499) == 0
    assert again.wake_due(500) == 1
    assert again.waiting == 0
    assert again.host(HOST).waiting == 0
