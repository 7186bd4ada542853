"""Sites take turns, however many hosts they have."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from gossamer.records import Lease, Outcome, Purpose
from gossamer.schedule.dns_queue import DnsQueue
from gossamer.schedule.host import Host
from gossamer.schedule.ready.ready_hosts import ReadyHosts
from gossamer.settings import Politeness
from schedule.scheduler_bench import PUBLIC, Bench
from schedule.virtual_run import Reply, VirtualRun


@dataclass
class Ready:
    site: str
    turn: int


def take_all(ready: ReadyHosts[Ready]) -> list[str]:
    taken = []
    while (host := ready.take()) is not None:
        taken.append(host.site)
    return taken


def test_a_site_with_many_hosts_gets_no_more_turns_than_one_with_few() -> None:
    ready: ReadyHosts[Ready] = ReadyHosts()
    for turn in range(100):
        ready.add(Ready("farm", turn), b"\0")
    for turn in range(100, 104):
        ready.add(Ready("good", turn), b"\1")

    assert take_all(ready)[:8] == ["farm", "good"] * 4


def test_within_a_site_the_first_place_comes_first() -> None:
    ready: ReadyHosts[Ready] = ReadyHosts()
    hosts = [Ready("a", 1), Ready("a", 2), Ready("a", 3)]
    for host, place in zip(hosts, (b"3", b"1", b"2"), strict=True):
        ready.add(host, place)

    assert [ready.take() for _ in range(3)] == [hosts[1], hosts[2], hosts[0]]


def test_a_host_that_went_elsewhere_is_passed_over() -> None:
    ready: ReadyHosts[Ready] = ReadyHosts()
    gone = Ready("a", 1)
    ready.add(gone, b"1")
    gone.turn = 2

    assert not ready
    assert ready.take() is None


def test_a_host_that_is_moved_again_and_again_while_it_is_ready_takes_no_more_memory() -> None:
    ready: ReadyHosts[Ready] = ReadyHosts()
    hosts = [Ready("a", 0) for _ in range(10)]
    held = sys.getrefcount(hosts[0])
    for turn in range(5_000):
        hosts[turn % 10].turn = turn
        ready.add(hosts[turn % 10], turn.to_bytes(2, "big"))

    assert sys.getrefcount(hosts[0]) - held <= 40
    assert [ready.take() for _ in range(11)] == [*hosts, None]


def test_a_site_that_was_idle_gains_no_turns_by_that() -> None:
    ready: ReadyHosts[Ready] = ReadyHosts()
    for turn in range(50):
        ready.add(Ready("busy", turn), b"1")
    for _ in range(20):
        ready.take()
    for turn in range(100, 110):
        ready.add(Ready("new", turn), b"0")
    ready.forget_idle()

    assert take_all(ready)[:8].count("new") <= 5


def a_host(site: str, number: int) -> Host:
    return Host(b"%08d" % number, f"h{number}.{site}", Politeness(), site=site)


def test_names_of_one_site_do_not_keep_other_names_waiting() -> None:
    names = DnsQueue()
    for number in range(1000):
        names.add(a_host("farm.example", number))
    names.add(a_host("good.example", 5000))

    first = names.take()
    later = names.take()

    assert [host.site for host in first].count("farm.example") == 8
    assert "good.example" in [host.site for host in first]
    assert later == []
    names.done(first[0])
    assert len(names.take()) == 1


def test_a_host_farm_does_not_starve_a_good_host() -> None:
    good = "http://good.example"
    bench = Bench(
        names={"good.example": (PUBLIC + "1",)},
        values={
            "frontier.hosts_per_site": 3000,
            "politeness.address_delay_s": 0,
            "fetch.connections": 16,
        },
    )
    for number in range(2000):
        bench.names[f"h{number}.farm.example"] = (f"9.9.{number // 250}.{number % 250}",)
    bench.admit(*(f"http://h{number}.farm.example/" for number in range(2000)))
    bench.admit(*(f"{good}/{number}" for number in range(30)))

    def web(bench: Bench, lease: Lease) -> Reply:
        took_s = 0.1 if lease.host == "good.example" else 5.0
        return Reply(took_s, lambda each: bench.report(each, Outcome.FETCHED, status=200))

    asyncio.run(VirtualRun(bench, web, connections=16).until(60.0))

    pages = [one for one in bench.requests if one.lease.purpose is Purpose.PAGE]
    assert sum(one.lease.host == "good.example" for one in pages) >= 25
