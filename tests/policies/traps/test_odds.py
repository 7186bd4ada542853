"""How likely it is that a URL lies in a trap, by the pages on the way to it."""

from __future__ import annotations

import itertools

import pytest

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.odds import (
    FREE_RUN,
    MAX_RUN,
    SAID,
    levels_of_run,
    next_run,
    with_siblings,
)

RUNS = range(MAX_RUN + 1)


def after(*grades: News) -> int:
    """The run behind pages of these grades."""
    run = 0
    for news in grades:
        run = next_run(run, news)
    return run


def test_pages_with_news_have_links_without_a_level() -> None:
    assert after(News.NEW, News.NEW) == 0
    assert after(News.KNOWN, News.KNOWN, News.KNOWN) <= FREE_RUN


def test_a_run_grows_with_each_page_without_news() -> None:
    runs = [after(*[News.REPEATED] * count) for count in range(5)]

    assert runs == sorted(set(runs))
    assert levels_of_run(runs[1]) > 0


def test_a_stale_page_weighs_more_than_one_that_repeats_others() -> None:
    assert after(News.REPEATED) < after(News.STALE)


def test_news_bring_a_line_of_descent_back() -> None:
    trapped = after(*[News.STALE] * 2)

    assert trapped > next_run(trapped, News.NEW)
    assert levels_of_run(after(News.REPEATED, News.NEW)) == 0


def test_emptiness_is_no_evidence() -> None:
    assert [next_run(run, News.UNKNOWN) for run in RUNS] == list(RUNS)


@pytest.mark.parametrize("news", News)
def test_a_run_stays_in_its_bounds_and_keeps_the_order_of_runs(news: News) -> None:
    runs = [next_run(run, news) for run in RUNS]

    assert runs == sorted(runs)
    assert {*runs} <= {*RUNS}


def test_what_siblings_bring_moves_a_run_up_and_down() -> None:
    for run in range(FREE_RUN + 1, MAX_RUN):
        assert with_siblings(run, SAID[News.NEW]) < run
        assert with_siblings(run, SAID[News.STALE]) > run
        assert with_siblings(run, 0) == run


def test_siblings_say_nothing_about_the_links_of_a_page_that_is_real_for_sure() -> None:
    assert with_siblings(0, SAID[News.STALE] * 3) == 0


def test_many_siblings_say_more_than_one() -> None:
    runs = [with_siblings(8, SAID[News.REPEATED] * count) for count in range(4)]

    assert all(one < other for one, other in itertools.pairwise(runs))
