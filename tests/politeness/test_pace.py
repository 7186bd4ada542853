import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.politeness.pace import (
    AddressPace,
    HostPace,
    busy_delay,
    delay_after,
    host_at_once,
    needs_no_delay,
    retry_after_s,
)
from gossamer.settings import Politeness
from support.rows import each_row

NOW_US = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
DEFAULT = Politeness()
NO_DELAY = Politeness(host_delay_s=0.0, per_host=8)


@each_row(
    ("took_s", "crawl_delay_s", "delay_s"),
    [(0.01, None, 1.0), (0.5, None, 5.0), (60.0, None, 30.0), (0.5, 7.0, 7.0), (2.0, 7.0, 20.0)],
)
def test_a_host_rests_for_the_longest_of_its_reasons(
    took_s: float, crawl_delay_s: float | None, delay_s: float
) -> None:
    for is_open in (True, False):
        found = delay_after(DEFAULT, took_s=took_s, crawl_delay_s=crawl_delay_s, is_open=is_open)
        assert found == delay_s


def test_no_delay_drops_all_rests_of_an_open_host_but_the_crawl_delay() -> None:
    assert delay_after(NO_DELAY, took_s=3.0, crawl_delay_s=None, is_open=True) == 0.0
    assert delay_after(NO_DELAY, took_s=3.0, crawl_delay_s=2.0, is_open=True) == 2.0
    assert needs_no_delay(NO_DELAY, is_open=True)  # and so its address has none, either


@pytest.mark.parametrize("delay_s", [0.0, 0.2])
def test_a_host_that_is_not_open_never_rests_less_than_a_second(delay_s: float) -> None:
    settings = Politeness(host_delay_s=delay_s)

    assert delay_after(settings, took_s=0.0, crawl_delay_s=None, is_open=False) == 1.0
    assert delay_after(settings, took_s=0.5, crawl_delay_s=None, is_open=False) == 5.0
    assert not needs_no_delay(settings, is_open=False)


def test_many_at_once_are_for_open_hosts_that_need_no_rest() -> None:
    assert host_at_once(NO_DELAY, crawl_delay_s=None, is_open=True) == 8
    assert host_at_once(NO_DELAY, crawl_delay_s=1.0, is_open=True) == 1
    assert host_at_once(NO_DELAY, crawl_delay_s=None, is_open=False) == 1
    assert host_at_once(Politeness(per_host=8), crawl_delay_s=None, is_open=True) == 1


def test_the_rest_is_counted_from_the_end_of_the_answer() -> None:
    pace = HostPace()

    pace.requested()
    assert not pace.may_request(now_s=500.0)
    pace.answered(at_s=500.0, delay_s=2.0)

    assert not pace.may_request(now_s=501.9)
    assert pace.may_request(now_s=502.0)


def test_as_many_are_under_way_as_the_caller_allows() -> None:
    pace = HostPace()

    pace.requested()

    assert pace.may_request(now_s=0.0, per_host=2)
    pace.requested()
    assert not pace.may_request(now_s=0.0, per_host=2)


def test_a_retry_after_is_never_shortened() -> None:
    pace = HostPace()
    pace.requested()
    pace.requested()

    pace.was_busy(at_s=0.0, delay_s=1.0, busy_rest_s=60.0, retry_after_s=600.0)
    pace.answered(at_s=1.0, delay_s=1.0)

    assert pace.free_at_s == 600.0
    assert pace.under_way == 0


def test_a_retry_after_of_an_answer_that_is_not_busy_holds_too() -> None:
    pace = HostPace()

    pace.requested()
    pace.answered(at_s=10.0, delay_s=1.0, retry_after_s=100.0)

    assert pace.free_at_s == 110.0


def test_a_busy_host_rests_twice_as_long_each_time_until_it_answers() -> None:
    pace, now_s, rests_s = HostPace(), 0.0, []
    for _ in range(3):
        pace.requested()
        pace.was_busy(at_s=now_s, delay_s=1.0, busy_rest_s=60.0, retry_after_s=None)
        rests_s.append(pace.free_at_s - now_s)
        now_s = pace.free_at_s
    pace.requested()
    pace.answered(at_s=now_s, delay_s=1.0)

    assert rests_s == [60.0, 120.0, 240.0]
    assert pace.busy_in_a_row == 0


def test_a_busy_host_rests_a_day_at_the_most() -> None:
    assert busy_delay(60.0, 12) == 86_400.0
    assert busy_delay(60.0, 10**6) == 86_400.0


def test_a_retry_after_of_zero_still_rests_as_any_answer() -> None:
    pace = HostPace()

    pace.requested()
    pace.was_busy(at_s=0.0, delay_s=1.0, busy_rest_s=60.0, retry_after_s=0.0)

    assert pace.free_at_s == 1.0


def test_an_address_rests_whichever_host_was_asked() -> None:
    pace = AddressPace()

    pace.requested()
    assert not pace.may_request(now_s=9.0)
    pace.answered(at_s=9.0, delay_s=0.5)

    assert not pace.may_request(now_s=9.4)
    assert pace.may_request(now_s=9.4, per_address=None)
    assert pace.may_request(now_s=9.5)


@each_row(
    ("value", "wait_s"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("Thu, 01 Jan 2026 00:10:00 GMT", 600.0),
        ("Thursday, 01-Jan-26 00:10:00 GMT", 600.0),
        ("Thu Jan  1 00:10:00 2026", 600.0),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("Thu, 99 Jan 2026 00:10:00 GMT", None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(value: str, wait_s: float | None) -> None:
    assert retry_after_s(value, NOW_US) == wait_s


def test_a_retry_after_of_any_length_is_a_number_of_seconds() -> None:
    found = retry_after_s("9" * 100_000, NOW_US)

    assert found is not None
    assert 86_400 * 365 < found < 1e10


@given(st.text(max_size=60))
def test_any_retry_after_is_read_or_passed_over(value: str) -> None:
    found = retry_after_s(value, NOW_US)

    assert found is None or 0 <= found < 1e10
