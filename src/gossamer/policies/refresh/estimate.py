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

A page begins with the prior (α0, α0 / mean rate of all pages): a new page is thought to change as
pages of this collection do. The prior is not part of the stored numbers, so that they can be read:
`changes` in `seconds`. Old evidence counts less (`forget`): rates shift.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.policies.refresh.pages import PageTable
from gossamer.policies.refresh.policy import Flags, Floats, Slots

_WEEK_S = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Estimation:
    """The constants of the estimate."""

    prior_shape: float = 0.5  # α0: how much pages differ from each other; less: more
    first_rate: float = 1 / _WEEK_S  # of a page, until the first change of any page is seen
    memory: float = 2.0  # mean intervals between changes after which evidence counts 1/e


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

    def mean_rate(self) -> float:
        """Changes per second of all pages together, for each page."""
        if self._changes <= 0.0 or self._seconds <= 0.0:
            first = self._constants.first_rate
            return first / (1.0 + first * self._seconds / max(1, self._pages.count))
        return self._changes / self._seconds

    def posterior(self, slots: Slots) -> tuple[Floats, Floats]:
        """Shape and scale of what is known of the rates, the prior included."""
        shape = self._constants.prior_shape
        scale = shape / self.mean_rate()
        return self._pages.changes[slots] + shape, self._pages.seconds[slots] + scale

    def count(self, changes: float, seconds: float) -> None:
        """A page comes, or leaves with negative numbers."""
        self._changes += changes
        self._seconds += seconds

    def learn(self, slots: Slots, now_s: float, is_changed: Flags, modified_s: Floats) -> None:
        """The pages were visited; `last_s` is still the time of the visit before."""
        pages = self._pages
        before = pages.changes[slots], pages.seconds[slots]
        tau = np.maximum(now_s - pages.last_s[slots], 0.0)
        self._forget(slots, tau)
        is_dated = is_changed & (modified_s > pages.last_s[slots]) & (modified_s <= now_s)
        seen = np.where(is_dated, now_s - modified_s, tau)
        is_undated = is_changed & ~is_dated & (tau > 0)
        dated, undated = slots[~is_undated], slots[is_undated]
        pages.changes[dated] += is_changed[~is_undated]
        pages.seconds[dated] += seen[~is_undated]
        if len(undated):
            shape, scale = self.posterior(undated)
            new_shape, new_scale = seen_once(shape, scale, tau[is_undated])
            pages.changes[undated] += np.maximum(new_shape - shape, 0.0)
            pages.seconds[undated] += np.maximum(new_scale - scale, 0.0)
        self.count(
            float((pages.changes[slots] - before[0]).sum()),
            float((pages.seconds[slots] - before[1]).sum()),
        )

    def _forget(self, slots: Slots, tau: Floats) -> None:
        """Let old evidence count less. The time that this takes is counted in mean intervals
        between changes, so that it fits pages that change every minute and every year."""
        kept = np.exp(-tau * self.mean_rate() / self._constants.memory)
        self._pages.changes[slots] *= kept
        self._pages.seconds[slots] *= kept
