"""One crawler of many: robots.txt of others, times that they tell, addresses that they share."""

from __future__ import annotations

import asyncio

import pytest

from gossamer.records import Outcome, Reason
from gossamer.schedule.robots_fetches import FetchedRobots
from gossamer.urls.host_limit import HostLimit
from schedule.scheduler_bench import A, B, Bench, a_bench, seconds_until_next
from schedule.test_admission import admission, reason


def shared(bench: Bench, body: bytes, status: int = 200, age_s: float = 60.0) -> None:
    at_us = bench.clock.wall_us() - round(age_s * 1e6)
    bench.scheduler.share_robots(FetchedRobots(A, status, body, at_us))


def test_a_robots_txt_of_another_crawler_is_obeyed_and_not_fetched() -> None:
    bench = a_bench(f"{A}/private/1", f"{A}/open")

    shared(bench, b"User-agent: *\nDisallow: /private")

    assert bench.get().url == f"{A}/open"
    assert bench.outcome_of(f"{A}/private/1") == (Outcome.REFUSED, "robots")


@pytest.mark.parametrize(("status", "age_s"), [(200, 90_000.0), (503, 1.0), (301, 1.0)])
def test_an_old_or_empty_answer_of_another_crawler_is_not_used(status: int, age_s: float) -> None:
    bench = a_bench(f"{A}/1")

    shared(bench, b"", status, age_s)

    assert bench.get().url == f"{A}/robots.txt"


def test_a_fetched_robots_txt_is_told_for_others() -> None:
    bench, told = a_bench(f"{A}/1"), list[FetchedRobots]()
    bench.scheduler.tell_others(told.append)

    bench.pass_robots(f"{A}/1", b"User-agent: *\nDisallow: /x")

    assert [(one.origin, one.status, one.body[-3:]) for one in told] == [(A, 200, b" /x")]
    assert bench.scheduler.take_used() == {"a.example": (1.0, 1.0)}
    assert bench.scheduler.take_used() == {}


def test_a_host_is_not_requested_before_the_time_that_another_crawler_left() -> None:
    bench = a_bench(f"{A}/1")

    bench.scheduler.hold_until("a.example", bench.clock.wall_us() + 40_000_000)

    assert bench.lease() is None
    assert seconds_until_next(bench)[0] == pytest.approx(40.0)


def test_a_shared_address_is_requested_as_many_times_less_often() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", f"{A}/3")
    first = bench.pass_robots(f"{A}/1")
    bench.scheduler.set_pace(dict.fromkeys(bench.scheduler.addresses(), 3.0))

    bench.answer(first)

    assert seconds_until_next(bench)[0] == pytest.approx(3.0)


def test_a_robots_txt_behind_a_redirect_to_a_foreign_host_forbids_the_host_at_once() -> None:
    bench = a_bench(f"{A}/x", scope__hosts=("a.example",))

    bench.answer(bench.get(f"{A}/robots.txt"), 301, redirect=f"{B}/robots.txt")

    waited_s, lease = asyncio.run(bench.next_lease_after(5.0))
    assert lease is None, waited_s
    assert bench.outcome_of(f"{A}/x")[0] is not Outcome.QUEUED


def test_only_the_named_hosts_are_requested_whatever_the_scope_is() -> None:
    judge = admission(**{"scope.kind": "any", "scope.hosts": ("a.example", ".b.example")})

    assert reason(judge, "http://a.example/") is None
    assert reason(judge, "http://www.a.example/") is Reason.SCOPE
    assert reason(judge, "http://www.b.example/") is None
    assert reason(judge, "http://xb.example/") is Reason.SCOPE
    assert not judge.may_request_sitemap("http://c.example/sitemap.xml")


def test_a_host_limit_without_hosts_allows_all() -> None:
    assert HostLimit(()).allows("a.example")
    assert not HostLimit(["."]).allows("a.example")
