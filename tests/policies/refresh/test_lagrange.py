"""The best frequencies for known rates, checked against the paper's example and by their own
optimality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.policies.refresh.lagrange import best_frequencies, freshness_at, marginal

RATES = np.arange(1.0, 6.0)  # of the paper's five pages, per day


def test_the_textbook_example_has_the_frequencies_of_the_paper() -> None:
    assert best_frequencies(RATES, 5.0) == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.0], abs=0.01)


def test_the_textbook_example_has_the_freshness_of_the_paper() -> None:
    best = freshness_at(RATES, best_frequencies(RATES, 5.0)).mean()
    uniform = freshness_at(RATES, np.ones(5)).mean()
    proportional = freshness_at(RATES, RATES / 3).mean()

    assert [best, uniform, proportional] == pytest.approx([0.374, 0.365, 0.317], abs=0.0005)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.floats(1e-4, 10.0), min_size=1, max_size=12),
    st.floats(0.5, 100.0),
    st.integers(0, 2**31),
)
def test_the_frequencies_use_the_budget_and_nothing_is_better(
    rates: list[float], budget: float, seed: int
) -> None:
    values = np.array(rates)
    best = best_frequencies(values, budget)
    random = np.random.default_rng(seed)
    shares = random.random((20, len(rates))) + 1e-9
    others = [budget * share / share.sum() for share in shares]
    others += [0.9 * best + 0.1 * other for other in others]

    assert best.sum() == pytest.approx(budget, rel=1e-4)
    reached = freshness_at(values, best).sum()
    assert all(freshness_at(values, other).sum() <= reached + 1e-6 for other in others)


def test_a_page_that_matters_more_is_visited_more() -> None:
    plain = best_frequencies(np.array([2.0, 2.0]), 2.0)
    weighted = best_frequencies(np.array([2.0, 2.0]), 2.0, np.array([4.0, 1.0]))

    assert plain == pytest.approx([1.0, 1.0])
    assert weighted[0] > 1.2
    assert weighted.sum() == pytest.approx(2.0)


def test_pages_that_never_change_are_not_visited() -> None:
    assert best_frequencies(np.array([0.0, 1.0]), 3.0) == pytest.approx([0.0, 3.0])
    assert list(best_frequencies(np.zeros(2), 3.0)) == [0.0, 0.0]
    assert list(best_frequencies(RATES, 0.0)) == [0.0] * 5


def test_the_gain_of_a_visit_has_no_step_where_the_series_ends() -> None:
    near = marginal(np.array([0.99999e-4, 1.00001e-4]))

    assert near[1] / near[0] == pytest.approx(1.00004, rel=1e-5)
