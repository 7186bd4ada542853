"""A limited buffer: who leaves, who returns, and how near the kept pages come to the best."""

from __future__ import annotations

import numpy as np

from gossamer.policies.keep_best import KeepBest
from gossamer.policies.orders.columns import Values
from support.rows import each_row


def values(*given: float) -> Values:
    return np.array(given, np.float32)


def times(*given: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(given, np.int32)


def test_the_least_important_leave_and_among_equals_the_last() -> None:
    rule = KeepBest(room=3)

    assert rule.leaving(values(5, 1, 2, 1, 9), 2).tolist() == [1, 3]
    assert rule.leaving(values(5, 1, 2, 1, 9), 1).tolist() == [3]
    assert rule.leaving(values(2, 2, 2, 2, 2), 2).tolist() == [3, 4]


def test_nobody_leaves_where_there_is_room() -> None:
    rule = KeepBest(room=3)

    assert rule.leaving(values(5, 1, 2), 0).tolist() == []
    assert rule.leaving(values(5, 1, 2), -2).tolist() == []
    assert rule.leaving(values(5, 1), 9).tolist() == [0, 1]


def test_a_page_returns_only_if_it_is_clearly_better_than_the_one_whose_place_it_takes() -> None:
    rule = KeepBest(room=4, margin=0.2)

    kept = values(10, 10, 20, 90)
    found = rule.returning(values(10, 12, 12.5, 40), times(0, 0, 0, 0), kept, 100)

    assert found.tolist() == [3, 2], "the best first; 12 would take the place of 20"
    assert rule.returning(values(12), times(0), kept, 100).tolist() == [], "only 20 % more"


def test_no_more_pages_return_than_can_stay() -> None:
    rule = KeepBest(room=3)

    found = rule.returning(values(50, 60, 70, 80), times(0, 0, 0, 0), values(1, 2, 65), 100)

    assert found.tolist() == [3, 2], "60 would take the place of 65"


def test_while_others_are_queued_a_page_must_be_much_better_and_fills_no_room() -> None:
    rule = KeepBest(room=3, early_margin=1.0)

    full = rule.returning(values(15, 21), times(0, 0), values(10, 10, 10), 100, is_early=True)
    free = rule.returning(values(15, 21), times(0, 0), values(10), 100, is_early=True)

    assert full.tolist() == [1]
    assert free.tolist() == []


def test_a_page_returns_a_few_times_only() -> None:
    rule = KeepBest(room=2, most_returns=2)

    assert rule.returning(values(40, 40, 40), times(0, 1, 2), values(1, 1), 9).tolist() == [0, 1]


def test_while_there_is_room_the_best_return_that_are_worth_anything() -> None:
    rule = KeepBest(room=4)

    found = rule.returning(values(1, 3, 0, 2), times(0, 0, 0, 0), values(5, 5), 100)

    assert found.tolist() == [1, 3]


def test_no_more_return_at_once_than_allowed() -> None:
    found = KeepBest(room=4).returning(values(9, 8, 7, 6), times(0, 0, 0, 0), values(1, 1, 1, 1), 2)

    assert found.tolist() == [0, 1]


@each_row("seed", range(5))
def test_the_kept_pages_of_a_growing_graph_are_nearly_the_best(seed: int) -> None:
    """Pages come in random order, and links to them in the order of their pages. Popular targets
    get more links, as on the web."""
    chance = np.random.default_rng(seed)
    pages, room = 3_000, 300
    popularity = chance.zipf(1.6, pages).astype(np.float64)
    weights = popularity / popularity.sum()
    importance = np.zeros(pages, np.float32)
    rule = KeepBest(room)
    kept: list[int] = []
    left: dict[int, int] = {}  # how often each has returned
    fetches = 0

    def fetch(page: int) -> None:
        nonlocal fetches
        fetches += 1
        kept.append(page)
        if fetches % 50 == 0:
            look()

    def look() -> None:
        leaving = rule.leaving(importance[kept], len(kept) - room)
        for page in [kept[at] for at in leaving.tolist()]:
            kept.remove(page)
            left.setdefault(page, 0)

    for page in chance.permutation(pages).tolist():
        fetch(page)
        targets = np.unique(chance.choice(pages, 10, p=weights))
        importance[targets] += 1
    look()
    for _ in range(3):
        away = [page for page in left if page not in kept]
        returns = np.array([left[page] for page in away], np.int32)
        back = rule.returning(importance[away], returns, importance[kept], 1_000)
        for page in [away[at] for at in back.tolist()]:
            left[page] += 1
            fetch(page)
        look()

    ideal = float(np.sort(importance)[-room:].sum())
    assert len(kept) == room
    assert float(importance[kept].sum()) >= 0.95 * ideal
    assert fetches <= pages + room
