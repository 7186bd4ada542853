"""The best frequencies for known rates: Cho and Garcia-Molina's problem, by Lagrange multiplier.

J. Cho and H. Garcia-Molina, "Effective page refresh policies for Web crawlers", ACM Transactions on
Database Systems 28(4), 2003. A page of rate λ that is visited f times per second, at equal
intervals, is fresh for the share of time (their equation for F with fixed order)

    F(λ, f) = f/λ · (1 - exp(-λ/f))

Wanted are the f that make the weighted sum of F largest while their own sum is the budget. Where a
page is visited at all, the gain by one visit more is the same for all pages (the multiplier μ):

    w dF/df = w/λ · (1 - (1 + r) exp(-r)) = μ,     r = λ/f

The left side rises with r, from 0 to w/λ. So for each μ every page has one r, found by halving; a
page with w/λ <= μ is given up. The sum of the f falls with μ, and μ is found by halving as well.

A page that changes too fast is given up: five pages that change 1 to 5 times a day, with five
visits a day, get 1.15, 1.36, 1.35, 1.14 and 0 visits.
"""

from __future__ import annotations

import numpy as np

from gossamer.policies.refresh.policy import Floats

_HALVINGS = 55  # of ranges on a logarithmic scale: 15 digits are left
_LARGEST = 700.0  # of r; exp(-r) is 0 beyond


def marginal(r: Floats) -> Floats:
    """1 - (1 + r) exp(-r): what a visit gains, in units of w/λ."""
    small = r * r * (0.5 - r / 3.0)  # the series: the difference below has no digits left there
    return np.where(r < 1e-4, small, -np.expm1(-r) - r * np.exp(-r))


def freshness_at(rates: Floats, frequencies: Floats) -> Floats:
    """F(λ, f) of each page: 1 where nothing changes, 0 where nobody visits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fresh = frequencies / rates * -np.expm1(-rates / frequencies)
    return np.where(rates <= 0.0, 1.0, np.where(frequencies <= 0.0, 0.0, fresh))


def best_frequencies(
    rates: Floats, budget: float, weights: Floats | None = None, counts: Floats | None = None
) -> Floats:
    """Visits per second of each page, `budget` together. `counts` says how many pages each entry
    stands for (a fraction for a page that exists for a part of the time)."""
    weights = np.ones(len(rates)) if weights is None else weights
    counts = np.ones(len(rates)) if counts is None else counts
    is_live = (rates > 0.0) & (weights > 0.0) & (counts > 0.0)
    frequencies = np.zeros(len(rates))
    if budget > 0.0 and is_live.any():
        live = rates[is_live], weights[is_live], counts[is_live]
        frequencies[is_live] = _at(_multiplier(*live, budget), live[0], live[1])
    return frequencies


def _multiplier(rates: Floats, weights: Floats, counts: Floats, budget: float) -> float:
    """μ, by halving on a logarithmic scale."""
    high = float((weights / rates).max())  # here all pages are given up
    low = high
    while float((_at(low, rates, weights) * counts).sum()) < budget:
        low /= 16.0
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        is_over = float((_at(middle, rates, weights) * counts).sum()) > budget
        low, high = (middle, high) if is_over else (low, middle)
    return low


def _at(multiplier: float, rates: Floats, weights: Floats) -> Floats:
    """The frequency of each page at the price `multiplier` of a visit."""
    wanted = multiplier * rates / weights
    low, high = np.full(len(rates), 1e-9), np.full(len(rates), _LARGEST)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        is_below = marginal(middle) < wanted
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.where(wanted < 1.0, rates / low, 0.0)
