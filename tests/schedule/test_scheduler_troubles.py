"""Hosts that are busy, gone or private, and limits, under a clock that stands still."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from gossamer.frontier.store import StateTable
from gossamer.records import Found, Lease, Outcome, Reason
from schedule.scheduler_bench import (
    KEYS,
    PUBLIC,
    A,
    B,
    a_bench,
    after_a_page,
    seconds_until_next,
)

DAY_S = 86_400.0


# -- busy hosts


def test_a_retry_after_holds_for_the_whole_host_and_is_never_shortened() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    bench.busy(bench.pass_robots(f"{A}/1"), retry_after_s=700.0)

    wait_s, _ = seconds_until_next(bench)

    assert wait_s >= 700.0


def test_the_delay_of_a_busy_host_grows_each_time_until_it_is_given_up() -> None:
    bench = a_bench(*(f"{A}/{number}" for number in range(30)))
    lease: Lease | None = bench.pass_robots(f"{A}/0")
    waits = []

    while lease is not None:
        bench.busy(lease)
        wait_s, lease = seconds_until_next(bench)
        waits.append(round(wait_s))

    assert waits[:5] == [60, 120, 240, 480, 960]
    assert len(waits) == 6
    assert bench.frontier.counts.by_reason == {"busy": 30}


def test_an_answer_between_busy_ones_begins_the_count_anew() -> None:
    bench = a_bench(*(f"{A}/{number}" for number in range(30)))
    bench.busy(bench.pass_robots(f"{A}/0"))
    bench.answer(bench.after_delay())

    bench.busy(bench.after_delay())

    wait_s, _ = seconds_until_next(bench)
    assert wait_s == pytest.approx(60.0)


def test_many_busy_answers_of_one_moment_count_as_one() -> None:
    bench = a_bench(*(f"{A}/{number}" for number in range(9)), needs_no_delay=True)
    leases = [bench.pass_robots(f"{A}/0"), *(bench.get() for _ in range(3))]

    for lease in leases:
        bench.busy(lease)

    wait_s, _ = seconds_until_next(bench)
    assert wait_s == pytest.approx(60.0)


def test_a_host_that_wants_to_be_left_alone_for_too_long_is_left_alone() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    bench.busy(bench.pass_robots(f"{A}/1"), retry_after_s=10 * DAY_S)

    assert bench.outcome_of(f"{A}/1") == bench.outcome_of(f"{A}/2") == (Outcome.FAILED, "busy")
    bench.admit(f"{A}/3")
    assert bench.lease() is None
    assert bench.outcome_of(f"{A}/3") == (Outcome.FAILED, "busy")
    assert bench.frontier.counts.queued == 0


def test_a_retry_after_outlives_the_process() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    bench.busy(bench.pass_robots(f"{A}/1"), retry_after_s=700.0)
    bench.commit()

    bench.open()

    wait_s, _ = seconds_until_next(bench)
    assert wait_s >= 700.0


def test_a_retry_after_that_was_archived_and_not_committed_outlives_a_kill() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    lease = bench.pass_robots(f"{A}/1")
    bench.commit()
    bench.busy(lease, retry_after_s=700.0)

    bench.is_unclean = True
    bench.open()

    wait_s, _ = seconds_until_next(bench)
    assert wait_s >= 699.9


def test_after_a_kill_every_host_and_address_is_delayed_first() -> None:
    bench = a_bench(f"{A}/1", f"{B}/1", politeness__host_delay_s=4.0)
    bench.commit()

    bench.is_unclean = True
    bench.open()

    wait_s, first = seconds_until_next(bench)
    assert first is not None
    assert wait_s == pytest.approx(4.0)


def test_after_a_clean_end_addresses_are_delayed_too() -> None:
    bench = a_bench(f"{A}/1")
    bench.commit()

    bench.open()

    wait_s, _ = seconds_until_next(bench)
    assert wait_s == pytest.approx(0.5)


def test_a_new_crawl_begins_at_once() -> None:
    assert a_bench(f"{A}/1").lease() is not None


def test_a_clock_that_was_far_ahead_delays_no_host_longer_than_a_retry_after_may() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", politeness__retry_after_max_s=1000.0)
    bench.answer(bench.pass_robots(f"{A}/1"))
    bench.frontier.touch(KEYS.host("a.example")).free_us += 10**15
    bench.commit()

    bench.open()

    wait_s, after = seconds_until_next(bench)
    assert after is not None
    assert wait_s <= 1001.0


# -- hosts that cannot be reached


def test_the_first_contact_gives_up_at_once() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    bench.names["a.example"] = ()

    assert bench.lease() is None

    assert bench.outcome_of(f"{A}/1") == bench.outcome_of(f"{A}/2") == (Outcome.FAILED, "dns")
    assert bench.scheduler.next_time_s() is None


@pytest.mark.parametrize(
    ("reason", "waits"), [(Reason.CONNECT, [30, 60, 120]), (Reason.TIMEOUT, [60, 120])]
)
def test_a_host_that_is_down_is_tried_by_the_table_and_then_given_up(
    reason: Reason, waits: list[float]
) -> None:
    bench = after_a_page()
    bench.admit(*(f"{A}/{number}" for number in range(5)))
    lease: Lease | None = bench.get(f"{A}/robots.txt")
    found = []

    while lease is not None:
        bench.fail(lease, reason)
        wait_s, lease = seconds_until_next(bench)
        found.append(wait_s)

    assert found[:-1] == pytest.approx(waits, abs=0.01)
    assert bench.frontier.counts.by_reason == {reason.value: 5}
    assert bench.scheduler.troubles() == ()


def test_a_name_that_cannot_be_resolved_is_tried_by_the_table_and_then_given_up() -> None:
    bench = after_a_page()
    bench.names["a.example"] = ()
    bench.admit(f"{A}/1", f"{A}/2")
    before_s = bench.clock.now_s()

    _, lease = seconds_until_next(bench)

    assert lease is None
    assert bench.clock.now_s() - before_s == pytest.approx(60 + 120, abs=0.1)
    assert bench.frontier.counts.by_reason == {"dns": 2}
    assert bench.looked_up.count("a.example") == 3


def test_a_host_that_comes_back_is_crawled_on() -> None:
    bench = after_a_page()
    bench.admit(f"{A}/1")
    bench.fail(bench.get(), Reason.CONNECT)

    bench.answer(bench.after_delay(f"{A}/robots.txt"), 404)
    bench.fail(bench.after_delay(f"{A}/1"), Reason.CONNECT)
    _, again = seconds_until_next(bench)

    assert again is not None
    assert (again.url, again.tries) == (f"{A}/1", 1)
    bench.answer(again)
    assert bench.outcome_of(f"{A}/1") == (Outcome.FETCHED, "")
    assert bench.frontier.host(KEYS.host("a.example")).faults == 0


def test_the_other_addresses_of_a_name_are_tried_before_it_is_given_up() -> None:
    bench = a_bench(f"{A}/1")
    bench.names["a.example"] = (PUBLIC + "1", PUBLIC + "2", PUBLIC + "3")
    requests = []
    for _ in range(3):
        lease = bench.after_delay(f"{A}/robots.txt")
        requests.append(lease.address)
        bench.fail(lease, Reason.CONNECT)

    assert requests == [PUBLIC + "1", PUBLIC + "2", PUBLIC + "3"]
    assert bench.lease() is None
    assert bench.outcome_of(f"{A}/1") == (Outcome.FAILED, "connect")


def test_a_closed_port_does_not_block_the_pages_of_another() -> None:
    bench = a_bench(f"{A}/1", f"{A}:8080/x", f"{A}:8080/y", f"{A}/2")
    bench.answer(bench.pass_robots(f"{A}/1"))

    bench.fail(bench.after_delay(f"{A}:8080/robots.txt"), Reason.CONNECT)

    bench.answer(bench.after_delay(f"{A}/2"))
    assert bench.outcome_of(f"{A}/2") == (Outcome.FETCHED, "")
    assert (
        bench.outcome_of(f"{A}:8080/x")
        == bench.outcome_of(f"{A}:8080/y")
        == (Outcome.QUEUED, "connect")
    )


def test_a_closed_port_is_tried_by_the_table_and_what_is_there_fails() -> None:
    bench = a_bench(f"{A}/1", f"{A}:8080/x", f"{A}:8080/y")
    bench.answer(bench.pass_robots(f"{A}/1"))
    lease: Lease | None = bench.after_delay(f"{A}:8080/robots.txt")
    began_s = bench.clock.now_s()

    while lease is not None:
        assert lease.url == f"{A}:8080/robots.txt"
        bench.fail(lease, Reason.CONNECT)
        _, lease = seconds_until_next(bench)

    assert bench.clock.now_s() - began_s == pytest.approx(30 + 60 + 120, abs=1)
    assert (
        bench.outcome_of(f"{A}:8080/x")
        == bench.outcome_of(f"{A}:8080/y")
        == (Outcome.FAILED, "connect")
    )
    assert bench.frontier.counts.queued == 0


def test_a_port_that_opens_meanwhile_is_crawled() -> None:
    bench = a_bench(f"{A}/1", f"{A}:8080/x")
    bench.answer(bench.pass_robots(f"{A}/1"))
    bench.fail(bench.after_delay(f"{A}:8080/robots.txt"), Reason.CONNECT)

    _, again = seconds_until_next(bench)
    assert again is not None
    bench.answer(again, 404)
    bench.answer(bench.after_delay(f"{A}:8080/x"))

    assert again.url == f"{A}:8080/robots.txt"
    assert bench.outcome_of(f"{A}:8080/x") == (Outcome.FETCHED, "")


def test_connections_that_fail_together_count_as_one_fault() -> None:
    bench = a_bench(*(f"{A}/{number}" for number in range(9)), needs_no_delay=True)
    bench.answer(bench.pass_robots(f"{A}/0"))
    leases = [bench.get() for _ in range(4)]

    for lease in leases:
        bench.fail(lease, Reason.CONNECT)

    assert bench.frontier.counts.failed == 0
    wait_s, after = seconds_until_next(bench)
    assert after is not None
    assert wait_s == pytest.approx(30.0)


def test_a_private_address_is_refused_and_never_requested() -> None:
    bench = a_bench(f"{B}/1")
    bench.names["b.example"] = ("192.168.0.7",)

    assert bench.lease() is None

    assert bench.outcome_of(f"{B}/1") == (Outcome.REFUSED, "private")
    assert "192.168.0.7" in bench.row(f"{B}/1").detail


def test_a_typed_host_may_be_private() -> None:
    bench = a_bench(f"{A}/1")
    bench.names["a.example"] = ("192.168.0.7",)

    assert bench.get().is_trusted


def test_of_many_addresses_only_the_public_ones_are_used() -> None:
    bench = a_bench(f"{B}/1")
    bench.names["b.example"] = ("10.0.0.1", PUBLIC + "5")

    assert bench.get().address == PUBLIC + "5"


def test_a_failed_url_is_tried_again_in_its_time_and_then_fails() -> None:
    bench = a_bench(f"{A}/1")
    lease: Lease | None = bench.pass_robots(f"{A}/1")
    waits = []

    while lease is not None:
        bench.fail(lease, Reason.RESET)
        wait_s, lease = seconds_until_next(bench)
        waits.append(wait_s)

    assert waits[:3] == pytest.approx([10, 20, 40], abs=0.01)
    assert bench.outcome_of(f"{A}/1") == (Outcome.FAILED, "reset")
    assert bench.row(f"{A}/1").tries == 3


# -- limits


def test_pages_under_way_count_against_the_limit() -> None:
    bench = a_bench(
        *(f"{A}/{number}" for number in range(9)), limits__max_pages=3, needs_no_delay=True
    )
    leases = [bench.pass_robots(f"{A}/0"), bench.get(), bench.get()]
    assert bench.lease() is None
    assert bench.scheduler.next_time_s() is None, "there is nothing to wait for but answers"

    bench.answer(leases[0], 301, redirect=f"{A}/elsewhere")
    assert bench.get().url == f"{A}/3", "a redirect is no page"
    assert bench.lease() is None


def test_bytes_are_never_overshot_and_a_page_that_does_not_fit_waits_for_a_larger_limit() -> None:
    bench = a_bench(
        *(f"{A}/{number}" for number in range(9)),
        limits__max_bytes=1000,
        fetch__max_body_bytes=600,
        needs_no_delay=True,
    )
    first = bench.pass_robots(f"{A}/0")
    assert first.max_body_bytes == 600
    assert bench.lease() is None, "with 400 left one page at a time goes out"

    bench.answer(first, size_bytes=500)
    second = bench.get()
    assert second.max_body_bytes == 500
    bench.refuse(second, Reason.SIZE)

    assert bench.lease() is None
    counts = bench.frontier.counts
    reached = bench.scheduler.allowance.reached(
        fetched=counts.fetched, bytes_had=counts.size_bytes, ran_s=0.0
    )
    assert reached == "max-bytes"
    assert bench.outcome_of(second.url)[0] is Outcome.QUEUED
    assert counts.known == 9 == counts.queued + counts.fetched


def test_a_page_too_large_for_every_limit_is_refused() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", limits__max_bytes=10**9)

    bench.refuse(bench.pass_robots(f"{A}/1"), Reason.SIZE)

    assert bench.outcome_of(f"{A}/1") == (Outcome.REFUSED, "size")
    assert bench.after_delay().url == f"{A}/2"


def test_pages_per_host_are_met_exactly_and_the_rest_is_refused() -> None:
    bench = a_bench(
        *(f"{A}/{number}" for number in range(9)), frontier__pages_per_host=3, needs_no_delay=True
    )
    leases = [bench.pass_robots(f"{A}/0"), bench.get(), bench.get()]
    assert bench.lease() is None
    bench.answer(leases[0], 301, redirect=f"{A}/elsewhere")
    leases.append(bench.get())
    assert bench.lease() is None

    for lease in leases[1:]:
        bench.answer(lease)
    assert bench.lease() is None

    assert bench.frontier.counts.fetched == 3
    assert bench.frontier.counts.by_reason == {"budget": 5}


# -- order and housekeeping


def test_of_two_ready_hosts_the_one_with_the_first_url_comes_first() -> None:
    bench = a_bench(typed=("a.example", "b.example"), needs_no_delay=True)
    bench.frontier.admit([Found(f"{B}/deep", KEYS.of(f"{B}/deep"), 5)], 0)
    bench.frontier.admit([Found(f"{A}/near", KEYS.of(f"{A}/near"), 1)], 0)
    for robots in [bench.get(), bench.get()]:
        bench.answer(robots, 404)

    assert [bench.get().url, bench.get().url] == [f"{A}/near", f"{B}/deep"]


def test_thousands_of_refusals_do_not_hold_up_the_loop() -> None:
    bench = a_bench(*(f"{A}/x/{number}" for number in range(1200)), f"{A}/open")
    robots = bench.get()
    bench.answer(robots, 200, b"User-agent: *\nDisallow: /x")
    bench.clock._now_s += 1.0
    refused = [0]

    while (lease := bench.scheduler.next_lease()) is None:
        refused.append(len(bench.decided))
        then_s = bench.scheduler.next_time_s()
        assert then_s is not None
        assert then_s - bench.clock.now_s() < 0.02, "it wants to go on soon"
        bench.clock._now_s = then_s

    assert lease.url == f"{A}/open"
    assert max(after - before for before, after in pairwise(refused)) <= 500


def test_a_lease_tells_where_its_url_was_found() -> None:
    bench = a_bench(f"{A}/1")
    lease = bench.pass_robots(f"{A}/1")
    found = Found(f"{A}/2", KEYS.of(f"{A}/2"), 1, lease.key)
    bench.answer(lease, found=(found,))

    assert bench.after_delay(f"{A}/2").via == f"{A}/1"


def test_troubles_are_shown_while_they_last() -> None:
    bench = after_a_page()
    bench.admit(f"{A}/1")
    bench.fail(bench.get(), Reason.CONNECT)

    assert bench.scheduler.troubles() == ("a.example: connect it was",)
    assert bench.scheduler.hosts_waiting == 1


def test_idle_hosts_are_forgotten_and_those_with_requests_under_way_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["gossamer.schedule.host_cache"], "_IDLE_HOSTS", 0)
    bench = a_bench(f"{A}/1", needs_no_delay=True)
    lease = bench.pass_robots(f"{A}/1")
    host = bench.scheduler.host(KEYS.host("a.example"))

    bench.scheduler.forget_idle()
    assert bench.scheduler.host(KEYS.host("a.example")) is host

    bench.answer(lease)
    bench.clock._now_s += 100
    bench.scheduler.forget_idle()
    assert bench.scheduler.host(KEYS.host("a.example")) is not host


def test_the_delays_of_hosts_are_stored() -> None:
    bench = a_bench(f"{A}/1")
    bench.answer(bench.pass_robots(f"{A}/1"))
    bench.commit()

    row = bench.frontier.host(KEYS.host("a.example"))
    assert row.free_us == bench.clock.wall_us() + 1_000_000
    assert bench.store.find(StateTable.ORIGIN, A.encode()) is not None


def test_a_lease_that_comes_back_is_given_out_again_after_the_delay() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", limits__max_pages=1)
    lease = bench.pass_robots(f"{A}/1")

    bench.scheduler.came_back(lease)

    wait_s, again = seconds_until_next(bench)
    assert again is not None
    assert (again.url, again.number) == (f"{A}/1", lease.number + 1)
    assert wait_s == pytest.approx(1.0)
    assert bench.scheduler.under_way == 1


def test_an_auxiliary_fetch_that_comes_back_is_made_again() -> None:
    bench = a_bench(f"{A}/1")

    bench.scheduler.came_back(bench.get(f"{A}/robots.txt"))

    bench.answer(bench.after_delay(f"{A}/robots.txt"), 404)
    assert bench.after_delay().url == f"{A}/1"


def test_a_public_host_is_not_requested_without_a_contact() -> None:
    bench = a_bench(typed=("a.example",), fetch__contact="")
    bench.admit(f"{A}/")

    assert bench.lease() is None

    row = bench.frontier.find(KEYS.of(f"{A}/"))
    assert row is not None
    assert (row.outcome, row.reason) == (Outcome.REFUSED, "contact")


def test_troubles_are_shown_after_a_commit_and_by_the_next_process_until_they_are_over() -> None:
    bench = after_a_page()
    bench.admit(f"{A}/1")
    bench.fail(bench.get(f"{A}/robots.txt"), Reason.CONNECT)
    outcome_of = ("a.example: connect it was",)

    bench.commit()
    assert bench.scheduler.troubles() == outcome_of
    bench.open()
    assert bench.scheduler.troubles() == outcome_of

    bench.answer(bench.after_delay(f"{A}/robots.txt"))
    assert bench.scheduler.troubles() == ()
    bench.commit()
    assert bench.scheduler.troubles() == ()
