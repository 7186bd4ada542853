"""Optimal: the visits go where they keep most copies fresh, for rates that are learned meanwhile.

The index of a page of rate λ, weight w and copy age τ is

    w/λ · (1 - (1 + λτ) exp(-λτ))

It is the price of a visit at which visiting the page every τ seconds is just worth it: the
Lagrange multiplier of Cho and Garcia-Molina ("Effective page refresh policies for Web crawlers",
ACM TODS 28(4), 2003), read the other way round; see also Azar, Horvitz, Lubetzky, Peres and Shahaf,
"Tractable near-optimal policies for crawling", PNAS 115(32), 2018. To visit the highest index
first needs no solver, and follows a budget and rates that shift. It rises with τ to w/λ. A page
that changes so fast that w/λ is below the price is given up.

λ is not known but by its Gamma posterior (`estimate.py`), so the index is taken in expectation:

    w [ β/(α - 1) · (1 - (β/(β + τ))^(α - 1)) - τ (β/(β + τ))^α ]

with the limit β log(1 + τ/β) of the first term at α = 1; for α < 1 the formula holds as it stands.
The first term is the time for which the copy was fresh, the second its age if it is fresh still.

Siblings and hints (`siblings.py`) add the hazard h, so that the copy is fresh with probability
S = (β/(β + τ))^α exp(-h). The index is that of the age τ' at which the rate alone would give S:

    log(1 + τ'/β') = log(1 + τ/β) + h/α

β' is the scale from now on. It differs from β, the scale since the last visit, because bursts end
(`correction` in `estimate.py`): within a burst a visit is worth less, and after it more.

For a page that hardly ever changes τ' may be centuries. It is at most three mean intervals between
visits: for longer nobody knows what the page will do.
"""

from __future__ import annotations

import numpy as np

from gossamer.policies.refresh.indexed import IndexPolicy, fresh_seconds
from gossamer.policies.refresh.policy import Floats, Slots

_HORIZON = 3.0  # mean intervals between visits


class Optimal(IndexPolicy):
    """The index is the expected gain of fresh time by a visit."""

    def index(self, slots: Slots, now_s: float) -> Floats:
        shape, past = self.past(slots, now_s)
        tau = self.tau(slots, now_s)
        growth = np.log1p(tau / past) + self.hazard(slots) / shape
        scale = self.rates.posterior(slots, now_s)[1]
        fresh = np.exp(-shape * growth)
        horizon = np.maximum(tau, _HORIZON * self.interval_s) if self.interval_s else np.inf
        tau = np.minimum(scale * np.expm1(np.minimum(growth, 50.0)), horizon)
        gain: Floats = np.maximum(fresh_seconds(shape, scale, tau) - tau * fresh, 0.0)
        gain *= self.pages.weight[slots]
        return gain
