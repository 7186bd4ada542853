"""What all refresh policies share: slots, choosing, predictions."""

from __future__ import annotations

import numpy as np
import pytest

from gossamer.policies.refresh.named import REFRESH_POLICIES, refresh_named
from gossamer.policies.refresh.policy import KnownPage, RefreshPolicy
from gossamer.policies.refresh.uniform import Uniform

DAY = 86400.0


@pytest.fixture(params=sorted(REFRESH_POLICIES))
def policy(request: pytest.FixtureRequest) -> RefreshPolicy:
    made = refresh_named(request.param)
    for slot in range(5):
        made.add(slot, slot * 1.0)
    return made


def test_a_chosen_page_is_not_chosen_again_before_its_visit_ends(policy: RefreshPolicy) -> None:
    first = policy.choose(DAY, 3)
    second = policy.choose(DAY, 3)

    assert len(first) == 3
    assert sorted([*first, *second]) == [0, 1, 2, 3, 4]
    policy.visited(first, DAY, is_changed=False)
    assert sorted(policy.choose(2 * DAY, 9)) == sorted(first)


def test_a_page_whose_visit_failed_waits_until_it_is_told(policy: RefreshPolicy) -> None:
    policy.missed(policy.choose(DAY, 5), 3 * DAY)

    assert list(policy.choose(2 * DAY, 5)) == []
    assert sorted(policy.choose(3 * DAY, 5)) == [0, 1, 2, 3, 4]


def test_a_removed_page_is_not_chosen_and_its_late_report_is_ignored(policy: RefreshPolicy) -> None:
    policy.choose(DAY, 5)
    policy.remove(2)
    policy.visited(np.arange(5), DAY, is_changed=True)

    assert sorted(policy.choose(2 * DAY, 5)) == [0, 1, 3, 4]
    with pytest.raises(KeyError):
        policy.known(2)


def test_a_slot_can_be_used_again(policy: RefreshPolicy) -> None:
    policy.visited(2, DAY, is_changed=True, modified_s=DAY / 2)
    policy.remove(2)
    policy.add(2, 2 * DAY)

    assert policy.known(2).shape == 0.0
    assert policy.known(2).last_s == 2 * DAY


def test_a_restored_page_is_known_as_before(policy: RefreshPolicy) -> None:
    policy.visited(1, DAY, is_changed=True, modified_s=DAY / 2)
    policy.visited(1, 2 * DAY, is_changed=False)
    other = type(policy)()
    other.restore_figures(policy.figures())
    for slot in range(5):
        other.restore(slot, policy.known(slot))

    assert other.known(1) == policy.known(1)
    assert other.rate(1) == pytest.approx(policy.rate(1))
    assert other.freshness(3 * DAY) == pytest.approx(policy.freshness(3 * DAY))


def test_freshness_falls_and_age_rises_with_time(policy: RefreshPolicy) -> None:
    times = [5.0, DAY, 3 * DAY, 30 * DAY, 300 * DAY]
    fresh = [policy.freshness(at) for at in times]
    ages = [policy.age_s(at) for at in times]

    assert 1 > fresh[0] > 0.99
    assert fresh == sorted(fresh, reverse=True)
    assert ages == sorted(ages)
    assert all(0 <= age <= at for age, at in zip(ages, times, strict=True))


def test_predictions_can_be_made_for_some_pages(policy: RefreshPolicy) -> None:
    policy.visited(0, 10 * DAY, is_changed=False)

    assert policy.freshness(10 * DAY, np.array([0])) == 1.0
    assert policy.freshness(10 * DAY, np.array([0])) > policy.freshness(10 * DAY, np.array([1, 2]))


def test_nothing_is_chosen_and_nothing_is_stale_without_pages() -> None:
    policy = Uniform()

    assert list(policy.choose(1.0, 3)) == []
    assert policy.freshness(1.0) == 1.0
    assert policy.age_s(1.0) == 0.0


def test_uniform_visits_the_oldest_copy_first() -> None:
    policy = Uniform()
    for slot, last_s in enumerate([30.0, 10.0, 20.0]):
        policy.restore(slot, KnownPage(last_s))

    assert list(policy.choose(40.0, 3)) == [1, 2, 0]


def test_uniform_says_when_a_page_is_next_due() -> None:
    policy = Uniform()
    for slot in range(10):
        policy.add(slot, 100.0)

    assert policy.due_s(3, visits_per_s=0.5) == pytest.approx(120.0)
    assert policy.due_s(3, visits_per_s=0.0) == float("inf")


def test_many_pages_are_all_visited_once_a_round() -> None:
    """More pages than one choice looks at."""
    policy, pages = Uniform(), 40_000
    for slot in range(pages):
        policy.add(slot, 0.0)
    seen = np.zeros(pages, dtype=np.int64)
    for tick in range(1, 201):
        chosen = policy.choose(float(tick), pages // 100)
        policy.visited(chosen, float(tick), is_changed=False)
        seen[chosen] += 1

    assert seen.min() == seen.max() == 2
