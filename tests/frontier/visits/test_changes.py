"""What a second visit of a page finds is noted with the report: a row in the table CHANGE."""

from __future__ import annotations

import pytest
from msgspec import structs

from frontier.frontier_model import KEYS, judge, lease_of, report_of
from frontier.test_frontier import commit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import UrlRow, time_of
from gossamer.frontier.store import MemoryStore, StateTable
from gossamer.frontier.visits.change_rows import ChangeRow
from gossamer.records import ChangedSpot, ChangeKind, Found, Outcome, PageChange, Report
from gossamer.settings import Frontier as FrontierSettings

SEED = "http://a.example/"
PAGE = "http://a.example/page"
OTHER = "http://a.example/other"
MANY = {"size_bytes": 5000}


def opened(store: MemoryStore) -> Frontier:
    return Frontier(store, FrontierSettings(), judge)


def visit(url: str, at_us: int, **facts: object) -> Report:
    report = report_of(lease_of(url), Outcome.FETCHED, at_us)
    return structs.replace(report, **{"status": 200, "digest": f"sha1:{url}", **facts})


def find(frontier: Frontier, url: str, at_us: int, via: str = SEED) -> None:
    frontier.admit([Found(url, KEYS.of(url), 1, KEYS.of(via))], at_us)


def changes(frontier: Frontier, store: MemoryStore) -> list[tuple[int, str, ChangeRow]]:
    commit(frontier, store)
    return [
        (time_of(at), frontier.url_of(at[8:]), ChangeRow.decode(row))
        for at, row in store.scan(StateTable.CHANGE, b"", None, 100)
    ]


def kinds(frontier: Frontier, store: MemoryStore) -> list[tuple[int, str]]:
    return [(at_us, row.kind.value) for at_us, _, row in changes(frontier, store)]


def row_of(frontier: Frontier, url: str) -> UrlRow:
    row = frontier.find(KEYS.of(url))
    assert row is not None
    return row


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def frontier(store: MemoryStore) -> Frontier:
    """A first crawl of a seed and a page."""
    frontier = opened(store)
    frontier.admit([Found(SEED, KEYS.of(SEED), 0)], 1)
    frontier.report(visit(SEED, 2))
    find(frontier, PAGE, 2)
    frontier.report(visit(PAGE, 3, **MANY))
    commit(frontier, store)
    return frontier


def test_a_first_crawl_writes_no_changes(frontier: Frontier, store: MemoryStore) -> None:
    assert changes(frontier, store) == []


def test_a_page_with_other_words_has_changed(frontier: Frontier, store: MemoryStore) -> None:
    change = PageChange(words_added=5, words_removed=2, links_added=1, title_before="Old",
        spots=(ChangedSpot(1, 2, 2, 5),), template=7)  # fmt: skip
    frontier.report(visit(PAGE, 10, digest="sha1:b", change=change))

    row = ChangeRow(ChangeKind.CHANGED, 3, 200, 200, 5, 2, 1, 0, "Old")
    assert changes(frontier, store) == [(10, PAGE, row)]
    assert row_of(frontier, PAGE).changed_us == 10
    assert row_of(frontier, PAGE).template == 7


def test_a_page_whose_versions_were_not_compared_counts(
    frontier: Frontier, store: MemoryStore
) -> None:
    frontier.report(visit(PAGE, 10, digest="sha1:b"))

    assert changes(frontier, store)[0][2] == ChangeRow(ChangeKind.CHANGED, 3, 200, 200)
    assert row_of(frontier, PAGE).changed_us == 10


def test_an_unchanged_page_has_no_change(frontier: Frontier, store: MemoryStore) -> None:
    frontier.report(visit(PAGE, 10, is_unchanged=True))

    assert changes(frontier, store) == []
    assert row_of(frontier, PAGE).changed_us == 0


def test_a_page_that_is_gone_and_comes_back_is_told_as_such(
    frontier: Frontier, store: MemoryStore
) -> None:
    frontier.report(visit(PAGE, 10, status=404, digest="sha1:none"))
    frontier.report(visit(PAGE, 20, status=410, digest="sha1:none"))
    frontier.report(visit(PAGE, 30, **MANY))

    assert kinds(frontier, store) == [(10, "gone"), (30, "back")]
    assert row_of(frontier, PAGE).changed_us == 30


def test_a_page_that_redirects_now_has_moved(frontier: Frontier, store: MemoryStore) -> None:
    frontier.report(visit(PAGE, 10, status=301, redirect=OTHER))
    frontier.report(visit(PAGE, 20, status=301, redirect=OTHER))

    moved = ChangeRow(ChangeKind.MOVED, 3, 200, 301, target=OTHER)
    assert changes(frontier, store) == [(10, PAGE, moved)]


def test_a_page_that_is_found_after_the_first_second_visit_is_new(
    frontier: Frontier, store: MemoryStore
) -> None:
    find(frontier, OTHER, 4)  # the first crawl did not come to it
    frontier.report(visit(SEED, 10, digest="sha1:b"))
    find(frontier, "http://a.example/new", 10)
    frontier.report(visit(OTHER, 11))
    frontier.report(visit("http://a.example/new", 12))

    assert kinds(frontier, store) == [(10, "changed"), (12, "new")]
    assert row_of(frontier, "http://a.example/new").changed_us == 0


def test_a_link_that_was_dead_and_leads_to_a_page_now_is_new(
    frontier: Frontier, store: MemoryStore
) -> None:
    find(frontier, OTHER, 4)
    frontier.report(visit(OTHER, 5, status=404))
    frontier.report(visit(OTHER, 10))

    assert kinds(frontier, store) == [(10, "new")]


def test_a_page_whose_body_is_at_another_url_has_moved(
    frontier: Frontier, store: MemoryStore
) -> None:
    frontier.report(visit(SEED, 10, digest="sha1:b"))
    find(frontier, OTHER, 10)
    frontier.report(visit(PAGE, 11, status=404, digest="sha1:none"))
    frontier.report(visit(OTHER, 12, digest=f"sha1:{PAGE}", **MANY))

    found = changes(frontier, store)
    assert [(at_us, url, row.kind.value) for at_us, url, row in found] == [
        (10, SEED, "changed"),
        (11, PAGE, "gone"),
        (12, PAGE, "moved"),
    ]
    assert found[2][2].target == OTHER


def test_a_new_page_whose_body_leaves_its_old_url_later_has_moved(
    frontier: Frontier, store: MemoryStore
) -> None:
    frontier.report(visit(SEED, 10, digest="sha1:b"))
    find(frontier, OTHER, 10)
    frontier.report(visit(OTHER, 11, digest=f"sha1:{PAGE}", **MANY))
    frontier.report(visit(PAGE, 12, status=404, digest="sha1:none"))

    found = changes(frontier, store)
    assert [row.kind.value for _, _, row in found] == ["changed", "new", "moved"]
    assert found[2][2].target == OTHER


def test_what_changes_at_every_visit_is_noise_from_the_third_on(
    frontier: Frontier, store: MemoryStore
) -> None:
    advert = PageChange(6, 6, spots=(ChangedSpot(1, 2, 6, 6),), template=7)
    for at_us in range(10, 20):
        frontier.report(visit(PAGE, at_us, digest=f"sha1:{at_us}", change=advert))

    is_noise = [row.is_noise for _, _, row in changes(frontier, store)]
    assert is_noise == [False, False, *[True] * 8]
    assert row_of(frontier, PAGE).changed_us == 11


def test_an_edit_beside_noise_counts_with_its_own_words(
    frontier: Frontier, store: MemoryStore
) -> None:
    spot = ChangedSpot(1, 2, 6, 6)
    for at_us in range(10, 20):
        advert = PageChange(6, 6, spots=(spot,), template=7)
        frontier.report(visit(PAGE, at_us, digest=f"sha1:{at_us}", change=advert))
    both = PageChange(8, 7, 1, spots=(spot, ChangedSpot(8, 9, 1, 2)), template=7)
    frontier.report(visit(PAGE, 20, digest="sha1:20", change=both))

    last = changes(frontier, store)[-1][2]
    assert (last.is_noise, last.words_added, last.words_removed) == (False, 2, 1)
    assert row_of(frontier, PAGE).changed_us == 20


def test_noise_is_known_after_a_restart(frontier: Frontier, store: MemoryStore) -> None:
    advert = PageChange(spots=(ChangedSpot(1, 2, 6, 6),), template=7)
    for at_us in (10, 11):
        frontier.report(visit(PAGE, at_us, digest=f"sha1:{at_us}", change=advert))
    commit(frontier, store)
    again = opened(store)
    again.report(visit(PAGE, 12, digest="sha1:12", change=advert))

    assert changes(again, store)[-1][2].is_noise
