"""Queued URLs are scored again in slices; `test_frontier_model.py` tries it in all orders."""

from __future__ import annotations

import pytest

from frontier.frontier_model import KEYS, ShiftingOrder, found, judge
from frontier.test_frontier import CountingStore, commit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.link_counts import LinkCounts
from gossamer.frontier.meta_keys import RESCORE_KEY
from gossamer.frontier.store import MemoryStore, StateTable, Store
from gossamer.policies.order import MAX_SCORE, BreadthFirst, Candidate, Order
from gossamer.policies.policies import Policies
from gossamer.settings import Frontier as FrontierSettings

A, B = KEYS.host("a.example"), KEYS.host("b.example")
NOW_US = 1_000_000


class MostLinked:
    """The URL to which most links lead comes first."""

    uses_link_counts = True
    is_newest_first = False
    revision = 0

    def score(self, candidate: Candidate) -> int:
        return MAX_SCORE - candidate.known_links


def opened(store: Store, order: Order) -> Frontier:
    settings = FrontierSettings(host_buffer=4)
    return Frontier(store, settings, judge, policies=Policies(order=order))


def filled(store: Store, order: Order, *, urls: int = 20) -> Frontier:
    frontier = opened(store, order)
    for host in ("a.example", "b.example"):
        frontier.admit([found(f"http://{host}/{number}") for number in range(urls)], NOW_US)
    commit(frontier, store)
    return frontier


def first(frontier: Frontier, host_key: bytes) -> str:
    entry = frontier.peek(host_key)
    assert entry is not None
    return entry[1].url


def run(frontier: Frontier, limit: int = 1000) -> int:
    """How many URLs were moved."""
    moved = 0
    while frontier.rescoring.is_running:
        moved += frontier.rescoring.step(limit)
    return moved


def test_the_first_url_of_each_host_is_the_one_with_the_best_new_score() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(MemoryStore(), order)
    assert first(frontier, A) == "http://a.example/0"
    order.shifts = {"a.example": 50 - 13, "b.example": 50 - 7}

    frontier.rescoring.start()
    run(frontier, 3)

    assert first(frontier, A) == "http://a.example/13"
    assert first(frontier, B) == "http://b.example/7"


def test_a_pass_over_one_host_leaves_the_others_alone() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(MemoryStore(), order)
    order.shifts = {"a.example": 50 - 13, "b.example": 50 - 7}

    frontier.rescoring.start(B)
    run(frontier)

    assert frontier.take_moved() == {B}
    assert first(frontier, A) == "http://a.example/0"
    assert first(frontier, B) == "http://b.example/7"


def test_listed_urls_that_come_later_still_do_after_a_pass() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = opened(MemoryStore(), order)
    frontier.admit_listed([found(f"http://a.example/{number}") for number in range(3_000)], NOW_US)

    frontier.rescoring.start()

    assert run(frontier) == 0


def test_an_order_that_never_changes_writes_no_more_than_before() -> None:
    urls = [found(f"http://a.example/{number}") for number in range(1_001)]
    rows = []
    for order in (BreadthFirst(), ShiftingOrder(BreadthFirst())):
        frontier = opened(MemoryStore(), order)
        frontier.admit_listed(urls, NOW_US)
        rows.append([row or b"" for row in frontier.begin_commit()[StateTable.QUEUE].values()])

    assert rows[0][:1_000] == rows[1][:1_000]
    assert len(rows[0][1_000]) < len(rows[1][1_000])


def test_a_slice_reads_no_more_entries_than_it_may() -> None:
    store = CountingStore()
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(store, order, urls=500)
    order.shifts = {"a.example": 3, "b.example": 3}
    frontier.rescoring.start()
    commit(frontier, store)
    slices = 0

    while frontier.rescoring.is_running:
        store.scanned = 0
        assert frontier.rescoring.step(50) <= 50
        assert store.scanned <= 50
        slices += 1

    assert slices == 1000 // 50 + 1


def test_a_pass_that_was_killed_continues_where_its_last_commit_was() -> None:
    store = MemoryStore()
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(store, order)
    order.shifts = {"a.example": 1, "b.example": 1}
    frontier.rescoring.start()
    before = frontier.rescoring.step(15)
    commit(frontier, store)
    frontier.rescoring.step(15)  # is lost

    again = opened(store, order)

    assert before + run(again, 15) == 40
    commit(again, store)
    assert not opened(store, order).rescoring.is_running


def test_scores_that_change_during_a_pass_are_followed_by_another_one() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(MemoryStore(), order)
    order.shifts = {"a.example": 1}
    frontier.rescoring.start(A)
    frontier.rescoring.step(15)

    order.shifts = {"a.example": 50 - 2}
    frontier.rescoring.start(A)
    run(frontier, 15)

    assert first(frontier, A) == "http://a.example/2"


def test_a_pass_over_all_hosts_replaces_those_over_single_ones() -> None:
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(MemoryStore(), order)
    for host in (A, B, b"", A):
        frontier.rescoring.start(host)

    assert len(frontier.rescoring._scopes) == 2  # the one that runs, and all hosts


def test_the_state_has_no_row_of_a_pass_before_one_and_after_it() -> None:
    store = MemoryStore()
    order = ShiftingOrder(BreadthFirst())
    frontier = filled(store, order)
    assert store.find(StateTable.META, RESCORE_KEY) is None

    frontier.rescoring.start()
    commit(frontier, store)
    assert store.find(StateTable.META, RESCORE_KEY) is not None
    run(frontier)
    commit(frontier, store)

    assert store.find(StateTable.META, RESCORE_KEY) is None


# -- counts of links


def test_a_queued_url_that_is_found_again_comes_earlier_if_the_order_counts_links() -> None:
    frontier = filled(MemoryStore(), MostLinked())

    frontier.admit([found("http://a.example/5"), found("http://a.example/9")], NOW_US)
    frontier.count_links(KEYS.of("http://a.example/9"), 5)

    assert first(frontier, A) == "http://a.example/9"
    assert frontier.take_moved() == {A}
    assert frontier.counts.queued == 40


def test_links_are_not_counted_for_an_order_that_does_not_ask() -> None:
    frontier = filled(MemoryStore(), BreadthFirst())

    frontier.count_links(KEYS.of("http://a.example/9"), 5)

    assert first(frontier, A) == "http://a.example/0"
    assert frontier.take_moved() == set()


def test_a_url_is_scored_again_when_its_links_have_doubled() -> None:
    counts = LinkCounts()

    assert [counts.add(b"key") for _ in range(8)] == [
        True, False, True, False, False, False, True, False,
    ]  # fmt: skip
    assert counts.of(b"key") == 9


@pytest.mark.parametrize("urls", [11, 200])
def test_the_counts_of_the_most_linked_urls_stay_when_there_are_many(urls: int) -> None:
    counts = LinkCounts(most=10)
    counts.add(b"popular", 100)

    for number in range(urls):
        counts.add(b"%d" % number)

    assert counts.of(b"popular") == 101
    assert len(counts._counts) <= 10
