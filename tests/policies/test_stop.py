import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policies.stop import Allowance
from gossamer.settings import Limits


def test_without_limits_there_is_room_for_a_whole_body() -> None:
    allowance = Allowance(Limits())

    assert allowance.room_for_body(fetched=10**9, bytes_had=10**15, max_body_bytes=77) == 77
    assert allowance.reached(fetched=10**9, bytes_had=10**15, ran_s=1e9) == ""


def test_what_is_under_way_counts_as_if_it_had_come() -> None:
    allowance = Allowance(Limits(max_pages=3))
    allowance.promise(10)
    allowance.promise(10)

    assert allowance.room_for_body(fetched=1, bytes_had=0, max_body_bytes=10) == 0

    allowance.settle(10)  # it was a redirect: no page came
    assert allowance.room_for_body(fetched=1, bytes_had=0, max_body_bytes=10) == 10


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(max_pages=5), "max-pages"),
        (Limits(max_bytes=50), "max-bytes"),
        (Limits(max_time_s=500), "max-time"),
    ],
)
def test_a_limit_is_named_when_it_is_reached(limits: Limits, name: str) -> None:
    allowance = Allowance(limits)

    assert allowance.reached(fetched=4, bytes_had=49, ran_s=499.0) == ""
    assert allowance.reached(fetched=5, bytes_had=50, ran_s=500.0) == name


def test_the_last_bytes_are_asked_for_one_page_at_a_time() -> None:
    allowance = Allowance(Limits(max_bytes=250))
    rooms = []
    for _ in range(3):
        rooms.append(allowance.room_for_body(fetched=0, bytes_had=0, max_body_bytes=100))
        allowance.promise(rooms[-1])

    assert rooms == [100, 100, 0]

    for room in rooms:
        allowance.settle(room)
    assert allowance.room_for_body(fetched=2, bytes_had=180, max_body_bytes=100) == 70


def test_a_page_that_does_not_fit_ends_the_crawl() -> None:
    allowance = Allowance(Limits(max_bytes=250), is_spent=True)

    assert allowance.room_for_body(fetched=2, bytes_had=180, max_body_bytes=100) == 0
    assert allowance.reached(fetched=2, bytes_had=180, ran_s=0.0) == "max-bytes"


@given(
    st.integers(1, 500),
    st.lists(st.tuples(st.booleans(), st.integers(0, 100)), max_size=60),
)
def test_bytes_are_never_overshot(max_bytes: int, requests: list[tuple[bool, int]]) -> None:
    allowance = Allowance(Limits(max_bytes=max_bytes))
    had, under_way = 0, list[tuple[int, int]]()

    for ends, size in requests:
        room = allowance.room_for_body(fetched=0, bytes_had=had, max_body_bytes=100)
        if room:
            allowance.promise(room)
            under_way.append((room, min(size, room)))
        if ends and under_way:
            promised, brought = under_way.pop(0)
            allowance.settle(promised)
            had += brought
    had += sum(brought for _, brought in under_way)

    assert had <= max_bytes


def test_whatever_is_under_way_may_be_the_last_match() -> None:
    allowance = Allowance(Limits(max_matches=2))
    allowance.matches = 1
    allowance.promise(10)

    assert allowance.room_for_body(fetched=50, bytes_had=0, max_body_bytes=10) == 0
    assert allowance.reached(fetched=50, bytes_had=0, ran_s=0) == ""

    allowance.settle(10)
    allowance.matches += 1
    assert allowance.reached(fetched=51, bytes_had=0, ran_s=0) == "max-matches"
