"""The banned list of a hub. Units get it whole when its version has changed, also during a job.

Lines are those of `gossamer ban` (`urls/bans.py`). The caller holds the lock of the hub.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gossamer.base.clock import Clock
from gossamer.errors import UsageError
from gossamer.fleet.hub.rows import BanRow, NumberRow
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.protocol import BannedLines
from gossamer.urls.bans import BanList

MOST_LINES: Final = 1_000  # as many as a running crawl takes
_LONGEST_LINE: Final = 2_000
_VERSION: Final = "bans_version"


class HubBans:
    """The lines and their version."""

    def __init__(self, state: HubState, clock: Clock, audit: AuditLog) -> None:
        self._state = state
        self._clock = clock
        self._audit = audit

    @property
    def version(self) -> int:
        row = self._state.numbers.get(_VERSION)
        return row.value if row else 0

    def lines(self) -> BannedLines:
        rows = sorted(self._state.bans, key=lambda row: (row.made_us, row.line))
        return BannedLines(version=self.version, lines=tuple(row.line for row in rows))

    def change(
        self, who: str, added: Iterable[str] = (), lifted: Iterable[str] = (), note: str = ""
    ) -> bool:
        """Add and lift lines. Return whether the list has changed. Raises UsageError, and then
        nothing has changed."""
        gone = [line.strip() for line in lifted if line.strip()]
        new = [line for text in added if (line := text.strip()) and line not in self._state.bans]
        for line in gone:
            if line not in self._state.bans:
                raise UsageError(f"{line[:80]!r} is not banned, so the ban cannot be removed")
        if any(len(line) > _LONGEST_LINE for line in new):
            raise UsageError(f"a ban is longer than {_LONGEST_LINE:,} characters")
        BanList(new)
        if len(self._state.bans) + len(set(new)) - len(set(gone)) > MOST_LINES:
            raise UsageError(f"a hub has at most {MOST_LINES:,} bans")
        if not new and not gone:
            return False
        for line in gone:
            self._state.bans.delete(line)
        for line in new:
            now_us = self._clock.wall_us()
            self._state.bans.put(BanRow(line=line, made_us=now_us, by=who, note=note[:500]))
        self._state.numbers.put(NumberRow(name=_VERSION, value=self.version + 1))
        self._audit.note(who, "ban", added=new, lifted=gone, note=note, version=self.version)
        return True
