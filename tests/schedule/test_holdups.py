"""Which hosts hold a crawl up, and why."""

from __future__ import annotations

from gossamer.frontier.rows import HostRow
from gossamer.schedule.holdups import Holdup, holdups
from gossamer.schedule.host_queues import Host, Where


def host(name: str, where: Where, queued: int, **row: object) -> tuple[Host, HostRow]:
    made = Host(name.encode(), name, is_typed=False)
    made.where = where
    return made, HostRow(name, queued=queued, **row)  # type: ignore[arg-type]


def test_the_longest_queues_come_first_and_there_are_three() -> None:
    hosts = [host(f"h{n}", Where.FULL, n) for n in (1, 4, 2, 3)]

    assert [one.host for one in holdups(hosts, 0.0)] == ["h4", "h3", "h2"]


def test_a_delay_is_told_with_the_time_that_is_left() -> None:
    resting = host("h", Where.RESTING, 5)
    resting[0].pace.free_at_s = 12.5
    resting[0].crawl_delay_s = 20.0

    assert holdups([resting], 10.0) == (Holdup("h", 5, "Crawl-delay 20 s", 2.5),)


def test_what_a_host_waits_for_is_named() -> None:
    robots = host("robots", Where.WAITING, 4)
    robots[0].waits_for_robots = True
    name = host("name", Where.WAITING, 3)
    name[0].is_resolving = True
    trouble = host("trouble", Where.RESTING, 2, trouble="connection refused")

    found = holdups([robots, name, trouble], 0.0)

    assert [one.why for one in found] == [
        "waiting for its robots.txt",
        "resolving its name",
        "connection refused",
    ]
