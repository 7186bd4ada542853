"""Which hosts hold a crawl up, and why."""

from __future__ import annotations

from gossamer.frontier.rows import HostRow
from gossamer.schedule.holdups import Holdup, holdups
from gossamer.schedule.host import Host
from gossamer.schedule.moves import Queue
from gossamer.settings import Politeness


def host(name: str, queue: Queue, queued: int, **row: object) -> tuple[Host, HostRow]:
    made = Host(name.encode(), name, Politeness())
    made.queue = queue
    return made, HostRow(name, queued=queued, **row)  # type: ignore[arg-type]


def test_the_longest_queues_come_first_and_there_are_three() -> None:
    hosts = [host(f"h{n}", Queue.FULL, n) for n in (1, 4, 2, 3)]

    assert [one.host for one in holdups(hosts, 0.0)] == ["h4", "h3", "h2"]


def test_a_delay_is_shown_with_the_time_that_is_left() -> None:
    delayed = host("h", Queue.DELAYED, 5)
    delayed[0].rules_entered(20.0)
    delayed[0].delayed_until(12.5)

    assert holdups([delayed], 10.0) == (Holdup("h", 5, "Crawl-delay 20 s", 2.5),)


def test_what_a_host_waits_for_is_named() -> None:
    robots = host("robots", Queue.ROBOTS, 4)
    robots[0].robots_needed("http://robots")
    name = host("name", Queue.NAME, 3)
    name[0].name_requested()
    trouble = host("trouble", Queue.DELAYED, 2, trouble="connection refused")

    found = holdups([robots, name, trouble], 0.0)

    assert [one.why for one in found] == [
        "waiting for its robots.txt",
        "resolving its name",
        "connection refused",
    ]
