"""The importance of URLs by the links of fetched pages, as a crawl learns them."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pytest

from gossamer.node.keeping.importance import LiveImportance
from gossamer.policies.orders.named import LINK_ORDERS
from gossamer.urls.repeated_links import pack_links


def key(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=16).digest()


def importance(metric: str = "backlinks", most: int = 1_000) -> LiveImportance:
    return LiveImportance(LINK_ORDERS[metric](0), most)


def learn(live: LiveImportance, name: str, targets: str, status: int = 200) -> None:
    live.learn(key(name), [key(one) for one in targets], b"", status)


def values(live: LiveImportance, names: str) -> list[float]:
    slots = live.note_stored([key(one) for one in names], [200] * len(names))
    found: list[float] = live.values(slots).tolist()
    return found


def test_each_page_that_links_to_a_url_counts_once_and_no_page_counts_for_itself() -> None:
    live = importance()
    learn(live, "a", "bbca")
    learn(live, "b", "c")
    live.settle()

    assert values(live, "abc") == [0, 1, 2]


def test_links_that_are_reported_as_repeated_count_too() -> None:
    live = importance()
    live.learn(key("a"), [key("b")], pack_links({key("c"): 3}), 200)
    live.settle()

    assert values(live, "bc") == [1, 1]


@pytest.mark.parametrize("is_apart", [True, False])
def test_of_a_page_that_is_fetched_again_the_last_links_count(is_apart: bool) -> None:
    live = importance()
    learn(live, "a", "bc")
    if is_apart:
        live.settle()
    learn(live, "a", "cd")
    live.settle()

    assert values(live, "bcd") == [0, 1, 1]


def test_a_page_that_answers_with_an_error_is_worth_nothing_and_its_links_do_not_count() -> None:
    live = importance()
    learn(live, "a", "b")
    learn(live, "b", "ac", status=404)
    slots = live.settle()

    assert live.values(slots).tolist() == [0, 0]
    assert values(live, "c") == [0]


def test_slots_come_in_the_order_of_the_pages_and_settling_twice_gives_none() -> None:
    live = importance()
    learn(live, "z", "ab")
    learn(live, "a", "z")
    slots = live.settle()

    assert [live.key_of(slot) for slot in slots.tolist()] == [key("z"), key("a")]
    assert live.settle().tolist() == []


def test_urls_beyond_the_room_are_not_counted() -> None:
    live = importance(most=3)
    learn(live, "a", "bcd")
    assert len(live.settle()) == 1
    learn(live, "d", "b")

    assert len(live.settle()) == 0, "there is no slot for it"
    assert live.pages.count == 3
    assert values(live, "b") == [1]


def test_ranks_are_handed_on_once() -> None:
    once, twice = importance("pagerank"), importance("pagerank")
    for live in (once, twice):
        learn(live, "a", "bc")
        live.settle()
    learn(twice, "a", "bc")
    twice.settle()

    np.testing.assert_allclose(values(once, "abc"), values(twice, "abc"))
