"""Measured freshness and age: what visits say of the copies that they replace.

A visit ends an interval in which a copy was all that was known of a page. Whether the page was
found changed says for how long the copy was up to date:

    unchanged       for the whole interval τ; nothing is estimated
    changed         until the first change, at an unknown moment x

To count only what is found at the visits (changed or not) would be wrong: the end of an interval is
when the copy is oldest, so copies would look worse than they are on average. To count each visit
alike would be wrong, too: short intervals are many. So the freshness is a share of time, the sum of
the times in which copies were fresh by the sum of all intervals. For x its expected value counts,
given that changes come at random with the rate λ that is known of the page:

    E[x | x < τ] = 1/λ - τ / (exp(λτ) - 1)        about τ/2 where λτ is small
    E[x]         = (1 - exp(-λb)) / λ             where Last-Modified says that the last change came
                                                  b after the interval began

That is unbiased where changes come at random. The age of a copy is 0 while it is fresh, and then
the time since the first change that it lacks; its mean over time is E[(τ - x)²] / 2τ.

Old intervals count less: the sums remember about two visits of each page. A page that had no visit
in this time is not in them. Pure: told the times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

_FEW_PAGES: Final = 50
_SMALL: Final = 1e-3  # λτ below which the limits for 0 are exact enough
_MOST_HOSTS: Final = 10_000


class Interval(NamedTuple):
    """The time between two visits of a page that were answered."""

    length_s: float
    is_changed: bool
    rate: float  # changes per second, as known before the visit
    # of the last change, after the interval began; None where the server does not say
    modified_s: float | None = None


def fresh_s_of(interval: Interval) -> float:
    """For how long the copy was up to date."""
    length, rate = interval.length_s, interval.rate
    if not interval.is_changed:
        return length
    if interval.modified_s is not None:
        bound = interval.modified_s
        return bound * _mean_decay(rate * bound)
    x = rate * length
    if x < _SMALL:
        return length * (0.5 - x / 12)
    return 1 / rate - (length / math.expm1(x) if x < 700 else 0.0)


def age_square_s(interval: Interval) -> float:
    """The expected square of the time for which the copy was out of date at the visit."""
    length, rate = interval.length_s, interval.rate
    if not interval.is_changed:
        return 0.0
    bound = length if interval.modified_s is None else interval.modified_s
    if rate * length < _SMALL:
        return length * length / 3 if interval.modified_s is None else (length - bound) ** 2
    left, decay = length - bound, math.exp(-min(rate * bound, 700.0))
    whole = length * length - 2 * length / rate + 2 / rate**2
    part = 2 / rate**2 - 2 * left / rate
    square = whole - decay * part
    if interval.modified_s is None:
        square /= 1 - decay
    return max(0.0, square)


def _mean_decay(x: float) -> float:
    """(1 - exp(-x)) / x."""
    return -math.expm1(-x) / x if x > _SMALL else 1 - x / 2


@dataclass(slots=True)
class FreshnessSums:
    """Sums over intervals, of which old ones count less."""

    fresh_s: float = 0.0
    age_s2: float = 0.0
    length_s: float = 0.0

    def add(self, interval: Interval, pages: int) -> None:
        kept = 1 - 1 / (2 * max(pages, _FEW_PAGES))
        self.fresh_s = self.fresh_s * kept + fresh_s_of(interval)
        self.age_s2 = self.age_s2 * kept + age_square_s(interval) / 2
        self.length_s = self.length_s * kept + interval.length_s

    @property
    def freshness(self) -> float | None:
        """The share of time in which copies were up to date; None before the first visit."""
        return self.fresh_s / self.length_s if self.length_s > 0 else None

    @property
    def age_s(self) -> float | None:
        """The mean age of copies, in seconds; None before the first visit."""
        return self.age_s2 / self.length_s if self.length_s > 0 else None


class FreshnessMeter:
    """The sums of all pages, and of each of the first 10,000 hosts."""

    def __init__(self, before: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        """`before`: the sums of the last run."""
        self.all = FreshnessSums(*before)
        self.hosts: dict[bytes, FreshnessSums] = {}

    def note(self, host_key: bytes, interval: Interval, pages: int, pages_of_host: int) -> None:
        """A page was visited. `pages`: how many there are."""
        if interval.length_s <= 0:
            return
        self.all.add(interval, pages)
        sums = self.hosts.get(host_key)
        if sums is None and len(self.hosts) < _MOST_HOSTS:
            sums = self.hosts[host_key] = FreshnessSums()
        if sums is not None:
            sums.add(interval, pages_of_host)
