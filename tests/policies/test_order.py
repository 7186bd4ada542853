from hypothesis import given
from hypothesis import strategies as st

from gossamer.policies.order import PLACE_BYTES, place, place_of

DEPTHS = st.integers(0, 2**20)
NUMBERS = st.integers(0, 2**40)


@given(DEPTHS, NUMBERS, DEPTHS, NUMBERS)
def test_breadth_first_takes_the_shallow_and_then_the_old(
    depth: int, number: int, other_depth: int, other_number: int
) -> None:
    one = place_of("breadth", depth=depth, number=number)
    other = place_of("breadth", depth=other_depth, number=other_number)

    assert (one < other) == ((depth, number) < (other_depth, other_number))


@given(DEPTHS, NUMBERS, DEPTHS, NUMBERS)
def test_depth_first_takes_the_deep_and_then_the_new(
    depth: int, number: int, other_depth: int, other_number: int
) -> None:
    one = place_of("depth", depth=depth, number=number)
    other = place_of("depth", depth=other_depth, number=other_number)

    assert (one < other) == ((depth, number) > (other_depth, other_number))


@given(st.integers(-(2**70), 2**70), st.integers(0, 2**64 - 1))
def test_a_place_has_its_length_whatever_the_score(score: int, number: int) -> None:
    assert len(place(score, number)) == PLACE_BYTES
