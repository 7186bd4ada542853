"""The links of pages on their way to `graph/`: gathered in memory, written in parts.

The graph is derived: what is lost with the process is read again from the archive. So a part is
written seldom, after the archive bytes that it comes from are on disk, and the manifest says up
to which byte of which WARC file the graph reaches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.graph import manifest as manifests
from gossamer.graph.manifest import Manifest, Part
from gossamer.graph.parts import PartWriter
from gossamer.records import Edge
from gossamer.settings import Node


@dataclass(frozen=True, slots=True)
class Gathered:
    """Links to be written as one part, and how far the graph reaches with them."""

    rows: PartWriter
    covered: Mapping[str, int]


class LinkKeeper:
    """Gathers links and, told when, writes them."""

    def __init__(self, folder: Path, settings: Node) -> None:
        self._folder = folder
        self._settings = settings
        self.manifest: Manifest = manifests.read(folder)
        manifests.delete_strays(folder, self.manifest)
        self._rows = PartWriter(folder)
        self._since_s = 0.0
        self._number = len(self.manifest.parts)

    def add(self, source: str, at_us: int, edges: Sequence[Edge], now_s: float) -> None:
        if not self._rows.rows:
            self._since_s = now_s
        if edges and self._settings.graph:
            self._rows.add(source, at_us, edges)

    def is_due(self, now_s: float) -> bool:
        rows = self._rows.rows
        waited_s = now_s - self._since_s
        return rows >= self._settings.part_rows or (
            rows > 0 and waited_s >= self._settings.part_every_s
        )

    def take(self, covered: Mapping[str, int]) -> Gathered:
        """What has gathered; `covered` are the ends of the WARC files at this very moment."""
        rows, self._rows = self._rows, PartWriter(self._folder)
        return Gathered(rows, covered)

    def write(self, gathered: Gathered) -> None:
        """Write a part and name it. The archive up to `covered` is on disk already."""
        if not self._settings.graph:
            return
        covered = {
            file: end
            for file, end in gathered.covered.items()
            if self.manifest.covered.get(file) != end
        }
        if not gathered.rows.rows:
            if not covered:
                return
            self.manifest = Manifest(self.manifest.parts, {**self.manifest.covered, **covered})
        else:
            self._number += 1
            count = gathered.rows.rows
            path = gathered.rows.write(f"links-{self._number:06d}")
            self.manifest = self.manifest.with_part(Part(path.name, count), covered)
        manifests.replace(self._folder, self.manifest)
