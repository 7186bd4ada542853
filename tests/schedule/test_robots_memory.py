"""Parsed robots.txt in memory: bounded in bytes, and those that had to go are read again."""

from __future__ import annotations

import asyncio
from sys import getsizeof

import pytest

from gossamer.records import Lease, Outcome, Purpose
from gossamer.schedule import robots_fetches
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.robots_fetches import RobotsFetches
from schedule.scheduler_bench import HURRIED, KEYS, PUBLIC, Bench

HOSTS = 40


def robots_of(bench: Bench) -> RobotsFetches:
    """A cache of rules on the state of a bench."""
    frontier, settings, clock = bench.frontier, bench.settings, bench.clock
    hosts = HostCache(frontier, KEYS, settings.politeness, clock, (), is_unclean=False)
    return RobotsFetches(frontier, settings, KEYS, clock, hosts)


def answered(bench: Bench, robots: RobotsFetches, host: int, body: bytes) -> None:
    """The answer of a host to robots.txt, as the archive has it."""
    name = f"h{host}.example"
    url = f"http://{name}/robots.txt"
    lease = Lease(host, url, KEYS.of(url), name, PUBLIC + "8", Purpose.ROBOTS)
    report = bench.report(lease, Outcome.FETCHED, status=200, body=body)
    robots.replay(report)


def in_memory(robots: RobotsFetches) -> list[str]:
    return list(robots._accesses)


def rules(host: int, count: int, length: int = 5) -> bytes:
    lines = (f"Disallow: /{number:0{length}d}/{host}\n" for number in range(count))
    return ("User-agent: *\n" + "".join(lines)).encode()


@pytest.mark.parametrize(("count", "length"), [(1, 5), (200, 5), (1, 20_000), (0, 5)])
def test_what_is_held_is_bounded_by_its_size(
    count: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots_fetches, "_ROOM_BYTES", 100_000)
    bench = Bench(HURRIED)
    robots = robots_of(bench)
    for host in range(500):
        answered(bench, robots, host, rules(host, count, length))

    held = in_memory(robots)
    accesses = [robots.access(origin) for origin in held]
    paths = [rule.path for access in accesses if access for rule in access.robots.rules]
    assert sum(map(getsizeof, paths)) < 100_000
    assert held[-1] == "http://h499.example", "the one that came last"
    assert 1 <= len(held) <= 100


def test_rules_that_are_not_held_are_read_from_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_fetches, "_ROOM_BYTES", 5_000)
    bench = Bench(HURRIED)
    robots = robots_of(bench)
    for host in range(HOSTS):
        answered(bench, robots, host, rules(host, 2))
        if host % 7 == 0:
            bench.commit()

    assert len(in_memory(robots)) < HOSTS // 4
    for host in range(HOSTS):
        access = robots.access(f"http://h{host}.example")
        assert access is not None
        assert not access.judge(f"/00001/{host}").allowed
        assert access.judge(f"/00001/{host + 1 if host % 10 != 9 else 'x'}").allowed
        assert in_memory(robots)[-1] == f"http://h{host}.example", "asked for last, it goes last"


def test_an_answer_that_comes_again_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots_fetches, "_ROOM_BYTES", 20_000)
    bench = Bench(HURRIED)
    robots = robots_of(bench)
    answered(bench, robots, 1, rules(1, 2))
    for _ in range(100):
        asyncio.run(bench.wait(1))
        answered(bench, robots, 2, rules(2, 2))

    access = robots.access("http://h2.example")
    assert access is not None
    assert access.at_us == bench.clock.wall_us(), "the last one counts"
    assert in_memory(robots) == ["http://h1.example", "http://h2.example"]
