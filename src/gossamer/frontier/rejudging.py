"""Judge known URLs again after the rules have changed: scope, bans, traps, depth.

Only what was decided by the URL alone is judged again: robots.txt and headers have not changed.
"""

from __future__ import annotations

from typing import Final

from gossamer.frontier.admitting import Admitting, Refusal, Rules
from gossamer.frontier.levels.guard import TrapGuard
from gossamer.frontier.outcomes import Outcomes
from gossamer.frontier.rows import JUDGED_ALONE, Standing, UrlRow, standing_of
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable
from gossamer.frontier.url_queues import UrlQueues
from gossamer.records import Found, Reason
from gossamer.urls.keys import KEY_BYTES

_AT_ONCE: Final = 1_000  # some 10 ms
_JUDGED: Final = (Standing.QUEUED, Standing.REFUSED, Standing.REFUSED_FOR_NOW)


class Rejudging:
    """Queues what was refused and refuses what is queued, where the rules now say so."""

    def __init__(
        self,
        state: State,
        queues: UrlQueues,
        admitting: Admitting,
        outcomes: Outcomes,
        rules: Rules,
        guard: TrapGuard,
    ) -> None:
        self._store = state.store
        self._pending = state.pending
        self._counts = state.counts
        self._queues = queues
        self._admitting = admitting
        self._outcomes = outcomes
        self._rules = rules
        self._guard = guard

    def all(self, now_us: int) -> int:
        """Judge all URLs; how many moved."""
        moved = self.uncommitted(now_us)
        start: bytes | None = b""
        while start is not None:
            some, start = self.some(start, now_us)
            moved += some
        return moved

    def uncommitted(self, now_us: int) -> int:
        """Judge what no commit has written yet; `some` sees all else. How many moved."""
        keys = self._pending.keys(StateTable.URL)
        return sum(self._judge_again(key, now_us) for key in keys)

    def of_host(self, host_key: bytes, now_us: int) -> int:
        """Judge all committed URLs of a host; how many moved."""
        moved, start, stop = 0, host_key, host_key + b"\xff" * (KEY_BYTES - len(host_key) + 1)
        while rows := self._store.scan(StateTable.URL, start, stop, _AT_ONCE):
            moved += sum(self._judge_again(key, now_us) for key, _ in rows)
            start = rows[-1][0] + b"\0"
        return moved

    def some(self, start: bytes, now_us: int) -> tuple[int, bytes | None]:
        """Judge some URLs from a key on: how many moved, and where to continue."""
        rows = self._store.scan(StateTable.URL, start, None, _AT_ONCE)
        moved = sum(self._judge_again(key, now_us) for key, _ in rows)
        return moved, rows[-1][0] + b"\0" if rows else None

    def _judge_again(self, key: bytes, now_us: int) -> bool:
        packed = self._pending.find(StateTable.URL, key)
        standing = standing_of(packed) if packed else Standing.FETCHED
        if packed is None or (standing not in _JUDGED and not self._has_visits):
            return False
        row = UrlRow.decode(packed)
        if standing not in _JUDGED:
            return self._judge_visit(row, key, now_us)
        if standing != Standing.QUEUED and row.reason not in JUDGED_ALONE:
            return False
        nofollow = row.reason == Reason.NOFOLLOW
        found = Found(row.url, key, row.depth, row.via, row.redirects, is_nofollow=nofollow)
        verdict = self._rules.judge(found)
        if (verdict is None) == (standing == Standing.QUEUED):
            return False
        if verdict is None:
            if row.reason == Reason.TRAP and self._guard.is_refused(key, row.url, row.run):
                return False
            self._admitting.lift(row, found)
        elif self._queues.is_leased(row, key):
            return False  # it is being requested, and its report says how that ended
        else:
            after = self._outcomes.refuse(key, *verdict, now_us)
            if self._rules.on_refused is not None:
                self._rules.on_refused([Refusal(after.url, *verdict, after.depth, now_us)])
        return True

    @property
    def _has_visits(self) -> bool:
        return bool(self._counts.revisits)

    def _judge_visit(self, row: UrlRow, key: bytes, now_us: int) -> bool:
        """A fetched page that may not be requested any more loses its visit."""
        if not row.waits or self._queues.is_leased(row, key):
            return False
        verdict = self._rules.judge(Found(row.url, key, row.depth, row.via, row.redirects))
        if verdict is None:
            return False
        self._outcomes.refuse(key, *verdict, now_us)
        return True
