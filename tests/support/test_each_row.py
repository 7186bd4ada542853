"""A test of many rows runs them all, and names each that fails."""

from __future__ import annotations

import inspect

import pytest

from support.rows import each_row


def test_every_row_runs_and_each_that_fails_is_named() -> None:
    seen: list[int] = []

    @each_row("number", [1, 2, 3, 4])
    def is_odd(number: int) -> None:
        seen.append(number)
        assert number % 2

    with pytest.raises(ExceptionGroup, match="2 of 4 rows failed") as failed:
        is_odd()

    assert seen == [1, 2, 3, 4]
    assert [error.__notes__ for error in failed.value.exceptions] == [
        ["in the row 2"],
        ["in the row 4"],
    ]


def test_a_row_gives_its_values_and_the_test_keeps_its_fixtures() -> None:
    seen: list[tuple[int, str, str]] = []

    @each_row(("number", "word"), [(1, "one"), pytest.param(2, "two", id="second")])
    def note(number: int, fixture: str, word: str) -> None:
        seen.append((number, fixture, word))

    note(fixture="given")

    assert list(inspect.signature(note).parameters) == ["fixture"]
    assert seen == [(1, "given", "one"), (2, "given", "two")]


def test_rows_of_rows_are_all_combined() -> None:
    seen: list[tuple[int, int]] = []

    @each_row("first", [1, 2])
    @each_row("second", [3, 4])
    def note(first: int, second: int) -> None:
        seen.append((first, second))

    note()

    assert seen == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_a_call_of_fail_is_a_failed_row() -> None:
    @each_row("number", [1, 2])
    def fail(number: int) -> None:
        pytest.fail(f"not {number}")

    with pytest.raises(ExceptionGroup, match="2 of 2 rows failed") as failed:
        fail()

    assert [str(error) for error in failed.value.exceptions] == ["not 1", "not 2"]


def test_a_test_skips_when_all_its_rows_do() -> None:
    @each_row("number", [1, 2])
    def skip(number: int) -> None:
        pytest.skip("not here")

    @each_row("number", [1, 2])
    def skip_one(number: int) -> None:
        if number == 1:
            pytest.skip("not here")
        raise ValueError(number)

    with pytest.raises(pytest.skip.Exception, match="not here"):
        skip()
    with pytest.raises(ExceptionGroup, match="1 of 2 rows failed"):
        skip_one()


def test_no_rows_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="tests nothing"):
        each_row("number", [])
