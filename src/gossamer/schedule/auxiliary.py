"""Auxiliary fetches: robots.txt and sitemaps, which are requested so that pages can be.

Rules that a robots.txt brings name sitemaps; here the two meet. Nothing here moves a host: each
method returns the hosts that it changed, in the order in which they are to be moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gossamer.records import Lease, Purpose, Reason, Report
from gossamer.schedule.host import Host
from gossamer.schedule.robots_fetches import FetchedRobots, RobotsAnswer, RobotsFetches
from gossamer.schedule.sitemap_fetches import SitemapFetches


class AuxiliaryFetches:
    """The fetches of robots.txt and sitemaps."""

    def __init__(self, robots: RobotsFetches, sitemaps: SitemapFetches) -> None:
        self.robots = robots
        self.sitemaps = sitemaps

    def learn_robots(self, host: Host, report: Report) -> Sequence[Host] | None:
        """A fetch of a robots.txt ended. None if the host is in trouble."""
        answer = self.robots.learn(host, report)
        return None if answer is None else self._concluded([answer])

    def came_back(self, host: Host, lease: Lease) -> None:
        """The lease was not carried out: the fetch is to be made again."""
        if lease.purpose is Purpose.ROBOTS:
            self.robots.came_back(host, lease)
        else:
            self.sitemaps.came_back(host, lease)

    def abandon(self, host: Host, reason: Reason, detail: str, at_us: int) -> Sequence[Host]:
        """Nothing of a host can be requested."""
        changed = self._concluded(self.robots.abandon(host, detail))
        self.sitemaps.abandon(host, reason, detail, at_us)
        return changed

    def share_robots(self, answer: FetchedRobots) -> Sequence[Host]:
        """Another crawler has fetched a robots.txt."""
        return self._concluded([self.robots.share(answer)])

    def replay(self, report: Report) -> None:
        """An answer from the archive that was not committed before a kill."""
        if report.lease.purpose is Purpose.ROBOTS:
            self._concluded([self.robots.replay(report)])
        elif report.lease.purpose is Purpose.SITEMAP:
            self.sitemaps.replay(report)

    def _concluded(self, answers: Iterable[RobotsAnswer]) -> list[Host]:
        changed: list[Host] = []
        for changed_now, origin, access in answers:
            if access is not None:
                changed += self.sitemaps.named_by_robots(origin, access)
            changed += changed_now
        return changed
