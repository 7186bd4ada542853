"""One moment of a running crawl, with all that a person who watches it wants to see."""

from __future__ import annotations

from typing import NamedTuple

from gossamer.base.values import dataclass
from gossamer.node.progress import Progress
from gossamer.records import Report
from gossamer.schedule.holdups import Holdup
from gossamer.settings import Limits


class Recent(NamedTuple):
    """An outcome that has just come."""

    url: str
    outcome: str
    status: int
    reason: str

    @classmethod
    def of(cls, report: Report) -> Recent:
        return cls(report.lease.url, report.outcome, report.status, report.reason or "")


@dataclass(frozen=True, slots=True)
class Moment:
    """The figures, the limits they run against, who holds the crawl up, and what came last."""

    progress: Progress
    limits: Limits
    matches: int = 0  # what `limits.max_matches` counts
    holdups: tuple[Holdup, ...] = ()
    recent: tuple[Recent, ...] = ()  # the newest last
    closed_hours: str = ""  # the hours in which it may request, when it is none of them now

    def seconds_left(self) -> tuple[float, bool] | None:
        """How long it still takes, and whether that is known; None where nothing can be said.

        A limit says when it ends, at the speed of the last seconds. Without one the queue says how
        long it takes at the least: more URLs may be found.
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
