"""The end of a crawl when only retries are left: what is shown, and when it gives up."""

from __future__ import annotations

import asyncio

import pytest

from gossamer.records import Lease, Outcome, Reason
from schedule.scheduler_bench import PUBLIC, Bench
from schedule.virtual_run import Reply, VirtualRun

REFUSED = "Failed to connect: Could not connect to server (Connection refused)"
GOOD, DEAD = "http://good.example", "http://dead.example"
OWN = "http://own.example"


def run(bench: Bench, web: object) -> float:
    """Crawl to the end; the seconds that it took."""
    asyncio.run(VirtualRun(bench, web).until())  # type: ignore[arg-type]
    assert bench.frontier.counts.queued == 0
    return bench.clock.now_s()


def failing(reason: Reason, *bad: str, detail: str = "no answer", took_s: float = 0.1) -> object:
    """A web in which requests whose URLs begin with one of `bad` fail."""

    def web(bench: Bench, lease: Lease) -> Reply:
        if lease.url.startswith(bad):
            return Reply(
                took_s,
                lambda each: bench.report(each, Outcome.FAILED, reason=reason, detail=detail),
            )
        return Reply(0.1, lambda each: bench.report(each, Outcome.FETCHED, status=200))

    return web


def a_bench(*urls: str, **values: object) -> Bench:
    settings = {key.replace("__", "."): value for key, value in values.items()}
    names: dict[str, tuple[str, ...]] = {
        "good.example": (PUBLIC + "1",), "dead.example": (PUBLIC + "2",),
        "own.example": ("127.0.0.1",),
    }  # fmt: skip
    bench = Bench(values=settings, typed=("good.example", "own.example"), names=names)
    bench.admit(f"{GOOD}/0")  # what fails before the first answer of a crawl is given up at once
    bench.answer(bench.pass_robots(f"{GOOD}/0"))
    bench.admit(*urls)
    return bench


def test_a_link_to_a_dead_host_ends_within_seconds_when_nothing_else_is_left() -> None:
    bench = a_bench(f"{GOOD}/1", f"{GOOD}/2", f"{DEAD}/")

    took_s = run(bench, failing(Reason.CONNECT, DEAD))

    assert took_s < 20
    row = bench.row(f"{DEAD}/")
    assert (row.outcome, row.reason, row.tries) == (Outcome.FAILED, "connect", 2)
    assert "only retries were left" in row.detail


def test_a_link_to_a_closed_port_of_a_good_host_ends_within_seconds() -> None:
    bench = a_bench(f"{GOOD}/1", f"{GOOD}:81/x")

    took_s = run(bench, failing(Reason.CONNECT, f"{GOOD}:81/"))

    assert took_s < 25
    row = bench.row(f"{GOOD}:81/x")
    assert (row.outcome, row.reason, row.tries) == (Outcome.FAILED, "connect", 2)


def test_a_port_that_this_machine_refuses_is_not_retried_when_nothing_else_is_left() -> None:
    bench = a_bench(f"{OWN}/1", f"{OWN}:81/x")

    took_s = run(bench, failing(Reason.CONNECT, f"{OWN}:81/", detail=REFUSED))

    assert took_s < 5
    assert bench.row(f"{OWN}:81/x").tries == 0


def test_a_page_that_never_answers_is_retried_twice_when_nothing_else_is_left() -> None:
    bench = a_bench(f"{GOOD}/1", f"{GOOD}/mute")

    took_s = run(bench, failing(Reason.TIMEOUT, f"{GOOD}/mute", took_s=20.0))

    requests = [one.lease.url for one in bench.requests].count(f"{GOOD}/mute")
    assert requests == 3
    assert took_s < 150
    assert bench.row(f"{GOOD}/mute").tries == 2


def test_retries_keep_their_waits_while_there_is_other_work() -> None:
    bench = a_bench(*(f"{GOOD}/{number}" for number in range(1, 400)), f"{DEAD}/")

    run(bench, failing(Reason.CONNECT, DEAD))

    began_s = [one.began_s for one in bench.requests if one.lease.host == "dead.example"]
    assert len(began_s) == 4
    assert began_s[1] - began_s[0] >= 30
    assert bench.row(f"{DEAD}/").tries == 3


def test_a_host_that_answered_before_keeps_all_of_its_retries() -> None:
    bench = a_bench(*(f"{GOOD}/{number}" for number in range(1, 21)))

    def web(bench: Bench, lease: Lease) -> Reply:
        if 5 < bench.clock.now_s() < 60:  # it is restarted
            return Reply(
                0.1, lambda each: bench.report(each, Outcome.FAILED, reason=Reason.CONNECT)
            )
        return Reply(0.1, lambda each: bench.report(each, Outcome.FETCHED, status=200))

    run(bench, web)

    assert bench.frontier.counts.fetched == 21


def test_a_host_that_says_when_to_come_back_is_believed_to_the_end() -> None:
    bench = a_bench(f"{GOOD}/1", f"{GOOD}/2")
    bench.busy(bench.after_delay(f"{GOOD}/1"), retry_after_s=500.0)
    bench.commit()

    bench.scheduler.hasten_retries()

    left = bench.scheduler.retries_left()
    assert left is not None
    assert left.urls == 2
    assert left.next_in_s == pytest.approx(500.0, abs=1.0)


def test_the_urls_that_wait_and_their_time_are_shown() -> None:
    bench = a_bench(f"{DEAD}/", politeness__idle_retry_wait_s=20.0)
    bench.fail(bench.after_delay(f"{DEAD}/robots.txt"), Reason.CONNECT)

    bench.scheduler.hasten_retries()

    left = bench.scheduler.retries_left()
    assert left is not None
    assert left.urls == 1
    assert left.next_in_s == pytest.approx(20.0)


def test_no_retries_are_shown_while_pages_are_left() -> None:
    bench = a_bench(*(f"{GOOD}/{number}" for number in range(1, 100)), f"{DEAD}/")
    web = failing(Reason.CONNECT, DEAD)
    asyncio.run(VirtualRun(bench, web).until(20.0))  # type: ignore[arg-type]

    assert bench.scheduler.retries_left() is None


def test_dead_hosts_that_are_left_do_not_pass_for_a_lost_network_for_a_quarter_of_an_hour() -> None:
    dead = [f"http://dead{number}.example/" for number in range(6)]
    bench = a_bench(f"{GOOD}/1", *dead)
    bench.names |= {f"dead{number}.example": (f"9.9.9.{number}",) for number in range(6)}

    took_s = run(bench, failing(Reason.CONNECT, "http://dead"))

    assert took_s < 200
    assert bench.frontier.counts.by_reason == {"connect": 6}


def test_the_number_of_last_retries_is_a_setting() -> None:
    bench = a_bench(f"{GOOD}/1", f"{DEAD}/", politeness__idle_retries=9)

    run(bench, failing(Reason.CONNECT, DEAD))

    assert bench.row(f"{DEAD}/").tries == 3
