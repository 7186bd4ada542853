"""What a change or a hint says about pages that were not visited yet."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.policies.refresh.estimate import Estimation
from gossamer.policies.refresh.optimal import Optimal

DAY = 86400.0
ALL = np.arange(30)


def started(constants: Estimation | None = None) -> Optimal:
    """Three groups of ten pages, visited 100 days ago."""
    policy = Optimal(constants)
    for slot in ALL:
        policy.add(int(slot), 0.0, group=int(slot) // 10)
    policy.visited(ALL, 100 * DAY, is_changed=False)
    return policy


def test_a_change_makes_the_siblings_more_urgent_and_nobody_else() -> None:
    policy = started()
    now = 110 * DAY
    before = policy.hazard(ALL)
    policy.visited(0, now, is_changed=True, modified_s=105 * DAY)
    after = policy.hazard(ALL)

    assert before.max() == 0
    assert after[1:10].min() > 0.03
    assert after[10:].max() == 0
    assert after[0] == 0
    assert set(policy.choose(now, 9)) == set(range(1, 10))


def test_a_sibling_that_was_visited_after_the_change_is_not_concerned() -> None:
    policy = started()
    policy.visited(3, 106 * DAY, is_changed=False)
    policy.visited(0, 110 * DAY, is_changed=True, modified_s=105 * DAY)

    assert policy.hazard(np.array([2, 3])).tolist() == [
        pytest.approx(policy.hazard(np.array([4]))[0]),
        0.0,
    ]


def test_each_sibling_with_the_same_change_raises_the_suspicion_and_each_other_lowers_it() -> None:
    policy = started()
    policy.visited(0, 110 * DAY, is_changed=True, modified_s=105 * DAY)
    one = policy.hazard(np.array([9]))[0]
    policy.visited(1, 111 * DAY, is_changed=True, modified_s=105 * DAY)
    policy.visited(2, 111 * DAY, is_changed=True, modified_s=105 * DAY)
    three = policy.hazard(np.array([9]))[0]
    for slot in (3, 4, 5):
        policy.visited(slot, 112 * DAY, is_changed=False)
    fewer = policy.hazard(np.array([9]))[0]

    assert three > 2 * one
    assert fewer < 0.8 * three


def test_a_change_without_a_date_concerns_the_siblings_too() -> None:
    policy = started()
    policy.visited(0, 110 * DAY, is_changed=True)

    assert policy.hazard(np.array([1]))[0] > 0.03


def test_without_siblings_a_change_concerns_the_page_alone() -> None:
    policy = started(Estimation(uses_siblings=False))
    policy.visited(0, 110 * DAY, is_changed=True, modified_s=105 * DAY)

    assert policy.hazard(ALL).max() == 0


def test_groups_that_change_together_are_learned() -> None:
    """Group 0 is always edited as a whole, group 1 page by page."""
    policy = started()
    for number in range(40):
        edit = (110 + 10 * number) * DAY
        for slot in range(20):
            is_changed = slot < 10 or slot - 10 == number % 10
            policy.visited(slot, edit + DAY + slot, is_changed, edit if is_changed else None)
    policy.visited(np.array([0, 10]), 999 * DAY, is_changed=True, modified_s=998 * DAY)

    together, alone = policy.hazard(np.array([5, 15]))
    assert together > 4 * alone


def test_a_hint_makes_a_page_urgent_until_it_was_visited() -> None:
    policy = started()
    policy.hint(7, 105 * DAY)
    policy.hint(8, 90 * DAY)  # older than the copy

    assert policy.choose(106 * DAY, 1).tolist() == [7]
    policy.visited(7, 106 * DAY, is_changed=True, modified_s=105 * DAY)
    assert policy.hazard(np.array([7]))[0] == 0
    assert policy.fresh(np.array([7]), 106 * DAY)[0] == 1


def test_hints_that_are_wrong_lose_their_weight() -> None:
    policy = started()
    policy.hint(ALL, 105 * DAY)
    first = policy.hazard(np.array([7]))[0]
    for day in range(110, 130):
        policy.visited(ALL, day * DAY, is_changed=False)
        policy.hint(ALL, (day + 0.5) * DAY)

    assert policy.hazard(np.array([7]))[0] < 0.1 * first


def test_events_are_restored_from_the_last_change_of_each_page() -> None:
    policy = started()
    policy.visited(0, 110 * DAY, is_changed=True, modified_s=105 * DAY)
    other = Optimal()
    other.restore_figures(policy.figures())
    for slot in range(30):
        modified_s = 105 * DAY if slot == 0 else float("nan")
        other.restore(slot, policy.known(slot)._replace(modified_s=modified_s))

    assert other.hazard(ALL) == pytest.approx(policy.hazard(ALL))


def test_a_hint_reaches_a_page_among_many() -> None:
    """With more pages than one choice looks at."""
    policy = Optimal()
    for slot in range(20_000):
        policy.add(slot, 0.0, group=slot // 10)
    policy.visited(np.arange(20_000), 10.0, is_changed=False)
    policy.visited(policy.choose(11.0, 5), 11.0, is_changed=False)
    policy.hint(19_999, 10.5)
    policy.visited(12_340, 11.0, is_changed=True, modified_s=10.5)

    chosen = set(policy.choose(12.0, 10).tolist())
    assert {19_999, *range(12_341, 12_350)} == chosen


def test_a_new_weight_of_a_page_is_not_a_change() -> None:
    policy = started()
    policy.add(30, 105 * DAY, group=0)
    policy.restore(30, policy.known(30)._replace(weight=2.0))

    assert policy.hazard(ALL).max() == 0
