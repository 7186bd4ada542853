"""Uniform: every page equally often, whatever its rate.

Cho and Garcia-Molina, "Effective page refresh policies for Web crawlers", ACM TODS 28(4), 2003.
There "fixed order" means that pages are visited in the same order in every round: the page that was
visited the longest time ago is next. Of all policies that know nothing of the rates it is the best.
"""

from __future__ import annotations

from gossamer.policies.refresh.indexed import IndexPolicy
from gossamer.policies.refresh.policy import Floats, Slots


class Uniform(IndexPolicy):
    """The index is the age of the copy, τ."""

    def index(self, slots: Slots, now_s: float) -> Floats:
        return now_s - self.pages.last_s[slots]
