"""Print each change as it is committed, while a crawl runs: one line, or one JSON object.

2026-01-31T12:00:00Z  changed  +12 -3 words  https://example.org/
2026-01-31T12:00:04Z  gone     404           https://example.org/old
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gossamer.base.clock import iso_of
from gossamer.cli.show.printable import printable
from gossamer.reader.changes import SeenChange, changes_after, last_number
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import ChangeKind

_LOOK_EVERY_S: Final = 0.5


class ChangePrinter:
    """Prints the changes of one run. `emit` gets each line."""

    def __init__(self, collection: Path, emit: Callable[[str], None], *, as_json: bool) -> None:
        self._reader = CollectionReader.open(collection)
        self._emit = emit
        self._as_json = as_json
        self._number = last_number(self._reader)  # of the last change that is told, or older
        self.told = 0

    async def follow(self) -> None:
        """Print changes until cancelled."""
        while True:
            self.print_new()
            await asyncio.sleep(_LOOK_EVERY_S)

    def print_new(self) -> None:
        """Print what was committed since the last call. Noise is left out."""
        self._reader.refresh()
        while found := changes_after(self._reader, self._number):
            self._number = found[-1].number
            for change in found:
                if not change.is_noise:
                    self.told += 1
                    self._emit(self._line(change))

    def close(self) -> None:
        self._reader.close()

    def _line(self, change: SeenChange) -> str:
        if self._as_json:
            return json.dumps({"schema": 1, **change.as_json()})
        return change_line(change)


def change_line(change: SeenChange) -> str:
    """The change for people."""
    what = _what(change)
    return printable(f"{iso_of(change.at_us)}  {change.kind.value:<7}  {what:<14}  {change.url}")


def _what(change: SeenChange) -> str:
    match change.kind:
        case ChangeKind.CHANGED:
            parts = []
            if change.words_added or change.words_removed:
                parts.append(f"+{change.words_added:,} -{change.words_removed:,} words")
            if change.links_added or change.links_removed:
                parts.append(f"+{change.links_added:,} -{change.links_removed:,} links")
            if change.title_before:
                parts.append("new title")
            if change.status != change.status_before:
                parts.append(f"status {change.status_before} -> {change.status}")
            return ", ".join(parts) or "other bytes"
        case ChangeKind.MOVED:
            return f"to {change.target}"
        case ChangeKind.GONE:
            return str(change.status)
    return " ".join(change.title.split())[:60]
