"""Pages that are byte for byte the same: all but one are copies, whether they are few or many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from frontier.frontier_model import found, judge, lease_of, report_of
from gossamer.frontier import copies
from gossamer.frontier.copies import count_copies
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import COPIES_KEY, COPIES_PREFIX
from gossamer.frontier.rows import CaptureRow, time_key
from gossamer.frontier.store import MemoryStore, StateTable, Store
from gossamer.policies.duplicates import NoDuplicates
from gossamer.policies.policies import Policies
from gossamer.records import Outcome, Report
from gossamer.settings import Frontier as FrontierSettings


def stored(*captures: tuple[int, int, CaptureRow]) -> MemoryStore:
    """A state with these captures: the number of a page, the moment, the row."""
    store = MemoryStore()
    rows = {page.to_bytes(16, "big") + time_key(at): row.encode() for page, at, row in captures}
    store.write({StateTable.CAPTURE: rows})
    return store


def a_page(digest: str, status: int = 200, size_bytes: int = 9) -> CaptureRow:
    return CaptureRow("a.warc.gz", status=status, digest=digest, size_bytes=size_bytes)


@pytest.mark.parametrize("few", [0, 100])
def test_all_but_one_of_the_pages_with_a_digest_are_copies(few: int) -> None:
    pages = [(number, 1, a_page(digest)) for number, digest in enumerate("abcabaz")]

    assert count_copies(stored(*pages), few) == 3


@pytest.mark.parametrize("few", [0, 100])
def test_only_the_last_capture_of_a_page_counts_and_only_if_it_is_a_page(few: int) -> None:
    store = stored(
        (1, 1, a_page("a")),
        (2, 1, a_page("a")),
        (2, 2, a_page("b")),  # it was a copy
        (3, 1, a_page("a", status=404)),
        (4, 1, a_page("a", size_bytes=0)),
    )

    assert count_copies(store, few) == 0


@pytest.mark.parametrize("few", [0, 100])
def test_without_pages_there_are_no_copies(few: int) -> None:
    assert count_copies(stored(), few) == 0


# -- without a walk, where a crawl has seen all of it


def opened(store: Store) -> Frontier:
    return Frontier(store, FrontierSettings(), judge)


def commit(frontier: Frontier, store: Store) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def ended(frontier: Frontier, store: Store) -> int:
    commit(frontier, store)
    frontier.count_duplicates()
    commit(frontier, store)
    return frontier.counts.duplicates


def a_report(page: int, digest: str, at_us: int) -> Report:
    lease = lease_of(f"http://a.example/{page}")
    report = report_of(lease, Outcome.FETCHED, at_us)
    return structs.replace(report, status=200, size_bytes=9, digest=f"sha1:{digest}")


def fetch(frontier: Frontier, page: int, digest: str, at_us: int) -> None:
    frontier.admit([found(f"http://a.example/{page}")], at_us)
    frontier.report(a_report(page, digest, at_us))


@pytest.fixture
def no_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(*_: object) -> None:
        raise AssertionError("it was walked over")

    monkeypatch.setattr(copies, "_numbers_of_all", walked)


@pytest.mark.usefixtures("no_walk")
def test_pages_of_earlier_runs_are_not_looked_at_again() -> None:
    store = MemoryStore()
    first = opened(store)
    fetch(first, 1, "a", 1)
    fetch(first, 2, "b", 2)
    assert ended(first, store) == 0
    assert ended(opened(store), store) == 0

    last = opened(store)
    commit(last, store)
    fetch(last, 3, "a", 3)
    commit(last, store)
    fetch(last, 4, "a", 4)

    assert ended(last, store) == 2


def test_after_a_kill_all_pages_are_looked_at() -> None:
    store = MemoryStore()
    first = opened(store)
    fetch(first, 1, "a", 1)
    ended(first, store)
    killed = opened(store)
    fetch(killed, 2, "a", 2)
    commit(killed, store)

    assert ended(opened(store), store) == 1


def test_numbers_that_another_version_did_not_keep_up_are_not_believed() -> None:
    store = MemoryStore()
    first = opened(store)
    fetch(first, 1, "a", 1)
    ended(first, store)
    sums = store.find(StateTable.META, COPIES_KEY)
    other = opened(store)
    fetch(other, 2, "a", 2)
    commit(other, store)
    store.write({StateTable.META: {COPIES_KEY: sums}})

    assert ended(opened(store), store) == 1


def test_rows_that_are_missing_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_NUMBERS_A_ROW", 2)
    store = MemoryStore()
    first = opened(store)
    for page in range(5):
        fetch(first, page, "a", page + 1)
    ended(first, store)
    rows = store.scan(StateTable.META, COPIES_PREFIX, COPIES_PREFIX + b"\xff" * 9, 10)
    assert [len(row) for _, row in rows] == [16, 16, 8]
    store.write({StateTable.META: {rows[1][0]: None}})

    again = opened(store)
    fetch(again, 5, "b", 6)

    assert ended(again, store) == 4
    assert ended(opened(store), store) == 4


@pytest.mark.usefixtures("no_walk")
def test_a_long_crawl_holds_few_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_NUMBERS_A_ROW", 4)
    store = MemoryStore()
    frontier = opened(store)
    for page in range(43):
        fetch(frontier, page, str(page % 40), page + 1)
        if page % 5 == 0:
            commit(frontier, store)
            assert len(frontier.state.copies._noted) < 4
    assert ended(frontier, store) == 3

    again = opened(store)
    fetch(again, 43, "39", 44)
    assert ended(again, store) == 4


STEPS = st.one_of(
    st.tuples(st.just("fetch"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("bring"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("old"), st.integers(0, 5), st.sampled_from("abc")),
    st.sampled_from([("commit",), ("end",), ("kill",), ("leave",)]),
)


@given(st.lists(STEPS, max_size=30), st.sampled_from([1, 2, 3, 2**17]), st.booleans())
def test_whatever_happens_the_count_is_that_of_a_walk(
    steps: list[tuple[object, ...]], numbers_a_row: int, are_many: bool
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(copies, "_NUMBERS_A_ROW", numbers_a_row)
        if are_many:  # and few of them new
            patched.setattr(copies, "_FEW", 0)
            patched.setattr(copies, "_MANY_NEW", 0)
            patched.setattr(copies, "_LIKELY", 2)
        counted_as_by_a_walk(steps)


def counted_as_by_a_walk(steps: list[tuple[object, ...]]) -> None:
    store = MemoryStore()
    frontier = opened(store)
    for at_us, step in enumerate(steps, 1000):
        match step:
            case ("fetch", int(page), str(digest)):
                fetch(frontier, page, digest, at_us)
            case ("bring", int(page), str(digest)):
                frontier.bring(a_report(page, digest, at_us))
            case ("old", int(page), str(digest)):
                frontier.bring(a_report(page, digest, at_us - 1000))
            case ("commit",):
                commit(frontier, store)
            case ("end",):
                assert ended(frontier, store) == count_copies(store)
            case ("leave",):
                assert ended(frontier, store) == count_copies(store)
                frontier = opened(store)
            case ("kill",):
                frontier = opened(store)
    assert ended(frontier, store) == count_copies(store)


def test_duplicates_that_are_not_counted_cost_nothing_and_are_counted_when_they_are_again() -> None:
    store = MemoryStore()
    frontier = Frontier(
        store, FrontierSettings(), lambda _: None, policies=Policies(duplicates=NoDuplicates())
    )
    for page in range(4):
        fetch(frontier, page, "the same", page + 1)
    assert ended(frontier, store) == 0
    assert len(frontier.state.copies._noted) == 0

    assert ended(opened(store), store) == 3
