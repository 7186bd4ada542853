"""What all refresh policies share: a policy is an index, a number that says how urgent a page is.

At each call of `choose` the pages with the highest index are visited. A policy is a sub-class that
says what the index is; see `uniform.py` for the smallest.

Cost: up to 16,384 pages `choose` evaluates the index of all of them (0.1 to 0.3 µs each). Beyond
that a full pass takes the best 1/64 of the pages as candidates, and only these are evaluated until
half of them were visited. So a visit costs some microseconds on average at any number of pages. The
order is exact but for pages whose index rose while 1/128 of a round was visited.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from gossamer.policies.refresh.siblings import NEAR, SiblingEvents

_ALL = 16_384  # up to so many pages each choice looks at all of them
_SHARE = 64  # candidates are one page in so many
_HALVINGS = 60  # steps of the search for the time at which a page is due


class IndexPolicy:
    """A refresh policy by an index. Sub-classes give `index`."""

    def __init__(self, constants: Estimation | None = None) -> None:
        constants = constants or Estimation()
        self.pages = PageTable()
        self.rates = RateEstimator(self.pages, constants)
        self.siblings = SiblingEvents(self.pages) if constants.uses_siblings else None
        self.threshold = float("nan")  # the index at which pages are visited lately
        self.interval_s = 0.0  # between two visits of a page lately
        self._hints_right, self._hints = 9.0, 10.0
        self._candidates: Slots = np.zeros(0, dtype=np.int64)
        self._taken = 0  # of the candidates
        self._touched: list[Slots] = []  # pages whose index has jumped since the last full pass

    def index(self, slots: Slots, now_s: float) -> Floats:
        """How urgent a visit of each page is; the scale is the policy's own."""
        raise NotImplementedError

    def add(self, slot: int, now_s: float, *, weight: float = 1.0, group: int = NO_GROUP) -> None:
        self.restore(slot, KnownPage(now_s, weight=weight, group=group))

    def restore(self, slot: int, page: KnownPage) -> None:
        is_new = not self.pages.has(slot)  # otherwise its changes are events already
        self.remove(slot)
        self.pages.put(slot, page)
        self._count(slot, 1)
        is_event = is_new and page.group != NO_GROUP and page.modified_s > -np.inf
        if self.siblings is not None and is_event:
            self.siblings.add(page.group + 1, page.modified_s, 0.0)

    def remove(self, slot: int) -> None:
        if self.pages.has(slot):
            self._count(slot, -1)
            self.pages.remove(slot)

    def _count(self, slot: int, sign: int) -> None:
        changes, seconds = float(self.pages.changes[slot]), float(self.pages.seconds[slot])
        self.rates.count_one(slot, sign * changes, sign * seconds)

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
        if not len(there):
            return
        last_s = self.pages.last_s[there]
        self._learn_interval(np.maximum(now_s - last_s, 0.0))
        self._learn_hints(there, changed)
        hazard = self.hazard(there)
        self.rates.learn(there, now_s, changed, modified, hazard == 0.0)
        if self.siblings is not None:
            is_dated = (modified > last_s) & (modified <= now_s)
            span = np.where(is_dated, modified, last_s), np.where(is_dated, modified, now_s)
            self.siblings.learn(there, changed, span, NEAR / self.rates.mean_rate)
        is_dated = (modified > last_s) & (modified <= now_s)
        changed_s = np.where(is_dated, modified, (last_s + now_s) / 2)
        self.pages.changed_s[there[changed]] = changed_s[changed]
        self.pages.last_s[there] = now_s
        self.pages.free_s[there] = -np.inf
        self.pages.hint_s[there] = -np.inf

    def _learn_interval(self, tau: Floats) -> None:
        """Note the mean interval between visits, over about the last round."""
        kept = np.exp(-len(tau) / max(1, self.pages.count)) if self.interval_s else 0.0
        self.interval_s = self.interval_s * kept + float(tau.mean()) * (1.0 - kept)

    def _learn_hints(self, slots: Slots, changed: Flags) -> None:
        is_hinted = self.pages.hint_s[slots] > self.pages.last_s[slots]
        self._hints += int(is_hinted.sum())
        self._hints_right += int((is_hinted & changed).sum())

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
        order = np.argsort(-index, kind="stable")
        chosen = slots[order]
        if len(chosen):
            self._learn_threshold(float(index[order[-1]]), len(chosen))
        self.pages.free_s[chosen] = np.inf
        self._taken += len(chosen)
        return chosen

    def _learn_threshold(self, index: float, count: int) -> None:
        kept = np.exp(-8.0 * count / self.pages.count) if self.threshold == self.threshold else 0.0
        self.threshold = index if not kept else self.threshold * kept + index * (1.0 - kept)

    def _to_look_at(self, now_s: float, count: int) -> Slots:
        """The pages among which the best ones are."""
        if self.pages.count <= _ALL:
            self._take_touched()
            return self.pages.free(now_s)
        if 2 * self._taken + count >= len(self._candidates):
            self._find_candidates(now_s, count)
        elif touched := self._take_touched():
            self._candidates = np.unique(np.concatenate([self._candidates, *touched]))
        return self._candidates[self.pages.free_s[self._candidates] <= now_s]

    def _find_candidates(self, now_s: float, count: int) -> None:
        free = self.pages.free(now_s)
        wanted = max(self.pages.count // _SHARE, 4 * count)
        if wanted < len(free):
            free = free[np.argpartition(-self.index(free, now_s), wanted)[:wanted]]
        self._candidates = np.sort(free)
        self._taken = 0
        self._take_touched()

    def _take_touched(self) -> list[Slots]:
        """The pages whose index has jumped by hints or siblings since they were last taken."""
        touched, self._touched = self._touched, []
        if self.siblings is not None and self.siblings.new_rows:
            is_new = np.zeros(len(self.pages.group_changes), dtype=np.bool_)
            is_new[self.siblings.new_rows] = True
            self.siblings.new_rows.clear()
            if self.pages.count > _ALL:
                touched.append(np.flatnonzero(is_new[self.pages.group[: self.pages.size] + 1]))
        return touched

    def rate(self, slot: int) -> float:
        shape, scale = self.rates.long_run(as_slots(slot))
        return float(shape[0] / scale[0])

    def due_s(self, slot: int, visits_per_s: float) -> float:
        """The time at which the index of the page reaches that of the pages visited lately."""
        page = self.pages.get(slot)
        if visits_per_s <= 0.0:
            return float("inf")
        round_s = self.pages.count / visits_per_s
        if self.threshold != self.threshold:
            return page.last_s + round_s
        slots, early, late = as_slots(slot), page.last_s, page.last_s + 1e4 * round_s
        if self.index(slots, late)[0] < self.threshold:
            return float("inf")
        for _ in range(_HALVINGS):
            middle = (early + late) / 2
            is_due = self.index(slots, middle)[0] >= self.threshold
            early, late = (early, middle) if is_due else (middle, late)
        return late

    def freshness(self, now_s: float, slots: Slots | None = None) -> float:
        slots = self.pages.slots() if slots is None else slots
        return float(self.fresh(slots, now_s).mean()) if len(slots) else 1.0

    def age_s(self, now_s: float, slots: Slots | None = None) -> float:
        slots = self.pages.slots() if slots is None else slots
        if not len(slots):
            return 0.0
        shape, scale = self.past(slots, now_s)
        tau = self.tau(slots, now_s)
        return float((tau - fresh_seconds(shape, scale, tau)).mean())

    def fresh(self, slots: Slots, now_s: float) -> Floats:
        """The probability that each copy is up to date: E[exp(-λτ)] = (β / (β + τ))^α, and less
        where siblings or hints say more."""
        shape, scale = self.past(slots, now_s)
        tau = self.tau(slots, now_s)
        return np.exp(-shape * np.log1p(tau / scale) - self.hazard(slots))

    def past(self, slots: Slots, now_s: float) -> tuple[Floats, Floats]:
        """Shape and scale of the rates in the time since the last visit."""
        return self.rates.posterior(slots, (self.pages.last_s[slots] + now_s) / 2)

    def tau(self, slots: Slots, now_s: float) -> Floats:
        """The time since the last visit."""
        return np.maximum(now_s - self.pages.last_s[slots], 0.0)

    def hazard(self, slots: Slots) -> Floats:
        """What siblings and hints add to the expected number of changes since the last visit."""
        is_hinted = self.pages.hint_s[slots] > self.pages.last_s[slots]
        hazard = np.where(is_hinted, -np.log1p(-self._hints_right / (self._hints + 1.0)), 0.0)
        return hazard if self.siblings is None else hazard + self.siblings.hazard(slots)

    def known(self, slot: int) -> KnownPage:
        return self.pages.get(slot)

    def figures(self) -> dict[str, float]:
        return {
            "threshold": self.threshold,
            "interval_s": self.interval_s,
            "hints_right": self._hints_right,
            "hints": self._hints,
            **self.rates.figures(),
            **({} if self.siblings is None else self.siblings.figures()),
        }

    def restore_figures(self, figures: Mapping[str, float]) -> None:
        self.threshold = figures.get("threshold", self.threshold)
        self.interval_s = figures.get("interval_s", self.interval_s)
        self._hints_right = figures.get("hints_right", self._hints_right)
        self._hints = figures.get("hints", self._hints)
        self.rates.restore_figures(figures)
        if self.siblings is not None:
            self.siblings.restore_figures(figures)

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
