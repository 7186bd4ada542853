"""How often does a page change? A Gamma posterior, in two numbers a page.

Changes of a page are a Poisson process of an unknown rate λ. What is known of λ is a Gamma
distribution of shape α and scale β (a rate parameter: its mean is α/β). It is conjugate to what a
visit sees in the interval τ since the last visit:

    no change                           α' = α        β' = β + τ
    changed, the last time at m         α' = α + 1    β' = β + (now - m)

The second line is exact, not an approximation. Seen backwards from now, the time to the first
change is exponential: its density is λ exp(-λ (now - m)). What happened before m is not seen and
says nothing. Where a server gives no Last-Modified, all that is known is that N >= 1:

    changed, nobody knows when          p(λ) ~ Gamma(α, β) (1 - exp(-λτ))

That is a difference of two Gamma densities. Its mean and variance have closed forms (`seen_once`),
and the Gamma distribution of the same mean and variance is kept: α' = mean²/variance.

A page begins with a prior of shape α0 and the mean rate of its group, and a group begins with the
mean rate of all pages. So a new page is thought to change as its siblings do. The prior is not part
of the stored numbers, so that they can be read: `changes` in `seconds`. Old evidence counts less
(`_forget`): rates shift. The time this takes is counted in mean intervals between changes of the
page, so that it fits pages that change every minute and pages that change every year. A visit
counts as one such interval at most: it says no more about a page that changes faster.

Real changes come in bursts, so that a Poisson process expects too many changed pages or too few.
`correction` is the ratio of changed pages to expected ones at recent visits; rates are multiplied
by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gossamer.policies.refresh.pages import PageTable
from gossamer.policies.refresh.policy import Flags, Floats, Slots

_WEEK_S = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Estimation:
    """The constants of the estimate."""

    prior_shape: float = 0.75  # α0: how alike the pages of a group are; more: more alike
    group_shape: float = 6.0  # the same for the groups of a collection
    first_rate: float = 1 / _WEEK_S  # of a page, until the first change of any page is seen
    memory: float = 10.0  # mean intervals between changes after which evidence counts 1/e
    uses_siblings: bool = True  # whether a change of a page says something about its group


def seen_once(shape: Floats, scale: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """The posterior after an interval `tau` with one change or more, as a Gamma distribution.

    With r = β/(β + τ), E[λ^k] = α(α+1)...(α+k-1)/β^k · (1 - r^(α+k)) / (1 - r^α).
    """
    log_r = -np.log1p(tau / scale)
    some = -np.expm1(shape * log_r)
    first = shape / scale * -np.expm1((shape + 1) * log_r) / some
    second = shape * (shape + 1) / scale**2 * -np.expm1((shape + 2) * log_r) / some
    variance = np.maximum(second - first**2, 1e-12 * second)
    return first**2 / variance, first / variance


class RateEstimator:
    """Learns the rates of the pages of a table."""

    def __init__(self, pages: PageTable, constants: Estimation) -> None:
        self._pages = pages
        self._constants = constants
        self._changes = 0.0  # sums over all pages
        self._seconds = 0.0
        self._seen = self._expected = 20.0  # changed pages at recent visits; expected ones

    @property
    def mean_rate(self) -> float:
        """Changes per second of a page, as the mean of all pages."""
        if self._changes <= 1e-6 or self._seconds <= 0.0:
            first = self._constants.first_rate
            return first / (1.0 + first * max(self._seconds, 0.0))
        return self._changes / self._seconds

    @property
    def correction(self) -> float:
        """Changed pages at recent visits for each one that the posterior expects."""
        return self._seen / self._expected

    def posterior(self, slots: Slots) -> tuple[Floats, Floats]:
        """Shape and scale of what is known of the rates, with prior and correction."""
        shape, scale = self._posterior(slots)
        return shape, scale / self.correction

    def _posterior(self, slots: Slots) -> tuple[Floats, Floats]:
        pages, constants = self._pages, self._constants
        mean = self.mean_rate
        if constants.uses_siblings:
            row = pages.group[slots] + 1
            strength = constants.group_shape
            seconds = strength / mean + pages.group_seconds[row]
            prior_scale = constants.prior_shape * seconds / (strength + pages.group_changes[row])
        else:
            prior_scale = np.full(len(slots), constants.prior_shape / mean)
        return pages.changes[slots] + constants.prior_shape, pages.seconds[slots] + prior_scale

    def figures(self) -> dict[str, float]:
        """What is known of all pages together and does not follow from each of them."""
        return {"seen": self._seen, "expected": self._expected}

    def restore_figures(self, figures: Mapping[str, float]) -> None:
        """Take over the figures of an earlier run."""
        self._seen = figures.get("seen", self._seen)
        self._expected = figures.get("expected", self._expected)

    def count_one(self, slot: int, changes: float, seconds: float) -> None:
        """`count` for one page, ten times as fast: a start restores a million of them."""
        if seconds or changes:
            self._changes += changes
            self._seconds += seconds
            row = self._pages.group[slot] + 1
            if row:
                self._pages.group_changes[row] += changes
                self._pages.group_seconds[row] += seconds

    def count(self, slots: Slots, changes: Floats, seconds: Floats) -> None:
        """Evidence about these pages comes; with negative numbers it leaves."""
        pages = self._pages
        self._changes += float(changes.sum())
        self._seconds += float(seconds.sum())
        rows = pages.group[slots] + 1
        is_grouped = rows > 0
        np.add.at(pages.group_changes, rows[is_grouped], changes[is_grouped])
        np.add.at(pages.group_seconds, rows[is_grouped], seconds[is_grouped])

    def learn(
        self, slots: Slots, now_s: float, is_changed: Flags, modified_s: Floats, is_plain: Flags
    ) -> None:
        """The pages were visited; `last_s` is still the time of the visit before. `is_plain`: the
        rate was all that was known of the page, so that the visit tests it."""
        pages = self._pages
        before = pages.changes[slots], pages.seconds[slots]
        tau = np.maximum(now_s - pages.last_s[slots], 0.0)
        self._compare(slots[is_plain], tau[is_plain], is_changed[is_plain])
        self._forget(slots, tau)
        is_dated = is_changed & (modified_s > pages.last_s[slots]) & (modified_s <= now_s)
        seen = np.where(is_dated, now_s - modified_s, tau)
        is_undated = is_changed & ~is_dated & (tau > 0)
        exact, undated = slots[~is_undated], slots[is_undated]
        pages.changes[exact] += is_changed[~is_undated]
        pages.seconds[exact] += seen[~is_undated]
        if len(undated):
            shape, scale = self._posterior(undated)
            new_shape, new_scale = seen_once(shape, scale, tau[is_undated])
            pages.changes[undated] += np.maximum(new_shape - shape, 0.0)
            pages.seconds[undated] += np.maximum(new_scale - scale, 0.0)
        self.count(slots, pages.changes[slots] - before[0], pages.seconds[slots] - before[1])

    def _compare(self, slots: Slots, tau: Floats, is_changed: Flags) -> None:
        """Compare what was seen with what was expected; 500,000 visits ago counts 1/e."""
        shape, scale = self._posterior(slots)
        kept = np.exp(-len(slots) / 500_000)
        self._seen = self._seen * kept + float(is_changed.sum())
        expected = -np.expm1(-shape * np.log1p(tau / scale))
        self._expected = self._expected * kept + float(expected.sum())

    def _forget(self, slots: Slots, tau: Floats) -> None:
        shape, scale = self._posterior(slots)
        kept = np.exp(-np.minimum(tau * shape / scale, 1.0) / self._constants.memory)
        self._pages.changes[slots] *= kept
        self._pages.seconds[slots] *= kept
