"""Holdups: the hosts that slow a crawl down, and why.

A crawl of few hosts is mostly as slow as its slowest host. Of the hosts that may not be requested
this moment, those with the longest queues are listed, each with the reason and the time until its
next request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest

from gossamer.frontier.rows import HostRow
from gossamer.schedule.host import Host
from gossamer.schedule.moves import Queue


@dataclass(frozen=True, slots=True)
class Holdup:
    """A host with queued URLs that may not be requested now. `wait_s` is None if it does
    not wait for a time."""

    host: str
    queued: int
    why: str
    wait_s: float | None = None


def holdups(
    hosts: Iterable[tuple[Host, HostRow]], now_s: float, limit: int = 3
) -> tuple[Holdup, ...]:
    """The hosts with most queued URLs among those given, longest queue first."""
    longest = nlargest(limit, hosts, key=lambda pair: pair[1].to_request + pair[1].waiting)
    return tuple(_holdup(host, row, now_s) for host, row in longest)


def _holdup(host: Host, row: HostRow, now_s: float) -> Holdup:
    queued = max(row.to_request + row.waiting - host.pace.under_way, 0)
    is_delayed = host.queue in (Queue.DELAYED, Queue.GIVEN_UP)
    free_at_s = max(host.pace.free_at_s, host.called_by.pace.free_at_s if host.called_by else 0.0)
    wait_s = round(max(free_at_s - now_s, 0.0), 1) if is_delayed else None
    return Holdup(host.name, queued, _why(host, row), wait_s)


def _why(host: Host, row: HostRow) -> str:
    if host.is_resolving:
        return "resolving its name"
    if row.trouble:
        return row.trouble
    if host.pace.busy_in_a_row:
        return "it answered 429 or 503"
    if host.waits_for_robots:
        return "waiting for its robots.txt"
    if host.waits_for is not None:
        return "another host at its address comes first"
    if host.queue is Queue.FULL:
        return "waiting for its response"
    return f"Crawl-delay {host.crawl_delay_s:g} s" if host.crawl_delay_s else "delay"
