"""Made-up change traces: 600 pages in 60 directories, four years."""

from __future__ import annotations

import numpy as np

from gossamer.lab.replay import DAY_S
from gossamer.lab.traces import ChangeTrace
from gossamer.policies.refresh.policy import Floats, Slots

PAGES, GROUPS, DAYS = 600, 60, 1460.0


def _trace(pages: Slots, days: Floats) -> ChangeTrace:
    order = np.lexsort((days, pages))
    pages, days = pages[order], days[order]
    keep = (days > 0) & (days < DAYS)
    return ChangeTrace(
        tuple(f"d{n % GROUPS}/p{n}" for n in range(PAGES)),
        (np.arange(PAGES) % GROUPS).astype(np.int32),
        np.zeros(PAGES),
        np.full(PAGES, np.inf),
        pages[keep],
        days[keep] * DAY_S,
        0.0,
        DAYS * DAY_S,
        0,
        0,
        "",
    )


def _rates(random: np.random.Generator) -> Floats:
    """Changes per day: most pages once a year or less, some every few days."""
    return np.exp(random.normal(np.log(1 / 300), 1.6, PAGES))


def _times(
    random: np.random.Generator, rates: Floats, begin: float, end: float
) -> tuple[Slots, Floats]:
    pages = np.repeat(np.arange(PAGES), random.poisson(rates * (end - begin)))
    return pages, random.uniform(begin, end, len(pages))


def poisson_trace() -> ChangeTrace:
    """Each page changes at a rate of its own, at random."""
    random = np.random.default_rng(11)
    return _trace(*_times(random, _rates(random), 0.0, DAYS))


def bursty_trace() -> ChangeTrace:
    """Edits of half a directory at once, some of them followed by more within days."""
    random = np.random.default_rng(12)
    found: list[tuple[int, float]] = []
    for group in range(GROUPS):
        rate = float(np.exp(random.normal(np.log(1 / 200), 1.0)))
        for day in random.uniform(0, DAYS, random.poisson(rate * DAYS)):
            for repeat in range(int(random.geometric(0.5))):
                members = np.flatnonzero(random.random(PAGES // GROUPS) < 0.4)
                later = day + repeat * random.exponential(5.0)
                found += [(group + GROUPS * int(member), later) for member in members]
    return _trace(np.array([page for page, _ in found]), np.array([float(day) for _, day in found]))


def shifting_trace() -> ChangeTrace:
    """Each page gets a new rate every year."""
    random = np.random.default_rng(13)
    years = [_times(random, _rates(random), at, at + 365.0) for at in (0.0, 365.0, 730.0, 1095.0)]
    return _trace(*(np.concatenate(column) for column in zip(*years, strict=True)))
