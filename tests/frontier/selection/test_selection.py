"""Orders by value over a real frontier."""

from __future__ import annotations

import pytest

from frontier.frontier_model import KEYS, judge
from frontier.test_frontier import commit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import QueueEntry
from gossamer.frontier.selection.selection import Selection
from gossamer.frontier.store import MemoryStore, Store
from gossamer.policies.order import BreadthFirst
from gossamer.policies.orders.backlinks import Backlinks
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns, UrlSlots, Values
from gossamer.policies.policies import Policies
from gossamer.records import Found, Lease, Outcome, Reason, Report, Stored
from gossamer.settings import Frontier as FrontierSettings

A = KEYS.host("a.example")
NOW_US = 1_000_000


class OneLinkADay(Backlinks):
    """Backlinks, but sites lose by what they have had."""

    site_power = 0.5  # type: ignore[misc]


class ByRank(OneLinkADay):
    """By the column `rank`, which somebody else writes."""

    def value(self, pages: PageColumns, slots: UrlSlots, /) -> Values:
        return pages.rank[slots]


def opened(store: Store, order: ColumnOrder | None = None, urls: int = 1_000) -> Frontier:
    settings = FrontierSettings(host_buffer=4, scored_urls=urls)
    policies = Policies(order=BreadthFirst(), values=order or Backlinks())
    return Frontier(store, settings, judge, policies=policies)


def url(name: str) -> str:
    return name if "//" in name else f"http://a.example/{name}"


def found(*names: str, depth: int = 1) -> list[Found]:
    return [Found(url(name), KEYS.of(url(name)), depth) for name in names]


def selection_of(frontier: Frontier) -> Selection:
    assert frontier.selection is not None
    return frontier.selection


def fetch(frontier: Frontier, name: str, *links: str) -> None:
    """A queued page was fetched and links to others."""
    lease = Lease(1, url(name), KEYS.of(url(name)), "a.example", "1.2.3.4")
    stored = Stored("x.warc.gz", 0, 0, 1)
    report = Report(lease, Outcome.FETCHED, NOW_US, 0.1, stored, status=200)
    frontier.report(report)
    frontier.admit(found(*links), NOW_US)
    selection_of(frontier).learn(lease.key, found(*links), b"")


def take(frontier: Frontier, host_key: bytes = A) -> str:
    first = frontier.peek(host_key)
    if first is None:
        return ""
    frontier.take(host_key)
    return first[1].url.rpartition("/")[2]


def take_all(frontier: Frontier) -> str:
    return "".join(iter(lambda: take(frontier), ""))


def test_the_url_with_the_most_links_comes_first_and_seeds_before_it() -> None:
    frontier = opened(MemoryStore())
    frontier.admit(found("s", depth=0), NOW_US)
    frontier.admit(found(*"abcdef"), NOW_US)
    fetch(frontier, "a", *"de")
    fetch(frontier, "b", *"ecf")

    assert take_all(frontier) == "secdf"


@pytest.mark.parametrize("commits", [False, True])
def test_urls_behind_the_buffer_of_a_host_come_first_too(commits: bool) -> None:
    store = MemoryStore()
    frontier = opened(store)
    names = [f"{n:03}" for n in range(100)]
    frontier.admit(found("s", *names), NOW_US)
    if commits:
        commit(frontier, store)
    fetch(frontier, "s", *names[90:])

    assert [take(frontier) for _ in range(12)] == [*names[90:], "000", "001"]


def test_a_url_that_was_leased_and_given_back_comes_again() -> None:
    frontier = opened(MemoryStore())
    frontier.admit(found(*"sabc"), NOW_US)
    fetch(frontier, "s", "b")
    peeked = frontier.peek(A)
    assert peeked is not None
    assert take(frontier) == "b"

    frontier.give_back(QueueEntry(*peeked[1]))

    assert take_all(frontier) == "bac"


def test_a_refused_url_is_not_taken() -> None:
    frontier = opened(MemoryStore())
    frontier.admit(found(*"sabc"), NOW_US)
    fetch(frontier, "s", "b")

    frontier.refuse(KEYS.of(url("b")), Reason.BANNED, "", NOW_US)

    assert take_all(frontier) == "ac"


def test_urls_beyond_the_table_come_last_and_are_not_lost() -> None:
    frontier = opened(MemoryStore(), urls=3)
    frontier.admit(found(*"sabcde"), NOW_US)
    fetch(frontier, "s", *"be")

    assert take_all(frontier) == "bacde"
    assert selection_of(frontier).without_slot == 3


def test_a_page_that_is_fetched_again_counts_its_links_once() -> None:
    frontier = opened(MemoryStore())
    frontier.admit(found(*"sabc"), NOW_US)
    selection = selection_of(frontier)
    fetch(frontier, "s", *"ab")
    selection.learn(KEYS.of(url("s")), found(*"bc"), b"")

    slots = selection.table.find(b"".join(KEYS.of(url(name)) for name in "abc"))
    assert selection.pages.links[slots].tolist() == [0, 1, 1]


def test_a_site_is_worth_less_by_what_it_has_had_and_by_what_is_in_flight() -> None:
    frontier = opened(MemoryStore(), OneLinkADay())
    frontier.admit(found(*"sabc"), NOW_US)
    selection = selection_of(frontier)
    place = selection.first_place(A)
    assert place is not None
    fetch(frontier, "s", *"abc")
    site = selection.site_number(A)
    place = selection.first_place(A)
    assert place is not None

    assert selection.between_hosts(site, place) == pytest.approx(1 / 2**0.5)
    take(frontier)
    assert selection.between_hosts(site, place) == pytest.approx(1 / 3**0.5)
    assert selection.between_hosts(site, b"") == float("inf")


def test_values_that_were_computed_elsewhere_move_urls_in_slices() -> None:
    frontier = opened(MemoryStore(), ByRank())
    frontier.admit(found(*"abcd"), NOW_US)
    selection = selection_of(frontier)
    assert take(frontier) == "a"
    pages, _ = selection.begin_computing()
    pages.rank[:4] = [1, 2, 4, 3]
    fetch(frontier, "a", "e")
    assert selection.pages.fetched == 0  # it waits
    selection.end_computing(pages, is_new=True)
    assert selection.pages.fetched == 1
    while selection.place_some(1):
        pass

    assert frontier.take_moved() == {A}
    assert take_all(frontier) == "cdbe"
