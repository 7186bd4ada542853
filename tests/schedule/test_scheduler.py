"""What is requested when: robots.txt, delays and addresses, under a clock that stands still."""

from __future__ import annotations

import pytest

from gossamer.records import Lease, Outcome, Purpose, Reason
from schedule.scheduler_bench import (
    PUBLIC,
    A,
    B,
    Bench,
    a_bench,
    after_a_page,
    seconds_until_next,
)
from support.rows import each_row

DAY_S = 86_400.0

# -- robots.txt first


def test_robots_txt_is_fetched_before_the_first_page_and_once() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")

    robots = bench.get(f"{A}/robots.txt")
    assert robots.purpose is Purpose.ROBOTS
    assert bench.lease() is None
    bench.answer(robots, 200)

    assert bench.after_delay().url == f"{A}/1"


def test_each_origin_of_a_host_has_its_own_robots_txt() -> None:
    bench = a_bench(f"{A}/1", f"{A}:8080/1", "https://a.example/1")
    requests = []

    for _ in range(6):
        lease = bench.after_delay()
        requests.append(lease.url)
        bench.answer(lease, 404)

    assert requests == [
        f"{A}/robots.txt",
        f"{A}/1",
        f"{A}:8080/robots.txt",
        f"{A}:8080/1",
        "https://a.example/robots.txt",
        "https://a.example/1",
    ]


def test_what_robots_txt_forbids_is_refused_with_its_line() -> None:
    bench = a_bench(f"{A}/private/1", f"{A}/open")

    bench.pass_robots(f"{A}/open", b"User-agent: *\nDisallow: /private")

    assert bench.outcome_of(f"{A}/private/1") == (Outcome.REFUSED, "robots")
    assert [row.detail for row in bench.decided] == ["Disallow: /private (line 2)"]


def test_an_own_host_is_requested_without_robots_txt_and_in_parallel() -> None:
    bench = a_bench(
        *(f"{A}/{number}" for number in range(9)),
        politeness__own_hosts=("a.example",),
        needs_no_delay=True,
    )

    urls = [bench.get().url for _ in range(4)]

    assert urls == [f"{A}/{number}" for number in range(4)]
    assert bench.lease() is None


def test_the_crawl_delay_of_another_port_ends_many_at_once() -> None:
    bench = a_bench(f"{A}/1", f"{A}:8080/1", f"{A}:8080/2", needs_no_delay=True)
    first = bench.pass_robots(f"{A}/1")
    robots = bench.get(f"{A}:8080/robots.txt")
    bench.answer(robots, 200, b"User-agent: *\nCrawl-delay: 5")
    bench.answer(first)

    second = bench.after_delay(f"{A}:8080/1")
    assert bench.lease() is None
    bench.answer(second)
    assert bench.lease() is None
    assert seconds_until_next(bench)[0] == pytest.approx(5.0)


def test_a_redirect_of_robots_txt_is_followed_on_another_host() -> None:
    bench = a_bench(f"{A}/x")
    bench.answer(bench.get(f"{A}/robots.txt"), 301, redirect=f"{B}/robots.txt")

    hop = bench.after_delay(f"{B}/robots.txt")
    assert (hop.host, hop.address, hop.redirects) == ("b.example", PUBLIC + "9", 1)
    assert not hop.is_trusted, "only a.example was typed"
    bench.answer(hop, 200, b"User-agent: *\nDisallow: /x")

    assert bench.lease() is None
    seconds_until_next(bench)
    assert bench.outcome_of(f"{A}/x") == (Outcome.REFUSED, "robots")


def test_five_hops_are_followed_and_then_all_is_open() -> None:
    bench = a_bench(f"{A}/x")
    hops = 0
    lease = bench.get()
    while lease.purpose is Purpose.ROBOTS:
        hops += 1
        bench.answer(lease, 302, redirect=f"{A}/hop{hops}")
        lease = bench.after_delay()

    assert hops == 6
    assert lease.url == f"{A}/x"


def test_two_hosts_whose_robots_txt_redirect_to_each_other_do_not_block() -> None:
    bench = a_bench(f"{A}/x", f"{B}/x", typed=("a.example", "b.example"))
    pages: list[str] = []
    while len(pages) < 2:
        lease = bench.after_delay()
        other = B if lease.host == "a.example" else A
        if lease.purpose is Purpose.ROBOTS and lease.redirects < 2:
            bench.answer(lease, 301, redirect=f"{other}/robots.txt")
        elif lease.purpose is Purpose.ROBOTS:
            bench.answer(lease, 404)
        else:
            pages.append(lease.url)
            bench.answer(lease)

    assert sorted(pages) == [f"{A}/x", f"{B}/x"]


@pytest.mark.parametrize("to", [f"{B}:22/robots.txt", f"{B}:25/robots.txt"])
def test_a_redirect_of_robots_txt_to_a_forbidden_port_is_not_followed(to: str) -> None:
    bench = a_bench(f"{A}/x")

    bench.answer(bench.get(), 301, redirect=to)

    assert bench.after_delay().url == f"{A}/x"


def test_a_redirect_of_robots_txt_to_a_private_address_closes_the_host_in_the_end() -> None:
    bench = after_a_page()
    bench.names["c.example"] = ("10.1.2.3",)
    bench.admit(f"{A}/x")
    lease: Lease | None = bench.get(f"{A}/robots.txt")

    while lease is not None:
        assert lease.purpose is Purpose.ROBOTS
        assert lease.host == "a.example", "the private address is never asked"
        bench.answer(lease, 301, redirect="http://c.example/robots.txt")
        _, lease = seconds_until_next(bench)

    assert bench.outcome_of(f"{A}/x") == (Outcome.REFUSED, "robots")


@pytest.mark.parametrize("status", [500, 503, 429])
def test_robots_txt_that_fails_closes_the_host_for_longer_each_time_and_then_for_good(
    status: int,
) -> None:
    bench = after_a_page(politeness__busy_rest_s=1.0)
    bench.admit(f"{A}/1", f"{A}/2")
    waits = []

    lease: Lease | None = bench.get(f"{A}/robots.txt")
    while lease is not None:
        assert lease.url == f"{A}/robots.txt"
        if status == 500:
            bench.answer(lease, 500)
        else:
            report = bench.report(lease, Outcome.FAILED, reason=Reason.BUSY, status=status)
            bench.end(report)
        wait_s, lease = seconds_until_next(bench)
        waits.append(wait_s)

    assert waits[:4] == pytest.approx([60, 120, 240, 480], abs=0.01)
    assert len(waits) == 5
    assert bench.outcome_of(f"{A}/1") == bench.outcome_of(f"{A}/2") == (Outcome.REFUSED, "robots")
    assert "5 attempts" in bench.row(f"{A}/1").detail


def test_robots_txt_that_answers_at_last_opens_the_host() -> None:
    bench = after_a_page()
    bench.admit(f"{A}/1")
    for _ in range(3):
        bench.answer(bench.after_delay(f"{A}/robots.txt"), 500)

    bench.answer(bench.after_delay(f"{A}/robots.txt"), 404)

    assert bench.after_delay().url == f"{A}/1"


def test_robots_txt_is_fetched_again_after_a_day() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    bench.answer(bench.pass_robots(f"{A}/1"))

    bench.clock._now_s += DAY_S

    assert bench.after_delay().url == f"{A}/robots.txt"


def test_a_robots_txt_on_record_is_believed_by_the_next_process() -> None:
    bench = a_bench(f"{A}/x/1", f"{A}/y")
    bench.pass_robots(f"{A}/y", b"User-agent: *\nDisallow: /x\nCrawl-delay: 9")
    bench.commit()

    bench.open()

    assert bench.after_delay().url == f"{A}/y"


# -- delays


def test_the_delay_of_a_second_begins_at_the_end_of_an_answer() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    lease = bench.pass_robots(f"{A}/1")
    bench.clock._now_s += 0.05
    bench.answer(lease)

    wait_s, after = seconds_until_next(bench)

    assert after is not None
    assert wait_s == pytest.approx(1.0, abs=1e-4)


@each_row(("took_s", "delay_s"), [(0.01, 1.0), (0.5, 5.0), (2.0, 20.0), (9.0, 30.0)])
def test_the_delay_of_a_slow_host_is_ten_times_its_answer_up_to_half_a_minute(
    took_s: float, delay_s: float
) -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    lease = bench.pass_robots(f"{A}/1")
    bench.clock._now_s += took_s
    bench.answer(lease)

    wait_s, _ = seconds_until_next(bench)

    assert wait_s == pytest.approx(delay_s, abs=1e-4)


def test_a_crawl_delay_holds_from_robots_txt_on() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2")
    robots = bench.get()
    bench.answer(robots, 200, b"User-agent: *\nCrawl-delay: 8")

    first_s, first = seconds_until_next(bench)
    assert first is not None
    bench.answer(first)
    second_s, _ = seconds_until_next(bench)

    assert [first_s, second_s] == pytest.approx([8.0, 8.0], abs=1e-4)


@pytest.mark.parametrize("status", [200, 404])
def test_one_host_has_one_request_under_way(status: int) -> None:
    bench = a_bench(*(f"{A}/{number}" for number in range(5)))
    lease = bench.pass_robots(f"{A}/0")

    assert bench.lease() is None
    bench.clock._now_s += 100
    assert bench.lease() is None
    bench.answer(lease, status)
    assert bench.lease() is None


def test_no_delay_allows_parallel_requests_to_a_typed_host() -> None:
    bench = a_bench(*(f"{A}/{number}" for number in range(9)), needs_no_delay=True)
    bench.pass_robots(f"{A}/0")

    assert [bench.get().url for _ in range(3)] == [f"{A}/{number}" for number in (1, 2, 3)]
    assert bench.lease() is None, "politeness.per_host is 4"


def test_no_delay_changes_nothing_for_a_host_that_was_not_typed() -> None:
    bench = a_bench(f"{B}/1", f"{B}/2", needs_no_delay=True)
    bench.answer(bench.pass_robots(f"{B}/1"))

    wait_s, _ = seconds_until_next(bench)

    assert wait_s == pytest.approx(1.0)


def test_no_delay_does_not_undo_a_crawl_delay() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", needs_no_delay=True)
    lease = bench.pass_robots(f"{A}/1", b"User-agent: *\nCrawl-delay: 3")
    assert bench.lease() is None
    bench.answer(lease)

    wait_s, _ = seconds_until_next(bench)

    assert wait_s == pytest.approx(3.0)


def test_a_network_that_the_operator_allows_counts_as_typed() -> None:
    bench = a_bench(f"{B}/1", fetch__allow_private=("10.0.0.0/8",), needs_no_delay=True)
    bench.names["b.example"] = ("10.0.0.7",)
    bench.admit(f"{B}/2")
    bench.pass_robots(f"{B}/1")

    assert bench.get().url == f"{B}/2"


# -- addresses


def test_hosts_behind_one_address_are_requested_one_after_the_other() -> None:
    bench = Bench(names=dict.fromkeys(("a.example", "b.example"), (PUBLIC + "8",)))
    bench.admit(f"{A}/1", f"{B}/1")

    first = bench.get()
    assert bench.lease() is None
    bench.answer(first, 404)
    wait_s, second = seconds_until_next(bench)

    assert second is not None
    assert {first.host, second.host} == {"a.example", "b.example"}
    assert wait_s == pytest.approx(0.5)


def test_a_host_with_a_long_delay_does_not_block_its_address() -> None:
    hosts = ("a.example", "b.example", "c.example")
    bench = Bench(names=dict.fromkeys(hosts, (PUBLIC + "8",)))
    bench.admit(*(f"http://{host}/{number}" for number in range(3) for host in hosts))
    requests: list[str] = []

    while len(requests) < 9:
        lease = bench.after_delay()
        if lease.host == "a.example" and lease.purpose is Purpose.PAGE:
            bench.busy(lease, retry_after_s=5000.0)
        else:
            bench.answer(lease, 404)
        requests.append(lease.url)

    assert bench.clock.now_s() < 60
    assert sum("a.example" not in url for url in requests) == 7


def test_a_name_that_is_lost_while_its_host_is_called_lets_the_next_in_line_go() -> None:
    bench = after_a_page(fetch__dns_keep_s=1.0)
    shared = dict.fromkeys(("a.example", "b.example", "c.example"), (PUBLIC + "8",))
    bench.names.update(shared)
    bench.admit(f"{A}/1", f"{B}/1", "http://c.example/1")
    first = bench.get()
    assert bench.lease() is None
    lost = "b.example" if first.host != "b.example" else "c.example"
    bench.names[lost] = ()

    bench.clock._now_s += 2.0
    bench.answer(first, 404)
    bench.clock._now_s += 0.6

    assert bench.after_delay().host in shared


@pytest.mark.parametrize("keep_s", [0.0, 0.2])
def test_a_name_that_is_believed_for_no_time_is_used_once(keep_s: float) -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", fetch__dns_keep_s=keep_s)

    bench.answer(bench.pass_robots(f"{A}/1"))
    bench.answer(bench.after_delay(f"{A}/2"))

    assert bench.looked_up == ["a.example"] * 3


def test_a_name_is_looked_up_again_when_its_time_is_over() -> None:
    bench = a_bench(f"{A}/1", f"{A}/2", fetch__dns_keep_s=300)
    bench.answer(bench.pass_robots(f"{A}/1"))
    bench.clock._now_s += 300
    bench.names["a.example"] = (PUBLIC + "77",)

    assert bench.get(f"{A}/2").address == PUBLIC + "77"


# -- several at once


def ready_for_pages(**values: object) -> Bench:
    """Two hosts with known robots.txt and six pages each, four of them at once in flight."""
    urls = [f"{host}/{number}" for number in range(6) for host in (A, B)]
    typed = ("a.example", "b.example")
    bench = a_bench(*urls, typed=typed, needs_no_delay=True, **values)
    for robots in (bench.get(), bench.get()):
        bench.answer(robots, 404)
    return bench


def test_leases_taken_together_are_those_taken_one_by_one() -> None:
    together = [lease.url for lease in ready_for_pages().scheduler.next_leases(7)]

    one_by_one = ready_for_pages()
    assert together == [one_by_one.get().url for _ in range(7)]
    assert together[:3] == [f"{A}/0", f"{B}/0", f"{A}/1"]


def test_leases_taken_together_keep_to_the_limits() -> None:
    bench = ready_for_pages(limits__max_pages=3)
    assert len(bench.scheduler.next_leases(7)) == 3

    hosts = [lease.host for lease in ready_for_pages().scheduler.next_leases(12)]
    assert hosts == ["a.example", "b.example"] * 4
