"""Tell the graph of pages that have left: they have no links any more.

The newest capture of a page counts in the graph, so a page that left gets a capture without links
at the time it left. These rows are gathered and written as a part of links from time to time. If
the process is killed before, the next start writes them again from the state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.graph.manifest import PREFIX
from gossamer.graph.parts import PartWriter
from gossamer.node.link_files import LinkFiles
from gossamer.records import Reason
from gossamer.workers.wire import PartWritten

_MANY: Final = 20_000  # rows in one part


class LeftPages:
    """Gathers pages that have left, and writes them as parts of links."""

    def __init__(self, folder: Path, links: LinkFiles, clock: Clock, every_s: float) -> None:
        self._rows = PartWriter(folder)
        self._links = links
        self._clock = clock
        self._every_s = every_s
        self._since_s = 0.0
        self._number = 0
        self._run = f"{clock.wall_us() // 1000:x}"

    def add(self, url: str, at_us: int) -> None:
        """A page has left, or may have: a second time changes nothing."""
        if not self._rows.rows:
            self._since_s = self._clock.now_s()
        self._rows.add_capture(url, at_us, ())

    def write(self, *, is_last: bool = False) -> None:
        """Write a part if it is time. The next commit makes it count. Raises DiskFault."""
        rows = self._rows.rows
        waited_s = self._clock.now_s() - self._since_s
        if not rows or not (is_last or rows >= _MANY or waited_s >= self._every_s):
            return
        self._number += 1
        try:
            path = self._rows.write(f"{PREFIX}{self._run}-left-{self._number:05d}")
        except OSError as error:
            raise disk_fault("cannot write links", error) from error
        self._links.note(PartWritten(path.name, rows, {}))

    def add_stored(self, store: Store) -> None:
        """After a kill: the graph may still have links of pages that the state says have left."""
        for _, packed in walk(store, StateTable.URL):
            if standing_of(packed) == Standing.REFUSED:
                row = UrlRow.decode(packed)
                if row.reason == Reason.EVICTED:
                    self.add(row.url, row.at_us)
