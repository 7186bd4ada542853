"""Hours of the day and bytes a second."""

from __future__ import annotations

import time

import pytest

from gossamer.errors import SettingsError
from gossamer.policies.throttle import Throttle
from support.rows import each_row


def at(hour: int, minute: int = 0) -> int:
    """Wall time of a winter's day at this local time, far from any change of the clocks."""
    return int(time.mktime((2026, 1, 14, hour, minute, 0, 0, 0, -1)) * 1e6)


def test_without_limits_all_may_be_asked() -> None:
    throttle = Throttle("", 0)

    throttle.took(10**12, now_s=5.0)

    assert throttle.is_open(at(12))
    assert throttle.open_at_s < 0


@pytest.mark.parametrize(
    ("hours", "is_open", "is_closed"),
    [
        ("22-6", [(22, 0), (23, 59), (0, 0), (5, 59)], [(6, 0), (12, 0), (21, 59)]),
        ("9-17", [(9, 0), (16, 59)], [(8, 59), (17, 0), (0, 0)]),
        ("12-13:30, 22-24", [(13, 29), (23, 59)], [(13, 30), (0, 0)]),
    ],
)
def test_hours_may_go_over_midnight(
    hours: str, is_open: list[tuple[int, int]], is_closed: list[tuple[int, int]]
) -> None:
    throttle = Throttle(hours, 0)

    assert all(throttle.is_open(at(*moment)) for moment in is_open)
    assert not any(throttle.is_open(at(*moment)) for moment in is_closed)


@each_row("hours", ["22", "6-6", "25-3", "3-25", "9:75-10", "night", "9-17-20"])
def test_hours_that_are_none_are_named(hours: str) -> None:
    with pytest.raises(SettingsError, match=r"node\.hours is"):
        Throttle(hours, 0)


def test_bytes_that_came_are_made_up_for_by_waiting() -> None:
    throttle = Throttle("", 1000)

    throttle.took(500, now_s=10.0)
    throttle.took(1500, now_s=10.0)

    assert throttle.open_at_s == 12.0


def test_what_was_not_used_is_not_saved_up() -> None:
    throttle = Throttle("", 1000)

    throttle.took(1000, now_s=100.0)

    assert throttle.open_at_s == 101.0


def test_requests_are_spread_over_the_seconds() -> None:
    throttle, sent = Throttle("", 0, 4.0), 0

    for tick in range(1000):  # ten seconds
        now_s = 50.0 + tick / 100
        room = throttle.room(now_s, 64)
        throttle.sent(room, now_s) if room else None
        sent += room

    assert 40 <= sent <= 43


def test_time_without_requests_is_not_saved_up() -> None:
    throttle = Throttle("", 0, 100.0)
    throttle.sent(1, 1.0)

    assert throttle.room(3600.0, 64) <= 51


def test_more_requests_than_the_main_loop_has_turns_can_be_sent() -> None:
    throttle, sent = Throttle("", 0, 200.0), 0

    for tick in range(1, 101):  # twenty turns a second
        room = throttle.room(tick / 20, 64)
        throttle.sent(room, tick / 20)
        sent += room

    assert 980 <= sent <= 1101
