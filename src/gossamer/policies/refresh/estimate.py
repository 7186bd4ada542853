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

Real changes come in bursts: a page that has just changed changes again soon, and one that has been
quiet for long stays quiet, far more than a Poisson process says. How much is learned by
`correction`. Visits are sorted by the time since the last known change of the page, into powers of
two of the mean interval between changes. For each of them the ratio of changed pages to expected
ones is kept, and rates are multiplied by it. For a real Poisson process it stays near 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gossamer.policies.refresh.pages import PageTable
from gossamer.policies.refresh.policy import Flags, Floats, Slots

_WEEK_S = 7 * 86400.0
_BINS = 16
_FEW = 10.0
_CALM = 5.0  # in each bin: it takes so many expected changes to move the ratio


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
        self._seen = np.full(_BINS, _CALM)  # changed pages at recent visits, by time since a change
        self._expected = np.full(_BINS, _CALM)  # how many of them the posterior expected

    @property
    def mean_rate(self) -> float:
        """Changes per second of a page, as the mean of all pages."""
        if self._changes <= 1e-6 or self._seconds <= 0.0:
            first = self._constants.first_rate
            return first / (1.0 + first * max(self._seconds, 0.0))
        return self._changes / self._seconds

    def correction(self, slots: Slots, at_s: float | Floats) -> Floats:
        """Changed pages for each one that the posterior expects, at recent visits of pages whose
        last change was about as long ago as it is at `at_s`."""
        ratio: Floats = self._seen / self._expected
        return ratio[self._bins(slots, at_s)]

    def _bins(self, slots: Slots, at_s: float | Floats) -> Slots:
        """The time since the last known change: powers of two of a 1/1024 of the mean interval."""
        since = np.maximum(at_s - self._pages.changed_s[slots], 1e-9) * self.mean_rate * 1024.0
        return np.clip(np.floor(np.log2(since)) + 1.0, 0, _BINS - 1).astype(np.int64)

    def posterior(self, slots: Slots, at_s: float | Floats) -> tuple[Floats, Floats]:
        """Shape and scale of what is known of the rates, with prior and correction."""
        shape, scale = self.long_run(slots)
        return shape, scale / self.correction(slots, at_s)

    def long_run(self, slots: Slots) -> tuple[Floats, Floats]:
        """Shape and scale without correction: of the mean rate over bursts and quiet times."""
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
        both = (("seen", self._seen), ("expected", self._expected))
        return {f"{name}_{n}": float(value) for name, sums in both for n, value in enumerate(sums)}

    def restore_figures(self, figures: Mapping[str, float]) -> None:
        """Take over the figures of an earlier run."""
        for name, sums in (("seen", self._seen), ("expected", self._expected)):
            for n, value in enumerate(sums):
                sums[n] = figures.get(f"{name}_{n}", value)

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
            shape, scale = self.long_run(undated)
            new_shape, new_scale = seen_once(shape, scale, tau[is_undated])
            pages.changes[undated] += np.maximum(new_shape - shape, 0.0)
            pages.seconds[undated] += np.maximum(new_scale - scale, 0.0)
        self.count(slots, pages.changes[slots] - before[0], pages.seconds[slots] - before[1])

    def _compare(self, slots: Slots, tau: Floats, is_changed: Flags) -> None:
        """Compare what was seen with what was expected; 500,000 visits ago counts 1/e. Before the
        tenth change the expectation is a guess."""
        if self._changes < _FEW:
            return
        shape, scale = self.long_run(slots)
        bins = self._bins(slots, self._pages.last_s[slots] + tau / 2)
        kept = np.exp(-len(slots) / 500_000)
        expected = -np.expm1(-shape * np.log1p(tau / scale))
        self._seen *= kept
        self._expected *= kept
        np.add.at(self._seen, bins, is_changed)
        np.add.at(self._expected, bins, expected)

    def _forget(self, slots: Slots, tau: Floats) -> None:
        shape, scale = self.long_run(slots)
        kept = np.exp(-np.minimum(tau * shape / scale, 1.0) / self._constants.memory)
        self._pages.changes[slots] *= kept
        self._pages.seconds[slots] *= kept
