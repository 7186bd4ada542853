"""No site and no range of addresses holds all connections while others wait."""

from __future__ import annotations

import asyncio

import pytest

from gossamer.records import Lease, Outcome, Purpose
from gossamer.schedule.connection_shares import ConnectionShares, range_of
from gossamer.schedule.host import Host
from gossamer.settings import Politeness
from schedule.scheduler_bench import Bench
from schedule.virtual_run import Reply, VirtualRun, grouped


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("10.1.2.3", "10.1.2.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_the_range_of_an_address(address: str, found: str) -> None:
    assert range_of(address) == found


def test_a_site_that_is_alone_may_have_all_connections() -> None:
    shares = ConnectionShares(8)
    for _ in range(7):
        shares.begin("a.example", "9.9.9.9")

    assert shares.over("a.example", "9.9.9.9", has_others=False) is None


def test_a_site_has_half_of_the_connections_while_others_wait() -> None:
    shares = ConnectionShares(8)
    shares.begin("b.example", "8.8.8.8")
    for number in range(4):
        assert shares.over("a.example", f"9.9.{number}.9", has_others=True) is None
        shares.begin("a.example", f"9.9.{number}.9")

    assert shares.over("a.example", "9.9.4.9", has_others=True) == "a.example"
    assert shares.over("a.example", "9.9.4.9", has_others=False) is None


def test_a_range_has_half_of_the_connections_whatever_its_sites_are_called() -> None:
    shares = ConnectionShares(8)
    shares.begin("b.example", "8.8.8.8")
    for number in range(4):
        shares.begin(f"s{number}.example", f"9.9.9.{number}")

    assert shares.over("s9.example", "9.9.9.9", has_others=True) == "9.9.9.0/24"


def test_a_held_host_is_freed_by_the_end_of_a_request() -> None:
    shares = ConnectionShares(2)
    host = Host(b"12345678", "h.a.example", Politeness(), site="a.example")
    shares.begin("a.example", "9.9.9.9")
    shares.hold("a.example", host)

    assert shares.end("a.example", "9.9.9.9") == [host]
    assert not shares.end("a.example", "9.9.9.9")


def slow(*slow_sites: str, took_s: float) -> object:
    def web(bench: Bench, lease: Lease) -> Reply:
        is_slow = lease.host.endswith(slow_sites)
        return Reply(
            took_s if is_slow else 0.1,
            lambda each: bench.report(each, Outcome.FETCHED, status=200),
        )

    return web


def test_slow_hosts_of_one_site_do_not_hold_all_connections() -> None:
    names = {f"h{n}.slow.example": (f"9.9.{n}.9",) for n in range(64)}
    bench = Bench(names={**names, "good.example": ("8.8.8.8",)}, values={"fetch.connections": 16})
    bench.admit(*(f"http://{name}/" for name in names))
    bench.admit(*(f"http://good.example/{number}" for number in range(60)))

    run = VirtualRun(bench, slow("slow.example", took_s=60.0), connections=16)  # type: ignore[arg-type]
    asyncio.run(run.until(70.0))

    pages = [one for one in bench.requests if one.lease.purpose is Purpose.PAGE]
    assert len(grouped(pages, lambda lease: lease.host)["good.example"]) >= 50


def test_a_crawl_of_one_site_uses_all_connections() -> None:
    names = {f"h{n}.only.example": (f"9.9.{n}.9",) for n in range(64)}
    bench = Bench(
        names={**names},
        values={"fetch.connections": 16, "politeness.address_delay_s": 0},
    )
    bench.admit(*(f"http://{name}/" for name in names))

    leases: list[Lease] = []
    while len(leases) < 16 and (lease := bench.lease()) is not None:
        leases.append(lease)

    assert len(leases) == 16
