"""The first URL of each host by score, compared with a search over all."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gossamer.frontier.selection.host_heaps import HostHeaps, scores_of, value_of_score


def slots(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


def filled(hosts: list[int], *, is_newest_first: bool = False) -> HostHeaps:
    heaps = HostHeaps(is_newest_first=is_newest_first)
    every = np.arange(len(hosts), dtype=np.int32)
    heaps.add_slots(len(hosts), every, np.array(hosts, np.int32))
    heaps.queue(every)
    return heaps


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_the_smallest_score_comes_first_whatever_happened_before(is_newest_first: bool) -> None:
    draw = random.Random(2)
    heaps = filled([n % 3 for n in range(300)], is_newest_first=is_newest_first)
    scores = dict.fromkeys(range(300), 50)
    heaps.place(np.arange(300, dtype=np.int32), np.full(300, 50, np.int32))
    for _ in range(2_000):
        if draw.random() < 0.8:
            some = draw.sample(range(300), 5)
            new = [draw.randrange(1, 100) for _ in some]
            heaps.place(slots(*some), slots(*new))
            scores.update((n, s) for n, s in zip(some, new, strict=True) if n in scores)
        elif scores:
            gone = draw.choice(list(scores))
            del scores[gone]
            heaps.take(gone)
        for host in range(3):
            tie = -1 if is_newest_first else 1
            left = [(score, tie * n) for n, score in scores.items() if n % 3 == host]
            assert heaps.first(host) == (abs(min(left)[1]) if left else None)


def test_a_host_is_told_of_when_its_first_url_changes() -> None:
    heaps = filled([0, 0, 1])
    heaps.place(slots(0, 1, 2), slots(5, 6, 7))
    heaps.moved.clear()

    heaps.place(slots(1), slots(5))  # the same score as the first, but found later
    assert heaps.moved == set()
    heaps.place(slots(1), slots(4))
    assert heaps.moved == {0}
    heaps.moved.clear()
    heaps.place(slots(1), slots(9))
    assert heaps.moved == {0}


def test_a_url_whose_score_changes_for_ever_takes_no_more_memory() -> None:
    heaps = filled([0] * 10)
    for score in range(1, 20_000):
        heaps.place(slots(score % 10), slots(score))

    assert len(heaps._heaps[0]) < 200


def test_a_url_that_was_taken_comes_back_with_its_place() -> None:
    heaps = filled([0, 0])
    heaps.place(slots(0, 1), slots(5, 6))

    heaps.take(0)
    assert heaps.first(0) == 1
    assert heaps.drop(0)
    heaps.queue(slots(0))
    heaps.place(slots(0), slots(5))

    assert heaps.first(0) == 0


def test_scores_sort_as_values_do_and_tell_the_value() -> None:
    values = np.array([0.0, 1e-30, 0.15, 0.150001, 1, 2, 3, 1e9, 3e38, np.inf], np.float32)

    scores = scores_of(values)

    assert (np.diff(scores) < 0).all()
    assert [value_of_score(score) for score in scores.tolist()] == values.tolist()
    assert value_of_score(0) == float("inf")  # a seed
    assert scores.min() > 0
