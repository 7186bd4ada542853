"""The part of a node that acts on the importance of fetched pages."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.node.keeping.hot_pages import HotPages
from gossamer.node.keeping.importance import LiveImportance
from gossamer.node.keeping.keeper import Keeper
from gossamer.records import Outcome, Report


@dataclass(slots=True)
class Keeping:
    """Learns from reports, and acts before each commit. It does nothing while it is not ready."""

    importance: LiveImportance
    keeper: Keeper | None = None
    hot: HotPages | None = None
    is_ready: bool = False  # what earlier runs learned has been read
    is_over: bool = False  # the threshold is reached

    def learn(self, report: Report) -> None:
        """A page was fetched, and the state knows of it."""
        if not self.is_ready or report.outcome is not Outcome.FETCHED:
            return
        if report.redirect or report.is_unchanged:
            return
        found = [one.key for one in report.found]
        self.importance.learn(report.lease.key, found, report.repeated, report.status)
        if self.importance.is_full:
            self._settle()

    def _settle(self) -> None:
        slots = self.importance.settle()
        if self.keeper is not None:
            self.keeper.note(slots)

    def before_commit(self) -> None:
        """Let pages leave, and look at hot ones. Raises DiskFault."""
        if not self.is_ready:
            return
        self._settle()
        if self.keeper is not None:
            self.keeper.before_commit()
        if self.hot is not None:
            self.is_over = self.hot.look() or self.is_over

    def has_more(self) -> bool:
        """Before a crawl ends: whether pages that left are to be requested again."""
        if not self.is_ready or self.keeper is None:
            return False
        self._settle()
        return self.keeper.bring_back() > 0

    def finish(self) -> None:
        """The last commits follow. Raises DiskFault."""
        if not self.is_ready:
            return
        self._settle()
        if self.keeper is not None:
            self.keeper.finish()
        if self.hot is not None:
            self.hot.finish()
        self.is_ready = False
