"""How likely is it that a URL lies in a trap? By the pages on the way to it, and by its siblings.

A page is real, or it is made by a trap. Links of a trap lead to more of the trap; a link of a real
page leads into a trap with a small probability. What is known of a page is its grade (`news.py`),
which says by how much a trap is more likely than a real page. From both follows the probability
for the links of the page, given that of the page itself: a hidden Markov chain along the line of
descent. It is kept as a *run*, a whole number from 0:

    run 0     a link of a page that is real for sure
    + 2       the odds are 2.7 times as high (a unit is half of a natural logarithm)
    run > 3   the URL has a level: it comes later

The links of one page are *siblings*. What one of them brings says something about the page, and by
that about the others; `with_siblings` has the sums.

The weights of the grades were counted on five real sites and the traps of `bench/trap_site.py`, and
rounded.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, log
from typing import Final

from gossamer.policies.traps.grades import News

MAX_RUN: Final = 20
FREE_RUN: Final = 3  # up to this a URL has no level
_UNIT: Final = 0.5
_INTO_TRAP: Final = 0.05  # of the links of a real page
_OUT_OF_TRAP: Final = 0.02  # of the links of a trap, to pages that are real
_WEIGHTS: Final = {
    News.NEW: -4.0,
    News.KNOWN: -0.7,
    News.REPEATED: 2.0,
    News.ODD: 4.0,
    News.STALE: 4.5,
}
MOST_SAID: Final = 16  # of what siblings say, in units


def _odds(probability: float) -> float:
    return log(probability / (1 - probability))


def _probability(odds: float) -> float:
    return 1 / (1 + exp(-odds))


_LEAST: Final = _odds(_INTO_TRAP)


def _run(odds_of_page: float) -> int:
    """The run of the links of a page of which the odds are known that it is a trap."""
    trap = _probability(odds_of_page)
    return min(MAX_RUN, int((_odds(trap + (1 - trap) * _INTO_TRAP) - _LEAST) / _UNIT))


def _after(run: int, weight: float) -> int:
    return _run(_LEAST + run * _UNIT + weight)


_NEXT: Final = {
    news: tuple(_after(run, weight) for run in range(MAX_RUN + 1))
    for news, weight in _WEIGHTS.items()
}


def next_run(run: int, news: News) -> int:
    """The run of the links of a page whose own run is known."""
    return run if news is News.UNKNOWN else _NEXT[news][min(run, MAX_RUN)]


def _said(weight: float) -> int:
    ratio = exp(weight)
    real = _INTO_TRAP * ratio + 1 - _INTO_TRAP
    trap = (1 - _OUT_OF_TRAP) * ratio + _OUT_OF_TRAP
    return round(log(trap / real) / _UNIT)


SAID: Final = {News.UNKNOWN: 0} | {news: _said(weight) for news, weight in _WEIGHTS.items()}
"""What the grade of a page says about the page that links to it, in units."""


@lru_cache(maxsize=1_024)
def with_siblings(run: int, said: int) -> int:
    """The run of a URL, given what others say that the same page links to."""
    if run <= 0 or not said:
        return run
    child = _probability(_LEAST + run * _UNIT)
    page = max(1e-6, (child - _INTO_TRAP) / (1 - _INTO_TRAP))
    return _run(_odds(page) + said * _UNIT)


def levels_of_run(run: int) -> int:
    """By how many levels a URL comes later for its run."""
    return max(0, run - FREE_RUN)
