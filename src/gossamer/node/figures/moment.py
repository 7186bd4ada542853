"""A snapshot of a running crawl for a person who watches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gossamer.node.figures.progress import Progress
from gossamer.records import Report
from gossamer.schedule.holdups import Holdup
from gossamer.settings import Limits


class Recent(NamedTuple):
    """A recent outcome."""

    url: str
    outcome: str
    status: int
    reason: str

    @classmethod
    def of(cls, report: Report) -> Recent:
        return cls(report.lease.url, report.outcome, report.status, report.reason or "")


@dataclass(frozen=True, slots=True)
class CrawlMoment:
    """The figures, the limits, the hosts that hold the crawl up, and the last outcomes."""

    progress: Progress
    limits: Limits
    matches: int = 0  # the count that `limits.max_matches` limits
    holdups: tuple[Holdup, ...] = ()
    recent: tuple[Recent, ...] = ()  # newest last
    closed_hours: str = ""  # the hours in which requests are allowed, if it is not one of them now

    def seconds_left(self) -> tuple[float, bool] | None:
        """Estimated seconds to the end, and whether that is exact; None if unknown.

        A limit gives the end at the speed of the last seconds. Without a limit the queue gives a
        minimum, because more URLs may be found.
        """
        progress, limits = self.progress, self.limits
        if progress.state != "running" or self.closed_hours:
            return None
        ends = []
        if limits.max_time_s:
            ends.append(limits.max_time_s - progress.wall_s)
        if limits.max_pages and progress.pages_per_s:
            ends.append((limits.max_pages - progress.fetched) / progress.pages_per_s)
        if limits.max_bytes and progress.bytes_per_s:
            ends.append((limits.max_bytes - progress.bytes) / progress.bytes_per_s)
        if ends:
            return max(min(ends), 0.0), True
        if progress.queued and progress.pages_per_s:
            return progress.queued / progress.pages_per_s, False
        return None
