"""The frontier's promises one by one; `test_frontier_model.py` tries them in all orders."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from frontier.frontier_model import KEYS, found, judge, lease_of, report_of
from gossamer.frontier.frontier import Frontier, Refusal
from gossamer.frontier.rows import QueueEntry, UrlRow
from gossamer.frontier.store import MemoryStore, StateTable, Store
from gossamer.records import Outcome, Reason
from gossamer.settings import Frontier as FrontierSettings

URL = "http://a.example/page"
HOST = KEYS.host("a.example")
NOW_US = 1_000_000


def opened(store: Store, *, watch_depth: bool = True, **values: object) -> Frontier:
    settings = FrontierSettings(**values)  # type: ignore[arg-type]
    return Frontier(store, settings, judge, watch_depth=watch_depth)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def frontier(store: MemoryStore) -> Frontier:
    return opened(store)


def commit(frontier: Frontier, store: Store) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def take(frontier: Frontier, host: bytes = HOST) -> QueueEntry | None:
    first = frontier.peek(host)
    if first is None:
        return None
    frontier.take(host)
    return first[1]


def row_of(frontier: Frontier, url: str) -> UrlRow:
    row = frontier.find(KEYS.of(url))
    assert row is not None
    return row


def test_a_url_is_admitted_once_however_often_it_is_found(frontier: Frontier) -> None:
    assert frontier.admit([found(URL), found(URL, 1)], NOW_US) == 1
    assert frontier.admit([found(URL)], NOW_US) == 0

    assert (frontier.counts.known, frontier.counts.queued) == (1, 1)


def test_a_leased_url_that_is_found_nearer_is_not_leased_again(frontier: Frontier) -> None:
    frontier.admit([found(URL, 3)], NOW_US)
    entry = take(frontier)

    frontier.admit([found(URL, 1)], NOW_US)

    assert entry is not None
    assert take(frontier) is None
    frontier.report(report_of(lease_of(URL, depth=3), Outcome.FETCHED, NOW_US))
    assert frontier.take_shallower() == [KEYS.of(URL)]
    assert row_of(frontier, URL).depth == 1


def test_a_url_that_comes_nearer_keeps_the_count_of_its_tries(
    frontier: Frontier, store: Store
) -> None:
    frontier.admit([found(URL, 3)], NOW_US)
    take(frontier)
    report = report_of(lease_of(URL, depth=3), Outcome.FAILED, NOW_US, reason=Reason.RESET)
    frontier.report(report, NOW_US + 1)
    commit(frontier, store)
    frontier.wake_due(NOW_US + 1)

    frontier.admit([found(URL, 1)], NOW_US)

    entry = take(frontier)
    assert entry is not None
    assert (entry.depth, entry.tries) == (1, 1)


def test_a_link_that_may_not_be_followed_brings_nothing_nearer(frontier: Frontier) -> None:
    frontier.admit([found(URL, 3)], NOW_US)

    frontier.admit([found(URL, 1, is_nofollow=True)], NOW_US)

    assert row_of(frontier, URL).depth == 3


def test_without_a_depth_limit_nothing_moves(store: Store) -> None:
    frontier = opened(store, watch_depth=False)
    frontier.admit([found(URL, 3)], NOW_US)
    place = row_of(frontier, URL).place

    frontier.admit([found(URL, 1)], NOW_US)

    assert row_of(frontier, URL).place == place


@pytest.mark.parametrize("first", [found(URL, 9), found(URL, 1, is_nofollow=True)])
def test_a_refusal_of_the_path_is_lifted_by_a_better_one(frontier: Frontier, first: object) -> None:
    frontier.admit([first], NOW_US)  # type: ignore[list-item]
    assert (frontier.counts.refused, frontier.counts.queued) == (1, 0)

    frontier.admit([found(URL, 2)], NOW_US + 5)

    assert (frontier.counts.refused, frontier.counts.queued) == (0, 1)
    assert frontier.counts.by_reason == {}
    assert row_of(frontier, URL).first_us == NOW_US


def test_a_refusal_of_the_url_itself_stays(frontier: Frontier) -> None:
    frontier.admit([found("http://a.example/out/x", 2)], NOW_US)

    frontier.admit([found("http://a.example/out/x", 0)], NOW_US)

    assert frontier.counts.by_reason == {"scope": 1}


def test_hops_are_remembered_while_a_url_waits(frontier: Frontier, store: Store) -> None:
    frontier.admit([found(URL, redirects=4)], NOW_US)
    take(frontier)
    lease = lease_of(URL, redirects=4)
    frontier.report(report_of(lease, Outcome.FAILED, NOW_US, reason=Reason.RESET), NOW_US + 1)
    commit(frontier, store)

    frontier.wake_due(NOW_US + 1)

    entry = take(frontier)
    assert entry is not None
    assert (entry.redirects, entry.tries) == (4, 1)


def test_a_capture_is_found_before_it_is_committed_and_after(
    frontier: Frontier, store: Store
) -> None:
    frontier.admit([found(URL)], NOW_US)
    take(frontier)
    frontier.report(report_of(lease_of(URL), Outcome.FETCHED, NOW_US))

    fresh = frontier.last_capture(KEYS.of(URL))
    commit(frontier, store)

    assert fresh is not None
    assert opened(store).last_capture(KEYS.of(URL)) == fresh


def test_a_url_that_was_never_fetched_has_no_capture(frontier: Frontier) -> None:
    frontier.admit([found(URL)], NOW_US)

    assert frontier.last_capture(KEYS.of(URL)) is None
    assert frontier.last_capture(b"?" * 16) is None


def test_a_host_knows_no_more_urls_than_it_may(store: Store) -> None:
    frontier = opened(store, urls_per_host=2)

    frontier.admit([found(f"http://a.example/{number}") for number in range(3)], NOW_US)

    assert frontier.counts.by_reason == {"budget": 1}
    assert frontier.counts.queued == 2


@pytest.mark.parametrize("few_known", [0, 2, 3, 4, 99])
def test_a_url_is_admitted_once_whether_few_or_many_are_known(store: Store, few_known: int) -> None:
    frontier = Frontier(store, FrontierSettings(), judge, few_known=few_known)
    urls = [f"http://a.example/{number}" for number in (0, 1, 1, 2, 0, 3, 3, 2, 4)]

    assert frontier.admit([found(url) for url in urls], NOW_US) == 5
    frontier.report(report_of(lease_of("http://a.example/5"), Outcome.FETCHED, NOW_US))
    assert frontier.admit([found("http://a.example/5"), found(urls[0])], NOW_US) == 0
    assert frontier.counts.known == 6


@pytest.mark.parametrize("few_known", [0, 99])
def test_a_url_that_is_twice_in_a_list_is_queued_once_when_its_refusal_is_lifted(
    store: Store, few_known: int
) -> None:
    frontier = Frontier(store, FrontierSettings(), judge, few_known=few_known)
    frontier.admit([found(URL, 9)], NOW_US)
    commit(frontier, store)

    assert frontier.admit([found(URL, 1), found(URL, 1)], NOW_US) == 0

    assert (frontier.counts.queued, frontier.host(HOST).queued) == (1, 1)


def test_the_urls_of_a_long_list_are_looked_up_many_at_once() -> None:
    store = CountingStore()
    frontier = Frontier(store, FrontierSettings(), judge, few_known=0)
    frontier.admit([found(URL)], NOW_US)
    store.lookups = 0

    frontier.admit([found(f"http://a.example/{number}") for number in range(512)], NOW_US)

    assert store.lookups == 2


def test_refusals_at_the_door_are_told(store: Store) -> None:
    told: list[Refusal] = []
    frontier = Frontier(store, FrontierSettings(), judge, on_refused=told.extend)

    frontier.admit([found("http://a.example/out/x"), found(URL)], NOW_US)

    assert [(row.url, row.reason) for row in told] == [("http://a.example/out/x", "scope")]


def test_a_replay_of_an_exchange_whose_admission_was_lost_makes_the_url_known(
    frontier: Frontier,
) -> None:
    report = report_of(lease_of(URL, depth=2), Outcome.FETCHED, NOW_US)

    assert frontier.report(report)

    assert (frontier.counts.known, frontier.counts.fetched) == (1, 1)
    assert frontier.host(HOST).name == "a.example"
    assert not frontier.report(report)


def test_a_replayed_failure_and_success_end_in_the_success(
    frontier: Frontier, store: Store
) -> None:
    frontier.admit([found(URL)], NOW_US)
    failure = report_of(lease_of(URL), Outcome.FAILED, NOW_US + 1, reason=Reason.RESET)
    success = report_of(lease_of(URL, tries=1), Outcome.FETCHED, NOW_US + 2)

    frontier.report(failure, NOW_US + 100)
    frontier.report(success)
    commit(frontier, store)

    assert frontier.counts.fetched == 1
    assert frontier.counts.queued == 0
    assert store.scan(StateTable.DUE, b"", None, 9) == []
    assert store.scan(StateTable.QUEUE, b"", None, 9) == []


def test_leases_return_when_the_process_is_gone(frontier: Frontier, store: Store) -> None:
    frontier.admit([found(f"http://a.example/{number}") for number in range(9)], NOW_US)
    commit(frontier, store)
    for _ in range(5):
        take(frontier)
    commit(frontier, store)

    again = opened(store)

    assert again.take_awake() == {HOST}
    assert [entry.url for entry in iter(lambda: take(again), None) if entry] == [
        f"http://a.example/{number}" for number in range(9)
    ]


class CountingStore(MemoryStore):
    """Counts the rows that scans give, and the calls that look rows up."""

    scanned = 0
    lookups = 0

    def find(self, table: StateTable, key: bytes) -> bytes | None:
        self.lookups += 1
        return super().find(table, key)

    def find_many(self, table: StateTable, keys: Sequence[bytes]) -> list[bytes | None]:
        self.lookups += 1
        return super().find_many(table, keys)

    def scan(
        self, table: StateTable, start: bytes, stop: bytes | None, limit: int
    ) -> list[tuple[bytes, bytes]]:
        rows = super().scan(table, start, stop, limit)
        self.scanned += len(rows)
        return rows


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_emptying_a_long_queue_reads_each_entry_about_once(order: str) -> None:
    store = CountingStore()
    frontier = opened(store, order=order, host_buffer=4)
    frontier.admit([found(f"http://a.example/{number}") for number in range(3000)], NOW_US)
    commit(frontier, store)
    frontier = opened(store, order=order, host_buffer=4)
    store.scanned = 0

    for entry in frontier.drain(HOST):
        frontier.fail(entry.key, Reason.DNS, "", NOW_US)

    assert frontier.counts.failed == 3000
    assert store.scanned < 2 * 3000


def test_redirects_are_counted_apart_for_limits(frontier: Frontier) -> None:
    frontier.admit([found(URL)], NOW_US)
    take(frontier)

    frontier.report(
        report_of(lease_of(URL), Outcome.FETCHED, NOW_US, redirect="http://a.example/b")
    )

    assert (frontier.counts.fetched, frontier.counts.redirects) == (0, 1)
    host = frontier.host(HOST)
    assert (host.fetched, host.redirects) == (1, 1)


def test_the_next_due_time_is_told(frontier: Frontier, store: Store) -> None:
    frontier.admit([found(URL)], NOW_US)
    assert frontier.next_due_us() is None
    take(frontier)
    report = report_of(lease_of(URL), Outcome.FAILED, NOW_US, reason=Reason.RESET)
    frontier.report(report, NOW_US + 77)
    commit(frontier, store)

    assert frontier.next_due_us() == NOW_US + 77
    assert frontier.wake_due(NOW_US + 76) == 0
    assert frontier.wake_due(NOW_US + 77) == 1
    assert frontier.wake_due(NOW_US + 77) == 0


def test_hosts_without_work_are_let_go_and_found_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.frontier.host_table._IDLE_HOSTS", 3)
    frontier = opened(store)
    for number in range(20):
        url = f"http://h{number}.example/"
        frontier.admit([found(url)], NOW_US)
        take(frontier, KEYS.host(f"h{number}.example"))
        frontier.report(report_of(lease_of(url), Outcome.FETCHED, NOW_US))
        commit(frontier, store)
        commit(frontier, store)

    frontier.admit([found("http://h0.example/again")], NOW_US)

    entry = take(frontier, KEYS.host("h0.example"))
    assert entry is not None
    assert entry.url == "http://h0.example/again"
    assert (frontier.host(KEYS.host("h0.example")).fetched, frontier.counts.fetched) == (1, 20)
