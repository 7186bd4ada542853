"""Pages of a group: the one fetched first stays, the others point to it, whatever happens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from frontier.frontier_model import found, judge, lease_of, report_of
from gossamer.frontier.duplicates.pointers import all_pointers, first_of, others_of
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import MemoryStore, StateTable, Store, walk
from gossamer.policies.duplicates import (
    Duplicates,
    ExactDuplicates,
    GroupedDuplicates,
    NoDuplicates,
)
from gossamer.policies.policies import Policies
from gossamer.records import Outcome, Report
from gossamer.settings import Frontier as FrontierSettings


def opened(store: Store, policy: Duplicates | None = None) -> Frontier:
    policies = Policies(duplicates=policy or ExactDuplicates())
    return Frontier(store, FrontierSettings(), judge, policies=policies)


def commit(frontier: Frontier, store: Store) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def url_of(page: int) -> str:
    return f"http://a.example/{page}"


def key_of(page: int) -> bytes:
    return found(url_of(page)).key


def a_report(page: int, digest: str, at_us: int, status: int = 200, sketch: bytes = b"") -> Report:
    report = report_of(lease_of(url_of(page)), Outcome.FETCHED, at_us)
    return structs.replace(
        report, status=status, size_bytes=9, digest=f"sha1:{digest}", sketch=sketch
    )


def fetch(frontier: Frontier, page: int, digest: str, at_us: int, sketch: bytes = b"") -> None:
    frontier.admit([found(url_of(page))], at_us)
    frontier.report(a_report(page, digest, at_us, sketch=sketch))


def pointers(store: Store) -> dict[bytes, bytes]:
    return {key: row.first for key, row in all_pointers(store)}


def test_all_but_the_first_of_the_pages_with_a_digest_point_to_it() -> None:
    store = MemoryStore()
    frontier = opened(store)
    for at_us, digest in enumerate("abcabaz"):
        fetch(frontier, at_us, digest, at_us + 1)
    commit(frontier, store)

    assert pointers(store) == {key_of(3): key_of(0), key_of(4): key_of(1), key_of(5): key_of(0)}
    assert frontier.counts.duplicates == 3
    assert first_of(store, key_of(0)) is None
    assert [one.at_us for one in others_of(store, key_of(0), 9)] in ([4, 6], [6, 4])


@pytest.mark.parametrize(("status", "sketch"), [(404, b""), (200, b"F")])
def test_an_error_page_and_a_frameset_are_never_duplicates(status: int, sketch: bytes) -> None:
    store = MemoryStore()
    frontier = opened(store)
    for page in range(3):
        frontier.admit([found(url_of(page))], 1)
        frontier.report(a_report(page, "a", page + 1, status, sketch))
    commit(frontier, store)

    assert pointers(store) == {}
    assert frontier.counts.duplicates == 0


def test_a_page_that_was_requested_earlier_and_came_later_is_the_first() -> None:
    store = MemoryStore()
    frontier = opened(store)
    fetch(frontier, 1, "a", 20)
    fetch(frontier, 2, "a", 30)
    commit(frontier, store)
    fetch(frontier, 3, "a", 10)
    commit(frontier, store)

    assert pointers(store) == {key_of(1): key_of(3), key_of(2): key_of(3)}
    assert frontier.counts.duplicates == 2


def test_when_the_first_page_changes_the_next_one_becomes_the_first() -> None:
    store = MemoryStore()
    frontier = opened(store)
    for page in (1, 2, 3):
        fetch(frontier, page, "a", page)
    commit(frontier, store)
    frontier.report(a_report(1, "b", 10))
    commit(frontier, store)

    assert pointers(store) == {key_of(3): key_of(2)}
    frontier.report(a_report(1, "a", 11))
    commit(frontier, store)
    assert pointers(store) == {key_of(3): key_of(2), key_of(1): key_of(2)}


def test_a_page_that_is_gone_is_no_duplicate_and_has_none() -> None:
    store = MemoryStore()
    frontier = opened(store)
    for page in (1, 2, 3):
        fetch(frontier, page, "a", page)
    frontier.report(a_report(1, "a", 10, status=404))
    frontier.report(a_report(3, "a", 11, status=410))
    commit(frontier, store)

    assert pointers(store) == {}
    assert frontier.counts.duplicates == 0


def test_pages_with_the_same_masked_text_are_duplicates_in_the_mode_near() -> None:
    store = MemoryStore()
    frontier = opened(store, GroupedDuplicates("near"))
    fetch(frontier, 1, "a", 1, b"~" + bytes(16))
    fetch(frontier, 2, "b", 2, b"~" + bytes(16))
    fetch(frontier, 3, "c", 3, b"~" + b"x" * 16)
    commit(frontier, store)
    assert pointers(store) == {key_of(2): key_of(1)}

    frontier.report(a_report(1, "d", 4, sketch=b"~" + b"x" * 16))
    commit(frontier, store)
    assert pointers(store) == {key_of(1): key_of(3)}


def test_where_duplicates_are_not_wanted_there_are_none() -> None:
    store = MemoryStore()
    frontier = opened(store, NoDuplicates())
    for page in range(4):
        fetch(frontier, page, "the same", page + 1)
    commit(frontier, store)

    assert pointers(store) == {}
    assert list(walk(store, StateTable.SKETCH)) == []
    assert frontier.duplicates.is_current
    assert not opened(store).duplicates.is_current


STEPS = st.one_of(
    st.tuples(st.just("fetch"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("bring"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("old"), st.integers(0, 5), st.sampled_from("abc")),
    st.tuples(st.just("gone"), st.integers(0, 5), st.just("")),
    st.sampled_from([("commit",), ("kill",)]),
)


@given(st.lists(STEPS, max_size=30))
def test_whatever_happens_the_pointers_are_those_of_the_rows(
    steps: list[tuple[object, ...]],
) -> None:
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
            case ("gone", int(page), str()):
                frontier.admit([found(url_of(page))], at_us)
                frontier.report(a_report(page, "a", at_us, status=404))
            case ("kill",):
                frontier = opened(store)
            case _:
                commit(frontier, store)
    commit(frontier, store)

    assert pointers(store) == as_the_rows_say(store)
    assert frontier.counts.duplicates == len(pointers(store))
    backwards = [name for name, _ in walk(store, StateTable.DUPLICATE) if len(name) > 16]
    assert sorted(backwards) == sorted(first + key for key, first in pointers(store).items())


def as_the_rows_say(store: Store) -> dict[bytes, bytes]:
    """Each duplicate and the first page, from the rows of the pages alone."""
    first: dict[str, bytes] = {}
    expected: dict[bytes, bytes] = {}
    rows = [(UrlRow.decode(row), key) for key, row in walk(store, StateTable.URL)]
    for row, key in sorted(rows, key=lambda one: (one[0].at_us, one[1])):
        if row.standing == Standing.FETCHED and row.status == 200:
            one = first.setdefault(row.digest, key)
            if one != key:
                expected[key] = one
    return expected
