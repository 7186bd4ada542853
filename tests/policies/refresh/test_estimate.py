"""The estimate of how often a page changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from gossamer.policies.refresh.estimate import Estimation, seen_once
from gossamer.policies.refresh.optimal import Optimal
from gossamer.policies.refresh.uniform import Uniform
from support.gamma import gamma_density
from support.rows import each_row

PAGES = 300


def visits(
    policy: Uniform, rates: list[float], interval: float, rounds: int, *, is_dated: bool
) -> None:
    """Visit pages that change at random, at a fixed interval; the rates may differ by round."""
    random = np.random.default_rng(7)
    slots = np.arange(PAGES)
    start = policy.known(0).last_s
    for number in range(rounds):
        rate = rates[number * len(rates) // rounds]
        now = start + (number + 1) * interval
        back = random.exponential(1 / rate, PAGES)  # time since the last change
        modified = np.where(back < interval, now - back, np.nan)
        policy.visited(slots, now, back < interval, modified if is_dated else None)


def started(constants: Estimation | None = None) -> Uniform:
    policy = Uniform(constants)
    for slot in range(PAGES):
        policy.add(slot, 0.0, group=slot % 10)
    return policy


@each_row("is_dated", [True, False])
@each_row("interval", [0.2, 1.0, 3.0])
def test_the_mean_converges_to_the_true_rate(interval: float, is_dated: bool) -> None:
    policy = started(Estimation(memory=1e9))
    visits(policy, [0.8], interval, 200, is_dated=is_dated)

    found = np.array([policy.rate(slot) for slot in range(PAGES)])
    assert found.mean() == pytest.approx(0.8, rel=0.06)
    assert found.std() < 0.2


def test_dates_of_changes_tell_rates_that_visits_alone_cannot() -> None:
    """At ten changes per visit every visit sees a change."""
    dated, undated = started(), started()
    visits(dated, [10.0], 1.0, 100, is_dated=True)
    visits(undated, [10.0], 1.0, 100, is_dated=False)

    assert dated.rate(0) == pytest.approx(10.0, rel=0.4)
    assert abs(undated.rate(0) - 10.0) > 2 * abs(dated.rate(0) - 10.0)


def test_old_evidence_is_forgotten_when_the_rate_shifts() -> None:
    follows, keeps = started(Estimation()), started(Estimation(memory=1e9))
    for policy in (follows, keeps):
        visits(policy, [2.0, 0.1], 1.0, 200, is_dated=True)

    rates = [np.mean([policy.rate(slot) for slot in range(PAGES)]) for policy in (follows, keeps)]
    assert rates[0] < 0.3
    assert rates[1] > 2 * rates[0]


def test_a_new_page_is_thought_to_change_as_its_group_does() -> None:
    policy = Optimal()
    for slot in range(40):
        policy.add(slot, 0.0, group=slot // 20)
    for now in range(1, 30):
        slots = np.arange(40)
        policy.visited(slots, float(now), (slots < 20) & (slots % 4 == now % 4))
    policy.add(40, 30.0, group=0)
    policy.add(41, 30.0, group=1)
    policy.add(42, 30.0)

    assert policy.rate(40) > 2 * policy.rate(42) > 4 * policy.rate(41)


def test_the_rate_before_any_change_falls_with_the_time_of_watching() -> None:
    policy = started()
    before = policy.rate(0)
    for now in range(1, 10):
        policy.visited(np.arange(PAGES), now * 86400.0, is_changed=False)

    assert 0 < policy.rate(0) < before / 5


@given(st.floats(0.2, 20.0), st.floats(0.01, 50.0), st.floats(0.001, 200.0))
def test_a_change_at_an_unknown_time_makes_a_page_look_faster_and_better_known(
    shape: float, scale: float, tau: float
) -> None:
    found = seen_once(np.array([shape]), np.array([scale]), np.array([tau]))

    assert found[0][0] / found[1][0] >= shape / scale * (1 - 1e-9)
    assert found[0][0] >= shape * (1 - 1e-6)
    assert found[1][0] >= scale * (1 - 1e-6)


def test_mean_and_variance_after_a_change_at_an_unknown_time_are_those_of_the_integral() -> None:
    shape, scale, tau = 1.7, 2.0, 1.5
    density = gamma_density(shape, scale)
    moments = [
        integrate.quad(
            lambda rate, k=k: rate**k * density(rate) * -np.expm1(-rate * tau), 0, np.inf
        )[0]
        for k in range(3)
    ]  # fmt: skip
    mean, second = moments[1] / moments[0], moments[2] / moments[0]

    found = seen_once(np.array([shape]), np.array([scale]), np.array([tau]))

    assert float(found[0][0] / found[1][0]) == pytest.approx(mean)
    assert float(found[0][0] / found[1][0] ** 2) == pytest.approx(second - mean**2)


def test_bursts_are_learned() -> None:
    """Pages that change on five days in a row and are quiet for 95 days, at a time of their own."""
    policy, slots = started(), np.arange(PAGES)
    for now in range(1, 400):
        phase = (now + slots) % 100
        policy.visited(slots, float(now), phase < 5, np.where(phase < 5, now - 0.5, np.nan))
    phase = (399 + slots) % 100
    fresh = policy.fresh(slots, 400.0)
    quick, quiet = fresh[phase == 2].mean(), fresh[phase > 50].mean()

    assert quick < 0.6
    assert quiet > 0.97
    assert policy.rate(0) == pytest.approx(0.05, rel=0.5)
