"""The index of each policy, and what the policies do to pages that change at random."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from gossamer.policies.refresh.estimate import Estimation
from gossamer.policies.refresh.indexed import IndexPolicy, fresh_seconds
from gossamer.policies.refresh.known_rates import KnownFrequencies, KnownIndex, TwoParts
from gossamer.policies.refresh.lagrange import best_frequencies, freshness_at
from gossamer.policies.refresh.optimal import Optimal
from gossamer.policies.refresh.policy import Floats, KnownPage
from gossamer.policies.refresh.proportional import Proportional
from gossamer.policies.refresh.random_order import RandomProportional, RandomUniform
from gossamer.policies.refresh.uniform import Uniform
from support.gamma import gamma_density
from support.rows import each_row


class Played(NamedTuple):
    """What came of a policy: means over the last half of the time, and the visits of each page."""

    fresh: float
    age: float
    visits: Floats
    expected_fresh: float
    expected_age: float


def played(
    policy: IndexPolicy, rates: Floats, budget: float, rounds: float, step: float = 0.1
) -> Played:
    """Let a policy visit pages that change at random, `budget` visits per page and time."""
    random = np.random.default_rng(3)
    pages, owed = len(rates), 0.0
    for slot in range(pages):
        policy.add(slot, 0.0)
    changed_s, modified_s = np.full(pages, np.inf), np.full(pages, np.nan)  # first and last change
    visits, samples = np.zeros(pages), []
    for tick in range(1, int(rounds / step)):
        now = tick * step
        is_hit = random.random(pages) < -np.expm1(-rates * step)
        at = now - random.random(pages) * step
        changed_s = np.where(is_hit, np.minimum(changed_s, at), changed_s)
        modified_s = np.where(is_hit, at, modified_s)
        owed += budget * pages * step
        chosen = policy.choose(now, int(owed))
        owed -= len(chosen)
        policy.visited(chosen, now, changed_s[chosen] <= now, modified_s[chosen])
        visits[chosen] += 1
        changed_s[chosen] = np.inf
        if now > rounds / 2:
            fresh, age = (changed_s > now).mean(), np.maximum(now - changed_s, 0.0).mean()
            samples.append((fresh, age, policy.freshness(now), policy.age_s(now)))
    means = np.mean(samples, axis=0)
    return Played(float(means[0]), float(means[1]), visits, float(means[2]), float(means[3]))


@given(
    st.floats(0.0, 30.0),
    st.floats(0.0, 1e4),
    st.lists(st.floats(0.0, 1e5), min_size=2, max_size=9),
)
def test_the_index_of_the_optimal_policy_rises_with_the_age_of_the_copy(
    shape: float, scale: float, ages: list[float]
) -> None:
    policy = Optimal()
    policy.restore(0, KnownPage(0.0, shape, scale))
    policy.restore(1, KnownPage(0.0, 1.0, 100.0))
    index = [float(policy.index(np.array([0]), age)[0]) for age in sorted(ages)]

    assert index[0] >= 0
    assert all(one <= next_one + 1e-9 * max(ages) for one, next_one in pairwise(index))


@each_row("shape", [0.3, 0.999999, 1.0, 1.5, 4.0])
def test_the_closed_forms_are_the_expectations_under_the_posterior(shape: float) -> None:
    scale, tau = 3.0, 5.0

    def expected(of: Callable[[Any], Any]) -> float:
        density = gamma_density(shape, scale)
        parts = ((0, 0.01), (0.01, 0.1), (0.1, 1), (1, 30))
        return float(
            sum(integrate.quad(lambda x: of(x) * density(x), a, b, limit=200)[0] for a, b in parts)
        )

    time = expected(lambda x: -np.expm1(-x * tau) / x)
    found = fresh_seconds(np.array([shape]), np.array([scale]), np.array([tau]))

    assert float(found[0]) == pytest.approx(time, rel=1e-3)
    policy = Optimal(Estimation(prior_shape=shape, first_rate=shape / scale))
    policy.add(0, 0.0)
    index = expected(lambda x: (-np.expm1(-x * tau) - x * tau * np.exp(-x * tau)) / x)
    assert float(policy.index(np.array([0]), tau)[0]) == pytest.approx(index, rel=1e-3)
    assert policy.freshness(tau) == pytest.approx(expected(lambda x: np.exp(-x * tau)), rel=1e-3)
    assert policy.age_s(tau) == pytest.approx(tau - time, rel=1e-2)


def test_the_optimal_policy_gives_up_pages_that_change_too_fast() -> None:
    rates = np.repeat([0.2, 60.0], 50)
    optimal, uniform = (played(policy(), rates, 0.2, 100) for policy in (Optimal, Uniform))

    assert optimal.visits[50:].sum() < 0.35 * optimal.visits[:50].sum()
    assert optimal.fresh > uniform.fresh + 0.05


def test_a_page_that_matters_more_is_fresher_under_the_optimal_policy() -> None:
    policy = Optimal()
    for slot in range(40):
        policy.restore(slot, KnownPage(0.0, 50.0, 50.0, weight=8.0 if slot < 20 else 1.0))
    counts = np.zeros(40)
    for now in range(1, 200):
        chosen = policy.choose(float(now), 10)
        policy.visited(chosen, float(now), is_changed=False)
        counts[chosen] += 1

    assert counts[:20].sum() > 1.5 * counts[20:].sum()


@pytest.mark.slow
def test_the_policies_stand_in_the_order_of_the_paper() -> None:
    """Optimal is fresher than uniform, uniform than proportional, and fixed order than random."""
    rates = np.repeat(np.geomspace(0.02, 20.0, 20), 10)
    fresh = {
        policy.__name__: played(policy(), rates, 0.5, 150).fresh
        for policy in (Optimal, Uniform, Proportional, RandomUniform)
    }
    best = freshness_at(rates, best_frequencies(rates, 0.5 * len(rates))).mean()

    assert fresh["Optimal"] > fresh["Uniform"] + 0.02
    assert fresh["Uniform"] > fresh["Proportional"] + 0.03
    assert fresh["Uniform"] > fresh["RandomUniform"] + 0.005
    assert fresh["Optimal"] > 0.95 * best


@pytest.mark.parametrize("policy", [Uniform, Proportional, Optimal])
def test_predicted_freshness_and_age_are_those_that_are_measured(
    policy: type[IndexPolicy],
) -> None:
    rates = np.repeat(np.geomspace(0.02, 2.0, 20), 10)
    came = played(policy(), rates, 0.5, 60)

    assert came.expected_fresh == pytest.approx(came.fresh, abs=0.03)
    assert came.expected_age == pytest.approx(came.age, rel=0.25)


def test_proportional_visits_pages_that_change_more_often_more() -> None:
    rates = np.repeat([0.1, 0.4], 100)
    visits = played(Proportional(), rates, 1.0, 150).visits

    assert visits[100:].sum() / visits[:100].sum() == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize(
    ("ordered", "shuffled"), [(Uniform, RandomUniform), (Proportional, RandomProportional)]
)
def test_random_order_visits_pages_as_often_as_fixed_order(
    ordered: type[IndexPolicy], shuffled: type[IndexPolicy]
) -> None:
    rates = np.repeat([0.1, 0.4], 100)
    fixed, random = (played(made(), rates, 1.0, 60).visits for made in (ordered, shuffled))

    assert random[100:].sum() == pytest.approx(fixed[100:].sum(), rel=0.15)
    assert list(random) != list(fixed)


@pytest.mark.slow
def test_known_rates_reach_the_freshness_of_the_formula() -> None:
    rates = np.repeat(np.geomspace(0.02, 20.0, 20), 10)
    frequencies = best_frequencies(rates, 0.5 * len(rates))
    best = freshness_at(rates, frequencies).mean()
    by_index = KnownIndex(TwoParts(np.inf, rates, rates), 1e6)
    by_frequency = KnownFrequencies(TwoParts(np.inf, frequencies, frequencies))

    assert played(by_index, rates, 0.5, 80).fresh == pytest.approx(best, abs=0.02)
    assert played(by_frequency, rates, 0.5, 80).fresh == pytest.approx(best, abs=0.02)


def test_a_page_is_due_when_it_is_indeed_visited() -> None:
    rates = np.repeat(np.geomspace(0.05, 1.0, 10), 20)
    policy = Optimal()
    played(policy, rates, 0.5, 60)
    now, guesses = 60.0, {}
    for slot in range(0, 200, 7):
        guesses[slot] = policy.due_s(slot, 0.5 * len(rates))
    visited: dict[int, float] = {}
    while now < 90.0:
        chosen = policy.choose(now, 10)
        policy.visited(chosen, now, is_changed=False)
        visited |= {int(slot): now for slot in chosen if int(slot) not in visited}
        now += 0.1

    off = [abs(visited[slot] - due) for slot, due in guesses.items() if slot in visited]
    assert len(off) > 15
    assert np.median(off) < 1.0  # visits are 2 apart on average
