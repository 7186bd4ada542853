"""Proportional: each page as often as it changes.

It seems natural, and is worse than uniform for freshness: Cho and Garcia-Molina prove that for any
distribution of rates (ACM TODS 28(4), 2003, theorem 5.1). Most visits go to pages that change again
at once. It is here to be compared with, and for those who want to see every version of a page.
"""

from __future__ import annotations

from gossamer.policies.refresh.indexed import IndexPolicy
from gossamer.policies.refresh.policy import Floats, Slots


class Proportional(IndexPolicy):
    """The index is λτ, the expected number of changes since the last visit. A page is visited each
    time that it reaches the same number, so its frequency is proportional to λ."""

    def index(self, slots: Slots, now_s: float) -> Floats:
        shape, scale = self.rates.long_run(slots)
        return shape / scale * self.tau(slots, now_s)
