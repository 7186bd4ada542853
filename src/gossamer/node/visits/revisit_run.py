"""`crawl --revisit`: visit every known page once more.

A row of META says when the revisit began and which pages it is for. All rows of URLs are walked, in
slices, and each page whose last visit was before that moment gets into the queue of its host. So a
revisit that was stopped or killed is resumed by walking again: what was visited since it began is
left out, and so is what waits. At the end the row is deleted.

Visited are fetched pages, with redirects and pages that are gone; URLs that failed; and pages that
were refused after they had been fetched, by robots.txt, their type or size. A page that the rules
of the crawl forbid now is not visited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.base.packing import pack, unpack
from gossamer.frontier.counts import FOUND_BY_VISITS
from gossamer.frontier.frontier import AdmissionCheck, Frontier
from gossamer.frontier.meta_keys import REVISIT_KEY
from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import StateTable, Store
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.records import Found

_AT_ONCE: Final = 1_000  # rows, some 10 ms
_PENDING_ROWS: Final = 20_000  # not committed yet; writing more of them would block the event loop
_PAUSE_S: Final = 0.005  # between two slices, for requests
_COMMIT_WAIT_S: Final = 0.05
_WALKED: Final = frozenset({Standing.FETCHED, Standing.FAILED, Standing.REFUSED})


class RevisitRun:
    """One revisit: of this run, or of an earlier one that did not end."""

    def __init__(
        self,
        frontier: Frontier,
        store: Store,
        judge: AdmissionCheck,
        clock: Clock,
        chosen: RevisitFilter,
        began_us: int,
        before: dict[str, int],
        *,
        is_resumed: bool,
    ) -> None:
        """`before`: the sums of visits when it began."""
        self._frontier = frontier
        self._store = store
        self._judge = judge
        self._clock = clock
        self._chosen = chosen
        self.began_us = began_us
        self._before = before
        self.is_resumed = is_resumed
        self.is_planning = True

    def found(self) -> dict[str, int]:
        """What its visits have found so far, and how many pages are new since it began."""
        counts = self._frontier.counts
        return {
            name: getattr(counts, name) - self._before.get(name, 0)
            for name in (*FOUND_BY_VISITS, "known")
        }

    async def keep_up(self, on_chosen: Callable[[], None]) -> None:
        """Choose all pages, then return. `on_chosen` is called when visits wait."""
        start: bytes | None = b""
        while start is not None:
            if self._frontier.pending.size > _PENDING_ROWS:
                await self._clock.sleep_until(self._clock.now_s() + _COMMIT_WAIT_S)
                continue
            start = self.choose_some(start)
            on_chosen()
            await self._clock.sleep_until(self._clock.now_s() + _PAUSE_S)
        self.is_planning = False
        on_chosen()

    def choose_all(self) -> None:
        """The same at once, for a dry run."""
        start: bytes | None = b""
        while start is not None:
            start = self.choose_some(start)
        self.is_planning = False

    def choose_some(self, start: bytes) -> bytes | None:
        """Choose among some rows from a key on; where to continue, None at the end."""
        rows = self._store.scan(StateTable.URL, start, None, _AT_ONCE)
        for key, packed in rows:
            if standing_of(packed) in _WALKED:
                self._choose(key)
        return rows[-1][0] + b"\0" if rows else None

    def _choose(self, key: bytes) -> None:
        row = self._frontier.find(key)  # what the state says may be older
        if row is None or not self._is_due(row):
            return
        found = Found(row.url, key, row.depth, row.via, row.redirects)
        if row.standing != Standing.FETCHED:
            self._frontier.retry([found])
        elif self._judge(found) is None:
            self._frontier.visit_again(key)

    def _is_due(self, row: UrlRow) -> bool:
        last_us = max(row.at_us, row.missed_us)
        before_us = self.began_us - round(self._chosen.older_than_s * 1e6)
        return last_us < before_us and self._chosen.covers(row.url)

    def finish(self) -> None:
        """A run ends: if all was visited, the next `--revisit` begins anew."""
        if not self.is_planning and not self._frontier.counts.revisits:
            self._frontier.pending.delete(StateTable.META, REVISIT_KEY)


def revisit_run(
    frontier: Frontier,
    store: Store,
    judge: AdmissionCheck,
    clock: Clock,
    wanted: RevisitFilter | None,
) -> RevisitRun | None:
    """The revisit that is wanted, or that an earlier run did not end; else None. The next commit
    keeps when it began."""
    row = store.find(StateTable.META, REVISIT_KEY)
    if row is not None:
        began_us, values, before = unpack(row)
        stored = RevisitFilter.of_values(values)
        if wanted is None or wanted == stored:
            given = (frontier, store, judge, clock, stored, began_us, before)
            return RevisitRun(*given, is_resumed=True)
    if wanted is None:
        return None
    counts, began_us = frontier.counts, clock.wall_us()
    before = {name: getattr(counts, name) for name in (*FOUND_BY_VISITS, "known")}
    frontier.pending.put(StateTable.META, REVISIT_KEY, pack([began_us, wanted.values(), before]))
    return RevisitRun(frontier, store, judge, clock, wanted, began_us, before, is_resumed=False)
