"""The figures of a running crawl, for the terminal, `status` and the web page."""

from __future__ import annotations

import os
import sys
from collections import deque
from dataclasses import dataclass, field, fields
from typing import Any

from gossamer.base.answer_class import count_classes
from gossamer.frontier.counts import FOUND_BY_VISITS, Counts


@dataclass(frozen=True, slots=True)
class Progress:
    """The figures at one moment."""

    state: str  # "running", "paused", "stopping", "done"
    fetched: int
    redirects: int
    failed: int
    refused: int
    queued: int
    known: int
    bytes: int
    links: int
    unchanged: int
    duplicates: int
    indexed: int
    under_way: int
    hosts_waiting: int
    pages_per_s: float
    bytes_per_s: float
    wall_s: float
    refused_by: dict[str, int] = field(default_factory=dict)
    by_status: dict[str, int] = field(default_factory=dict)
    by_class: dict[str, int] = field(default_factory=dict)  # see answer_class.py
    ran_s: float = 0.0  # over all runs of the crawl; `wall_s` is of this run
    memory_bytes: int | None = None  # of all its processes; None if unknown
    by_depth: dict[str, int] | None = None  # fetched pages; None if not counted
    troubles: tuple[str, ...] = ()
    dropped: int = 0  # links to new hosts beyond the budgets, not stored
    # If only retries are left: the number of waiting URLs, and the seconds until the first retry.
    retrying: int = 0
    retry_in_s: float = 0.0
    # Of a crawl that visits pages again, and of a collection that had one
    # (`frontier/visits/freshness.py`); else None.
    freshness: dict[str, Any] | None = None
    # Of a crawl for a topic: judged and relevant pages, and their share (harvest rate); else None.
    focus: dict[str, Any] | None = None
    # What the webhook and the command have got (`node/notify/positions.py`); empty without them.
    notified: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Visits of pages that were fetched before, what they found, and the pages that wait for one.
    visited: dict[str, int] = field(default_factory=dict)
    hot: int = 0  # fetched pages whose importance reaches the threshold
    evicted: int = 0  # pages that left for better ones, each time


def figures_of(counts: Counts, *, has_index: bool = True) -> dict[str, Any]:
    """All figures that come from the sums, as a copy."""
    return {
        "fetched": counts.fetched,
        "redirects": counts.redirects,
        "failed": counts.failed,
        "refused": counts.refused,
        "queued": counts.queued,
        "known": counts.known,
        "bytes": counts.size_bytes,
        "links": counts.links,
        "unchanged": counts.unchanged,
        "duplicates": counts.duplicates,
        "indexed": counts.indexed if has_index else 0,
        "dropped": counts.dropped,
        "hot": counts.hot,
        "evicted": counts.evicted,
        "refused_by": dict(counts.by_reason),
        "by_status": dict(counts.by_status),
        "by_class": count_classes(
            counts.by_status, failed=counts.failed, refused=counts.refused, queued=counts.queued
        ),
        "by_depth": None if counts.by_depth is None else dict(counts.by_depth),
        "visited": {name: getattr(counts, name) for name in ("revisits", *FOUND_BY_VISITS)},
    }


class Speed:
    """Pages and bytes per second over the last seconds."""

    def __init__(self, window_s: float = 10.0) -> None:
        self._window_s = window_s
        self._points: deque[tuple[float, int, int]] = deque()

    def note(self, now_s: float, pages: int, size_bytes: int) -> tuple[float, float]:
        points = self._points
        points.append((now_s, pages, size_bytes))
        while len(points) > 2 and points[0][0] < now_s - self._window_s:
            points.popleft()
        began_s, first_pages, first_bytes = points[0]
        took_s = now_s - began_s
        if took_s <= 0:
            return 0.0, 0.0
        return (pages - first_pages) / took_s, (size_bytes - first_bytes) / took_s


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a crawl, as `crawl --json` prints it."""

    fetched: int
    failed: int
    refused: int
    unchanged: int
    duplicates: int
    known: int
    queued: int
    redirects: int
    bytes: int
    links: int
    indexed: int
    wall_s: float
    cpu_s: float
    peak_rss_mb: float
    stopped: str
    by_reason: dict[str, int]
    by_status: dict[str, int]
    by_class: dict[str, int]
    by_depth: dict[str, int] | None
    dropped: int = 0
    visited: dict[str, int] = field(default_factory=dict)
    hot: int = 0  # fetched pages whose importance reaches the threshold
    evicted: int = 0  # pages that left for better ones, each time

    def as_json(self) -> dict[str, Any]:
        names = [f.name for f in fields(self)]
        return {"schema": 1, **{name: getattr(self, name) for name in names}}


def summarise(counts: Counts, began_s: float, ended_s: float, stopped: str) -> Summary:
    figures = figures_of(counts)
    del figures["refused_by"]  # here it has its name from the sums
    return Summary(
        **figures,
        wall_s=round(ended_s - began_s, 3),
        cpu_s=round(cpu_s(), 3),
        peak_rss_mb=round(peak_rss_mb(), 1),
        stopped=stopped,
        by_reason=dict(counts.by_reason),
    )


def cpu_s() -> float:
    """CPU time of this process and of the child processes it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def peak_rss_mb() -> float:
    """The peak memory of this process; 0 if the system does not say."""
    if sys.platform == "win32":
        return 0.0
    import resource  # missing on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
