"""What all refresh policies share: a policy is an index, a number that says how urgent a page is.

At each call of `choose` the pages with the highest index are visited. A policy is a sub-class that
says what the index is; see `uniform.py` for the smallest.

Cost: `choose` evaluates the index of all pages (about 50 ns each) up to 16,384 pages. Beyond that a
full pass takes the best 1/16 of the pages as candidates, and only these are evaluated until half of
them were visited. So a visit costs some microseconds on average at any number of pages, and the
order is exact but for pages whose index rose by a sixteenth of a round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.policies.refresh.estimate import Estimation, RateEstimator
from gossamer.policies.refresh.pages import PageTable
from gossamer.policies.refresh.policy import (
    NO_GROUP,
    Flags,
    Floats,
    KnownPage,
    Slots,
    as_array,
    as_slots,
)

_ALL = 16_384  # up to so many pages each choice looks at all of them
_SHARE = 16  # candidates are one page in so many


class IndexPolicy:
    """A refresh policy by an index. Sub-classes give `index` and, where they can, `due_s`."""

    def __init__(self, constants: Estimation | None = None) -> None:
        self.pages = PageTable()
        self.rates = RateEstimator(self.pages, constants or Estimation())
        self._candidates: Slots = np.zeros(0, dtype=np.int64)
        self._taken = 0  # of the candidates
        self._touched: list[Slots] = []  # pages whose index has jumped since the last full pass

    def index(self, slots: Slots, now_s: float) -> Floats:
        """How urgent a visit of each page is; the scale is the policy's own."""
        raise NotImplementedError

    def add(self, slot: int, now_s: float, *, weight: float = 1.0, group: int = NO_GROUP) -> None:
        self.restore(slot, KnownPage(now_s, weight=weight, group=group))

    def restore(self, slot: int, page: KnownPage) -> None:
        self.remove(slot)
        self.pages.put(slot, page)
        self.rates.count(page.shape, page.scale)

    def remove(self, slot: int) -> None:
        if slot < self.pages.size and self.pages.is_there[slot]:
            self.rates.count(-self.pages.changes[slot], -self.pages.seconds[slot])
            self.pages.remove(slot)

    def visited(
        self,
        slots: int | Slots,
        now_s: float,
        is_changed: bool | Flags,
        modified_s: float | Floats | None = None,
    ) -> None:
        there, changed, modified = self._there(
            slots, (is_changed, np.bool_), (np.nan if modified_s is None else modified_s, float)
        )
        self.rates.learn(there, now_s, changed, modified)
        self.pages.last_s[there] = now_s
        self.pages.free_s[there] = -np.inf
        self.pages.hint_s[there] = -np.inf

    def missed(self, slots: int | Slots, until_s: float) -> None:
        (there,) = self._there(slots)
        self.pages.free_s[there] = until_s

    def hint(self, slots: int | Slots, modified_s: float | Floats) -> None:
        there, modified = self._there(slots, (modified_s, float))
        self.pages.hint_s[there] = np.maximum(self.pages.hint_s[there], modified)
        self._touched.append(there)

    def choose(self, now_s: float, count: int) -> Slots:
        slots = self._to_look_at(now_s, count)
        index = self.index(slots, now_s)
        if count < len(slots):
            best = np.argpartition(-index, count)[:count]
            slots, index = slots[best], index[best]
        chosen = slots[np.argsort(-index, kind="stable")]
        self.pages.free_s[chosen] = np.inf
        self._taken += len(chosen)
        return chosen

    def _to_look_at(self, now_s: float, count: int) -> Slots:
        """The pages among which the best ones are."""
        if self.pages.count <= _ALL:
            return self.pages.free(now_s)
        if 2 * self._taken + count >= len(self._candidates):
            self._find_candidates(now_s, count)
        if self._touched:
            self._candidates = np.unique(np.concatenate([self._candidates, *self._touched]))
            self._touched.clear()
        return self._candidates[self.pages.free_s[self._candidates] <= now_s]

    def _find_candidates(self, now_s: float, count: int) -> None:
        free = self.pages.free(now_s)
        wanted = max(self.pages.count // _SHARE, 4 * count)
        if wanted < len(free):
            free = free[np.argpartition(-self.index(free, now_s), wanted)[:wanted]]
        self._candidates = np.sort(free)
        self._taken = 0
        self._touched.clear()

    def rate(self, slot: int) -> float:
        shape, scale = self.rates.posterior(as_slots(slot))
        return float(shape[0] / scale[0])

    def due_s(self, slot: int, visits_per_s: float) -> float:
        if visits_per_s <= 0.0:
            return float("inf")
        return self.pages.get(slot).last_s + self.pages.count / visits_per_s

    def freshness(self, now_s: float, slots: Slots | None = None) -> float:
        slots = self.pages.slots() if slots is None else slots
        return float(self.fresh(slots, now_s).mean()) if len(slots) else 1.0

    def age_s(self, now_s: float, slots: Slots | None = None) -> float:
        slots = self.pages.slots() if slots is None else slots
        if not len(slots):
            return 0.0
        shape, scale = self.rates.posterior(slots)
        tau = np.maximum(now_s - self.pages.last_s[slots], 0.0)
        return float((tau - fresh_seconds(shape, scale, tau)).mean())

    def fresh(self, slots: Slots, now_s: float) -> Floats:
        """The probability that each copy is up to date: E[exp(-λτ)] = (β / (β + τ))^α."""
        shape, scale = self.rates.posterior(slots)
        tau = np.maximum(now_s - self.pages.last_s[slots], 0.0)
        return np.exp(-shape * np.log1p(tau / scale))

    def known(self, slot: int) -> KnownPage:
        return self.pages.get(slot)

    def _there(self, slots: int | Slots, *values: tuple[Any, Any]) -> list[Any]:
        """Arrays of what was given, without pages that were removed meanwhile."""
        asked = as_slots(slots)
        is_there = asked < self.pages.size
        is_there[is_there] = self.pages.is_there[asked[is_there]]
        return [
            asked[is_there],
            *(as_array(value, asked, kind)[is_there] for value, kind in values),
        ]


def fresh_seconds(shape: Floats, scale: Floats, tau: Floats) -> Floats:
    """For how long a copy of age `tau` was up to date, in expectation.

    E[(1 - exp(-λτ)) / λ] = β/(α - 1) · (1 - (β/(β + τ))^(α - 1)), and β log(1 + τ/β) at α = 1.
    """
    power = shape - 1.0
    log_r = -np.log1p(tau / scale)
    is_one = np.abs(power) < 1e-6
    safe = np.where(is_one, 1.0, power)
    return np.where(is_one, -scale * log_r, scale / safe * -np.expm1(safe * log_r))
