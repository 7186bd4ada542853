"""Durations and rates as people write them."""

from __future__ import annotations

import pytest

from gossamer.base.durations import rate_of, seconds_of
from support.rows import each_row


@each_row(
    ("written", "seconds"),
    [("90s", 90), ("5m", 300), ("1h", 3600), ("1.5h", 5400), ("7d", 604_800), ("2W", 1_209_600)],
)
def test_a_duration_has_a_number_and_a_unit(written: str, seconds: float) -> None:
    assert seconds_of(written) == seconds


@each_row("written", ["", "7", "d", "-1d", "7 days", "1e3s", "7y", "1d2h"])
def test_what_is_no_duration_is_refused_with_an_example(written: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration; .*7d"):
        seconds_of(written)


@each_row(
    ("written", "rate"), [("5/s", 5.0), ("5", 5.0), ("0.5/s", 0.5), ("30/m", 0.5), ("36/h", 0.01)]
)
def test_a_rate_is_a_number_per_time(written: str, rate: float) -> None:
    assert rate_of(written) == pytest.approx(rate)


@each_row("written", ["", "/s", "5/", "five/s", "-1/s", "5/year"])
def test_what_is_no_rate_is_refused_with_an_example(written: str) -> None:
    with pytest.raises(ValueError, match=r"is not a rate; .*5/s"):
        rate_of(written)
