"""The figures of a crawl that visits pages again: freshness, age, speed and what is due."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Final

import numpy as np

from gossamer.frontier.visits.freshness import Freshness, SiteFreshness
from gossamer.node.visits.measured import FreshnessMeter, FreshnessSums
from gossamer.node.visits.slot_table import SlotTable
from gossamer.policies.refresh.policy import Floats, RefreshPolicy, Slots

_SITES: Final = 50  # those with most pages
_HOUR_S: Final = 3600.0
_DAY_S: Final = 86_400.0
_SPEED_S: Final = 600.0  # visits are counted over about this time


class VisitSpeed:
    """Visits per second over the last minutes."""

    def __init__(self, before: float = 0.0) -> None:
        """`before`: the speed of the last run, which counts until this one has its own."""
        self._sum = before * _SPEED_S
        self._seconds = _SPEED_S if before else 0.0
        self._at_s: float | None = None

    def ended(self, visits: int = 1) -> None:
        self._sum += visits

    def tick(self, now_s: float) -> None:
        """Tell the time, about once a second."""
        if self._at_s is not None and now_s > self._at_s:
            kept = math.exp(-(now_s - self._at_s) / _SPEED_S)
            self._sum *= kept
            self._seconds = self._seconds * kept + (1 - kept) * _SPEED_S
        self._at_s = now_s

    @property
    def per_s(self) -> float:
        return self._sum / self._seconds if self._seconds else 0.0


class FigureMaker:
    """Computes the figures of one crawl."""

    def __init__(
        self,
        policy: RefreshPolicy,
        name: str,
        table: SlotTable,
        meter: FreshnessMeter,
        host_name: Callable[[bytes], str],
    ) -> None:
        self._policy = policy
        self._name = name
        self._table = table
        self._meter = meter
        self._host_name = host_name

    def make(self, now_s: float, due_s: Floats, visits_per_s: float) -> Freshness:
        """`due_s`: about when each slot is visited next; infinity: given up, NaN: unknown."""
        policy, sums = self._policy, self._meter.all
        hosts = self._table.hosts()
        largest = heapq.nlargest(_SITES, hosts.items(), key=lambda pair: (pair[1], pair[0]))
        return Freshness(
            at_us=round(now_s * 1e6),
            policy=self._name,
            pages=self._table.size,
            predicted=policy.freshness(now_s),
            predicted_age_s=policy.age_s(now_s),
            measured=sums.freshness,
            age_s=sums.age_s,
            visits_per_s=visits_per_s,
            next_us=_next_us(due_s),
            due_hour=int(np.count_nonzero(due_s <= now_s + _HOUR_S)),
            due_day=int(np.count_nonzero(due_s <= now_s + _DAY_S)),
            given_up=int(np.count_nonzero(np.isposinf(due_s))),
            sums=(sums.fresh_s, sums.age_s2, sums.length_s),
            sites=tuple(self._site(key, now_s, due_s) for key, _ in largest),
            policy_figures={name: float(one) for name, one in policy.figures().items()},
        )

    def _site(self, host_key: bytes, now_s: float, due_s: Floats) -> SiteFreshness:
        slots: Slots = self._table.slots_of_host(host_key)
        sums = self._meter.hosts.get(host_key) or FreshnessSums()
        return SiteFreshness(
            host=self._host_name(host_key),
            pages=len(slots),
            predicted=self._policy.freshness(now_s, slots),
            predicted_age_s=self._policy.age_s(now_s, slots),
            measured=sums.freshness,
            age_s=sums.age_s,
            next_us=_next_us(due_s[slots]),
        )


def _next_us(due_s: Floats) -> int:
    known = due_s[np.isfinite(due_s)]
    return round(float(known.min()) * 1e6) if len(known) else 0
