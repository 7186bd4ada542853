"""The banned list of the hub on a unit: a file that crawls read when they start, and changes for
those that run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gossamer.errors import UsageError
from gossamer.fleet.protocol import BannedLines
from gossamer.fleet.unit.folder import UnitFolder, read_json, write_json
from gossamer.urls.bans import BanList

_LONGEST_LINE: Final = 2_000


class BanChange(NamedTuple):
    added: Sequence[str]
    lifted: Sequence[str]
    invalid: int  # lines that this version does not understand


class BannedList:
    """The list as the hub last told it."""

    def __init__(self, folder: UnitFolder) -> None:
        self._folder = folder
        self._list = read_json(folder.bans, BannedLines) or BannedLines(version=0, lines=())

    @property
    def version(self) -> int:
        return self._list.version

    def replace(self, new: BannedLines) -> BanChange:
        """Take a new list; what has changed."""
        lines = tuple(line for line in new.lines if _is_valid(line))
        before, now = set(self._list.lines), set(lines)
        self._folder.bans_text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self._list = BannedLines(version=new.version, lines=lines)
        write_json(self._folder.bans, self._list)
        return BanChange(
            [line for line in lines if line not in before],
            sorted(before - now),
            len(new.lines) - len(lines),
        )


def _is_valid(line: str) -> bool:
    if len(line) > _LONGEST_LINE or "\n" in line or "\r" in line or not line.strip():
        return False
    try:
        BanList([line])
    except UsageError:
        return False
    return True
