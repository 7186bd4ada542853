"""Measured freshness agrees with the truth of pages whose changes are known."""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate, count

import pytest

from gossamer.node.visits.measured import FreshnessSums, Interval, age_square_s, fresh_s_of
from support.rows import each_row


class Truth:
    """A page that changes at random, and what is true of its copies."""

    def __init__(self, rate: float, until_s: float, chance: random.Random) -> None:
        gaps = (chance.expovariate(rate) for _ in count())
        times = accumulate(gaps)
        self.changes: list[float] = []
        for time_s in times:
            if time_s > until_s:
                break
            self.changes.append(time_s)
        self.fresh_s = self.age_s2 = self.length_s = 0.0

    def visit(self, last_s: float, now_s: float, rate: float, *, is_dated: bool) -> Interval:
        begin, end = bisect_right(self.changes, last_s), bisect_right(self.changes, now_s)
        seen = self.changes[begin:end]
        length_s = now_s - last_s
        first_s = seen[0] - last_s if seen else length_s
        self.length_s += length_s
        self.fresh_s += first_s
        self.age_s2 += (length_s - first_s) ** 2 / 2
        dated_s = seen[-1] - last_s if seen and is_dated else None
        return Interval(length_s, bool(seen), rate, dated_s)


@each_row("is_dated", [True, False])
@each_row("rate", [0.02, 0.2, 1.0, 3.0])
@each_row("spread", [0.0, 0.9])
def test_the_estimate_is_unbiased(rate: float, is_dated: bool, spread: float) -> None:
    chance = random.Random(1)
    truth = Truth(rate, 60_000.0, chance)
    fresh_s = age_s2 = 0.0
    last_s = 0.0
    while last_s < 50_000:
        now_s = last_s + chance.uniform(1 - spread, 1 + spread)
        interval = truth.visit(last_s, now_s, rate, is_dated=is_dated)
        fresh_s += fresh_s_of(interval)
        age_s2 += age_square_s(interval) / 2
        last_s = now_s

    assert fresh_s / truth.length_s == pytest.approx(truth.fresh_s / truth.length_s, abs=0.01)
    assert age_s2 / truth.length_s == pytest.approx(truth.age_s2 / truth.length_s, abs=0.01)


def test_a_page_that_never_changes_is_always_fresh() -> None:
    sums = FreshnessSums()
    for _ in range(100):
        sums.add(Interval(3600.0, False, 1e-6), pages=1)

    assert sums.freshness == 1.0
    assert sums.age_s == 0.0


def test_before_the_first_visit_nothing_is_measured() -> None:
    assert FreshnessSums().freshness is None
    assert FreshnessSums().age_s is None


def test_the_sums_follow_a_site_that_begins_to_change() -> None:
    sums = FreshnessSums()
    for _ in range(1000):
        sums.add(Interval(10.0, False, 1e-9), pages=50)
    for _ in range(500):
        sums.add(Interval(10.0, True, 1e-9), pages=50)

    assert sums.freshness == pytest.approx(0.5, abs=0.01)


@each_row("rate", [0.0, 1e-12, 1e3, 1e9])
@each_row("modified_s", [None, 0.0, 5.0, 10.0])
def test_extreme_rates_give_finite_figures(rate: float, modified_s: float | None) -> None:
    interval = Interval(10.0, True, rate, modified_s)

    assert 0.0 <= fresh_s_of(interval) <= 10.0
    assert 0.0 <= age_square_s(interval) <= 100.0 + 1e-6
