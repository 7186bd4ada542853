"""The figures of a running node: for `status`, the terminal, the history and the web page."""

from __future__ import annotations

import os
from collections import deque
from typing import Final

from gossamer.base.memory import resident_bytes
from gossamer.collection.history import Recorder
from gossamer.frontier.visits.freshness import Freshness
from gossamer.node.figures.moment import CrawlMoment, Recent
from gossamer.node.figures.progress import Progress, Speed, figures_of
from gossamer.node.parts import Parts
from gossamer.records import Report

_RECENT: Final = 5  # outcomes that a terminal shows


class NodeFigures:
    """Reads the parts of a node; changes nothing but its own notes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.began_s = parts.clock.now_s()
        self._speed = Speed()
        self._recent: deque[Recent] = deque(maxlen=_RECENT)
        self._recorder: Recorder | None = None

    def recorder(self) -> Recorder:
        """Begin the history of this run."""
        parts = self._parts
        counts = parts.frontier.counts
        self._recorder = Recorder(
            parts.paths.history, parts.clock, counts, self._memory_bytes, self._freshness
        )
        return self._recorder

    def note(self, report: Report) -> None:
        """A page was requested; the last few are shown."""
        self._recent.append(Recent.of(report))

    @property
    def ran_s(self) -> float:
        """Since this run began."""
        return self._parts.clock.now_s() - self.began_s

    def progress(self, state: str) -> Progress:
        parts, counts = self._parts, self._parts.frontier.counts
        retries = parts.scheduler.retries_left()
        pages_per_s, bytes_per_s = self._speed.note(
            parts.clock.now_s(), counts.pages_had + counts.redirects, counts.bytes_had
        )
        return Progress(
            state=state,
            **figures_of(counts, has_index=parts.index is not None),
            under_way=parts.pool.under_way,
            hosts_waiting=parts.scheduler.hosts_waiting,
            pages_per_s=round(pages_per_s, 2),
            bytes_per_s=round(bytes_per_s, 1),
            wall_s=round(self.ran_s, 1),
            ran_s=round(self._recorder.ran_s, 2) if self._recorder else 0.0,
            memory_bytes=self._memory_bytes(),
            troubles=parts.scheduler.troubles(),
            retrying=retries.urls if retries else 0,
            retry_in_s=round(retries.next_in_s, 1) if retries else 0.0,
            focus=parts.focus.figures() if parts.focus is not None else None,
            notified=parts.notifier.figures() if parts.notifier else {},
            freshness=fresh.as_json() if (fresh := self._freshness()) is not None else None,
        )

    def moment(self, state: str, *, is_closed: bool) -> CrawlMoment:
        """The figures with limits, blocking hosts and the last outcomes, for a terminal."""
        settings = self._parts.settings
        return CrawlMoment(
            progress=self.progress(state),
            limits=settings.limits,
            matches=self._parts.scheduler.allowance.matches,
            holdups=self._parts.scheduler.holdups(),
            recent=tuple(self._recent),
            closed_hours=settings.node.hours if is_closed else "",
        )

    def _memory_bytes(self) -> int | None:
        return resident_bytes((os.getpid(), *self._parts.pool.pids))

    def _freshness(self) -> Freshness | None:
        revisits = self._parts.revisits
        return revisits.figures if revisits is not None else None
