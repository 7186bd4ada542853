"""Policies for rates that are known: the references of experiments.

A rate may have one value before a time and another one after it, as in the two parts of a trace.
The expected number of changes since the last visit, Λ, is then a sum of two terms, and a copy is
fresh with probability exp(-Λ).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.policies.refresh.indexed import IndexPolicy
from gossamer.policies.refresh.lagrange import marginal
from gossamer.policies.refresh.policy import Floats, Slots


@dataclass(frozen=True, slots=True)
class TwoParts:
    """A number of each page before `at_s`, and one after it."""

    at_s: float
    before: Floats
    after: Floats

    def now(self, slots: Slots, now_s: float) -> Floats:
        """The number that holds now."""
        return (self.before if now_s < self.at_s else self.after)[slots]

    def since(self, slots: Slots, last_s: Floats, now_s: float) -> Floats:
        """The integral over time from `last_s` to now."""
        before = np.maximum(min(now_s, self.at_s) - last_s, 0.0) * self.before[slots]
        after = np.maximum(now_s - np.maximum(last_s, self.at_s), 0.0) * self.after[slots]
        return before + after


class KnownIndex(IndexPolicy):
    """The index of `optimal.py` with the true rates: w/λ · (1 - (1 + Λ) exp(-Λ)).

    A page that does not change any more (λ = 0) is worth one visit if its copy may be stale. Its λ
    counts as one change in `horizon_s`.
    """

    def __init__(self, rates: TwoParts, horizon_s: float) -> None:
        super().__init__()
        self._rates = rates
        self._least = 1.0 / horizon_s

    def index(self, slots: Slots, now_s: float) -> Floats:
        expected = self._rates.since(slots, self.pages.last_s[slots], now_s)
        rate = np.maximum(self._rates.now(slots, now_s), self._least)
        gain: Floats = self.pages.weight[slots] / rate * marginal(expected)
        return gain


class KnownFrequencies(IndexPolicy):
    """Visits at given frequencies (`lagrange.py`): the index is the number of visits that are owed.

    A copy that was made in the first part is visited once more in the second, at the higher of the
    page's two frequencies.
    """

    def __init__(self, frequencies: TwoParts) -> None:
        super().__init__()
        self._frequencies = frequencies

    def index(self, slots: Slots, now_s: float) -> Floats:
        owed = self._frequencies
        last_s = self.pages.last_s[slots]
        frequency = owed.now(slots, now_s)
        if now_s >= owed.at_s:
            frequency = np.where(
                last_s < owed.at_s, np.maximum(frequency, owed.before[slots]), frequency
            )
        return frequency * (now_s - last_s)
