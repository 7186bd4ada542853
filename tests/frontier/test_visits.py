"""A fetched page can wait for another visit; it keeps its outcome until the visit has ended."""

from __future__ import annotations

import pytest
from msgspec import structs

from frontier.frontier_model import KEYS, found, judge, lease_of, report_of
from frontier.test_frontier import commit, take
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.frontier.visits.kinds import Visit, VisitKind
from gossamer.records import Outcome, Reason, Report
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
    """A page that was fetched at 5, and waits for a visit."""
    frontier = opened(store)
    frontier.admit([found(URL)], 1)
    take(frontier)
    frontier.report(answer(5, title="Tides", etag='"a"'))
    commit(frontier, store)
    assert frontier.visit_again(KEY)
    commit(frontier, store)
    return frontier


def answer(at_us: int, **values: object) -> Report:
    report = report_of(lease_of(URL), Outcome.FETCHED, at_us)
    return structs.replace(report, digest=f"sha1:{at_us}", **values)


def failure(at_us: int) -> Report:
    return structs.replace(
        report_of(lease_of(URL), Outcome.FAILED, at_us), reason=Reason.TIMEOUT, detail="30 s"
    )


def row_of(frontier: Frontier) -> UrlRow:
    row = frontier.find(KEY)
    assert row is not None
    return row


def test_a_page_that_waits_for_a_visit_keeps_its_outcome(frontier: Frontier) -> None:
    row = row_of(frontier)

    assert (row.outcome, row.status, row.title) == (Outcome.FETCHED, 200, "Tides")
    assert (frontier.counts.fetched, frontier.counts.queued, frontier.counts.revisits) == (1, 0, 1)
    assert frontier.to_do == 1


def test_a_page_that_waits_is_not_put_into_the_queue_twice(frontier: Frontier) -> None:
    assert not frontier.visit_again(KEY)
    assert frontier.counts.revisits == 1


def test_only_a_fetched_page_can_be_visited_again(store: MemoryStore) -> None:
    frontier = opened(store)
    frontier.admit([found(URL)], 1)

    assert not frontier.visit_again(KEY)
    assert not frontier.visit_again(KEYS.of("http://a.example/unknown"))


def test_a_visit_that_waits_survives_the_process(frontier: Frontier, store: MemoryStore) -> None:
    again = opened(store)
    first = again.peek(HOST)

    assert first is not None
    assert (first[1].url, first[1].is_visit) == (URL, True)
    assert again.take_awake() == {HOST}
    assert (again.counts.revisits, frontier.counts.revisits) == (1, 1)


def test_a_visit_that_is_given_back_waits_as_before(frontier: Frontier) -> None:
    entry = take(frontier)
    assert entry is not None
    assert frontier.peek(HOST) is None

    frontier.give_back(entry)

    first = frontier.peek(HOST)
    assert first is not None
    assert first[1].is_visit


def test_new_urls_and_visits_take_turns(frontier: Frontier) -> None:
    take(frontier)
    frontier.report(answer(6))
    urls = [f"http://a.example/{number}" for number in range(4)]
    frontier.admit(map(found, urls), 7)
    for url in urls:
        take(frontier)
        frontier.report(report_of(lease_of(url), Outcome.FETCHED, 8))
    for url in urls:
        frontier.visit_again(KEYS.of(url))
    frontier.admit([found(f"http://a.example/new{number}") for number in range(3)], 9)

    turns = [entry.is_visit for entry in iter(lambda: take(frontier), None)]

    assert turns == [False, True, False, True, False, True, True]


def test_new_urls_can_be_held_back(frontier: Frontier) -> None:
    frontier.admit([found("http://a.example/new")], 9)

    frontier.visits.is_visits_only = True

    assert frontier.to_do == 1
    assert [entry.url for entry in iter(lambda: take(frontier), None)] == [URL]


# -- what a visit finds


def test_an_unchanged_page_keeps_its_version_and_says_when_it_was_seen(
    frontier: Frontier, store: MemoryStore
) -> None:
    take(frontier)
    kind = frontier.report(answer(105, status=304, is_unchanged=True, size_bytes=0, etag='"b"'))
    commit(frontier, store)

    row = row_of(frontier)
    assert kind is VisitKind.UNCHANGED
    assert (row.at_us, row.body_us, row.status, row.title) == (105, 5, 200, "Tides")
    assert (row.etag, row.visits, row.changed_us) == ('"b"', 1, 0)
    assert [at_us for at_us, _ in frontier.captures(KEY, 0, 9)] == [5, 105]
    assert (frontier.counts.unchanged, frontier.counts.visits) == (1, 1)
    assert frontier.counts.revisits == 0
    assert store.scan(StateTable.VISIT, b"", None, 9) == []


def test_a_version_that_is_repeated_twice_is_still_the_first(frontier: Frontier) -> None:
    for at_us in (105, 205):
        frontier.visit_again(KEY)
        take(frontier)
        frontier.report(answer(at_us, is_unchanged=True))

    previous = frontier.previous(KEY)
    assert previous is not None
    assert (previous.at_us, previous.digest, previous.etag) == (5, "sha1:5", '"a"')
    assert (previous.file, previous.offset, previous.status) == ("a.warc.gz", 5, 200)


def test_a_changed_page_says_so(frontier: Frontier) -> None:
    take(frontier)
    assert frontier.report(answer(105, title="Ebb")) is VisitKind.CHANGED

    row = row_of(frontier)
    assert (row.title, row.changed_us, row.body_us, row.version_us) == ("Ebb", 105, 0, 105)
    assert (frontier.counts.changed, frontier.counts.fetched) == (1, 1)


def test_a_page_that_is_gone_and_comes_back_is_told(frontier: Frontier) -> None:
    told: list[Visit] = []

    frontier.tell_visits(told.append)
    for at_us, status in ((105, 404), (205, 410), (305, 200)):
        frontier.visit_again(KEY)
        take(frontier)
        frontier.report(answer(at_us, status=status))

    kinds = [VisitKind.GONE, VisitKind.UNCHANGED, VisitKind.BACK]
    assert [visit.kind for visit in told] == kinds
    assert [visit.row.gone_us for visit in told][-1] == 0
    assert told[1].before is not None
    assert told[1].before.gone_us == 105
    assert frontier.counts.by_status == {"200": 1}
    assert row_of(frontier).changed_us == 305


def test_a_page_that_moved_counts_as_a_redirect(frontier: Frontier) -> None:
    take(frontier)
    kind = frontier.report(answer(105, status=301, redirect="http://a.example/new"))

    assert kind is VisitKind.MOVED
    assert (frontier.counts.fetched, frontier.counts.redirects, frontier.counts.moved) == (0, 1, 1)
    assert not row_of(frontier).has_entry


def test_a_redirect_to_the_same_page_is_unchanged(frontier: Frontier) -> None:
    for at_us, target in ((105, "x"), (205, "x"), (305, "y")):
        frontier.visit_again(KEY)
        take(frontier)
        kind = frontier.report(answer(at_us, status=301, redirect=f"http://a.example/{target}"))
        if at_us == 205:
            assert kind is VisitKind.UNCHANGED
    assert kind is VisitKind.CHANGED


@pytest.mark.parametrize("status", [0, 500])
def test_a_visit_that_fails_changes_nothing_of_the_page(frontier: Frontier, status: int) -> None:
    before = structs.asdict(row_of(frontier))
    take(frontier)
    report = answer(105, status=status) if status else failure(105)

    assert frontier.report(report) is VisitKind.MISSED

    row = row_of(frontier)
    after = structs.asdict(row)
    changed = {name for name, value in after.items() if value != before[name]}
    assert changed == {"place", "missed", "missed_us", "missed_reason", "missed_detail"}
    assert (row.missed, row.missed_us) == (1, 105)
    assert (frontier.counts.missed, frontier.counts.failed) == (1, 0)
    assert frontier.report(report) is None, "a replay changes nothing"


def test_a_failed_visit_that_is_retried_waits_for_its_time(
    frontier: Frontier, store: MemoryStore
) -> None:
    take(frontier)
    assert frontier.report(failure(105), 500) is VisitKind.RETRY
    assert frontier.report(failure(105), 500) is None, "a replay changes nothing"
    commit(frontier, store)

    assert (frontier.waiting, frontier.counts.revisits, frontier.counts.queued) == (1, 1, 0)
    [(_, waiting)] = frontier.waiting_urls()
    assert (waiting.reason, waiting.detail, waiting.tries) == ("timeout", "30 s", 1)
    again = opened(store)
    assert again.waiting == 1
    assert again.wake_due(499) == 0
    assert again.wake_due(500) == 1
    first = again.peek(HOST)
    assert first is not None
    assert (first[1].tries, first[1].is_visit) == (1, True)
    assert again.host(HOST).waiting == 0


def test_a_304_that_is_of_no_use_is_repeated_without_conditions(frontier: Frontier) -> None:
    take(frontier)
    frontier.report(structs.replace(failure(105), status=304, reason=Reason.PROTOCOL), 106)

    previous = frontier.previous(KEY)
    assert previous is not None
    assert (previous.etag, previous.modified_at) == ("", "")


def test_a_page_that_robots_txt_forbids_now_is_refused_and_can_come_back(
    frontier: Frontier, store: MemoryStore
) -> None:
    take(frontier)
    logged = frontier.refuse(KEY, Reason.ROBOTS, "Disallow: /", 105)
    commit(frontier, store)

    row = row_of(frontier)
    assert (row.outcome, row.reason, row.body_us, row.status) == (Outcome.REFUSED, "robots", 5, 0)
    assert logged.outcome is Outcome.REFUSED
    assert (frontier.counts.fetched, frontier.counts.refused, frontier.counts.indexed) == (0, 1, 0)
    assert [at_us for at_us, _ in frontier.captures(KEY, 0, 9)] == [5]
    frontier.queues.requeue(row, found(URL))
    take(frontier)
    assert frontier.report(answer(205)) is VisitKind.BACK
    assert row_of(frontier).version_us == 205


def test_a_ban_stops_the_visit_and_leaves_the_page(frontier: Frontier) -> None:
    take(frontier)
    logged = frontier.refuse(KEY, Reason.BANNED, "banned by '*'", 105)

    assert logged.outcome is Outcome.REFUSED
    assert row_of(frontier).outcome is Outcome.FETCHED
    assert (frontier.counts.fetched, frontier.counts.refused, frontier.counts.revisits) == (1, 0, 0)


def test_a_rule_that_changed_stops_visits_that_wait(store: MemoryStore) -> None:
    frontier = opened(store)
    url = "http://a.example/deep"
    frontier.admit([found(url, 3)], 1)
    take(frontier)
    frontier.report(report_of(lease_of(url), Outcome.FETCHED, 5))
    frontier.visit_again(KEYS.of(url))
    commit(frontier, store)

    stricter = Frontier(store, FrontierSettings(), lambda _: (Reason.SCOPE, "out of scope"))
    stricter.judge_again(9)

    assert (stricter.counts.revisits, stricter.counts.fetched) == (0, 1)


def test_a_visit_is_learned_from_the_archive_after_a_kill(
    frontier: Frontier, store: MemoryStore
) -> None:
    """It was requested and archived; the commit of its outcome is lost."""
    again = opened(store)

    assert again.report(answer(105, is_unchanged=True)) is VisitKind.UNCHANGED
    commit(again, store)

    assert again.counts.revisits == 0
    assert again.peek(HOST) is None
    assert row_of(frontier).at_us == 5


def test_a_visit_counts_even_if_the_clock_went_back(frontier: Frontier) -> None:
    take(frontier)

    assert frontier.report(answer(3)) is VisitKind.CHANGED
    assert (frontier.counts.revisits, row_of(frontier).at_us) == (0, 3)
