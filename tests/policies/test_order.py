import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policies.order import (
    ORDERS,
    PRIORITY_KEY_BYTES,
    BreadthFirst,
    Candidate,
    DepthFirst,
    Order,
    make_key,
    priority_key,
    with_score,
)
from gossamer.policies.orders.makers import NAMES
from gossamer.settings import choices_of, describe

DEPTHS = st.integers(0, 2**20)
NUMBERS = st.integers(0, 2**40)


def key_of(order: Order, depth: int, number: int) -> bytes:
    return priority_key(order, Candidate("http://a.example/", depth), number)


@given(DEPTHS, NUMBERS, DEPTHS, NUMBERS)
def test_breadth_first_takes_the_shallow_and_then_the_old(
    depth: int, number: int, other_depth: int, other_number: int
) -> None:
    one = key_of(BreadthFirst(), depth, number)
    other = key_of(BreadthFirst(), other_depth, other_number)

    assert (one < other) == ((depth, number) < (other_depth, other_number))


@given(DEPTHS, NUMBERS, DEPTHS, NUMBERS)
def test_depth_first_takes_the_deep_and_then_the_new(
    depth: int, number: int, other_depth: int, other_number: int
) -> None:
    one = key_of(DepthFirst(), depth, number)
    other = key_of(DepthFirst(), other_depth, other_number)

    assert (one < other) == ((depth, number) > (other_depth, other_number))


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**64 - 1))
def test_a_priority_key_has_its_length_whatever_the_score(score: int, number: int) -> None:
    assert len(make_key(score, number)) == PRIORITY_KEY_BYTES


@given(DEPTHS, NUMBERS)
def test_the_orders_give_the_keys_that_are_on_disk(depth: int, number: int) -> None:
    """Four bytes of the level, eight of the number; both backwards where the newest comes first."""
    breadth, deep = key_of(BreadthFirst(), depth, number), key_of(DepthFirst(), depth, number)

    assert breadth == depth.to_bytes(4, "big") + number.to_bytes(8, "big")
    assert deep == (2**32 - 65 - depth).to_bytes(4, "big") + (2**64 - 1 - number).to_bytes(8, "big")


def test_the_setting_lists_every_built_in_order() -> None:
    assert set(choices_of(describe("frontier.order")[0])) == {*ORDERS, *NAMES}


@pytest.mark.parametrize("order", [BreadthFirst(), DepthFirst()], ids=["breadth", "depth"])
@given(st.text(), DEPTHS, st.text(), st.integers(1, 10**6), st.floats(0, 1))
def test_breadth_first_and_depth_first_score_by_depth_alone(
    order: Order, url: str, depth: int, words: str, links: int, relevance: float
) -> None:
    known = Candidate(url, depth, words, words, links, relevance)

    assert order.score(known) == order.score(Candidate("", depth))


class ShortFirst:
    """The shortest URL first: an order that sees more than the depth."""

    uses_link_counts = False
    is_newest_first = False
    revision = 0

    def score(self, candidate: Candidate) -> int:
        return len(candidate.url)


@given(st.text(max_size=9), NUMBERS, st.text(max_size=9), NUMBERS)
def test_an_order_that_scores_urls_puts_small_scores_first(
    url: str, number: int, other_url: str, other_number: int
) -> None:
    one = priority_key(ShortFirst(), Candidate(url, 3), number)
    other = priority_key(ShortFirst(), Candidate(other_url, 0), other_number)

    assert (one < other) == ((len(url), number) < (len(other_url), other_number))


@given(DEPTHS, NUMBERS, st.integers(-9, 2**33))
def test_another_score_keeps_the_number_of_a_url(depth: int, number: int, score: int) -> None:
    key = key_of(DepthFirst(), depth, number)

    again = with_score(key, score)

    assert again[4:] == key[4:]
    assert again[:4] == make_key(score, 0)[:4]
