"""One answer for all who ask within a moment."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gossamer.web.brief_cache import BriefCache


def test_who_asks_within_the_moment_is_told_the_same() -> None:
    lately, count = BriefCache(), itertools.count()

    told = [lately.get("a", now_s, 1.0, lambda: next(count)) for now_s in (0.0, 0.9, 1.0, 1.5)]

    assert told == [0, 0, 1, 1]


def test_each_question_has_an_answer_of_its_own() -> None:
    lately = BriefCache()

    assert [lately.get(key, 0.0, 1.0, lambda key=key: key) for key in "ab"] == ["a", "b"]  # type: ignore[misc]


def test_many_at_once_have_it_made_once() -> None:
    lately, count = BriefCache(), itertools.count()
    together = threading.Barrier(8)

    def ask(_: int) -> int:
        together.wait()
        return lately.get("a", 0.0, 1.0, lambda: next(count))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {0}


def test_an_answer_that_could_not_be_made_is_asked_for_again() -> None:
    lately = BriefCache()

    def fail() -> int:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011  # whatever was wrong comes through
        lately.get("a", 0.0, 1.0, fail)
    assert lately.get("a", 0.0, 1.0, lambda: 1) == 1


def test_questions_without_end_are_not_all_kept() -> None:
    lately = BriefCache()
    for number in range(1_000):
        lately.get(number, 0.0, 1.0, lambda: 0)

    assert len(lately._kept) <= 200
