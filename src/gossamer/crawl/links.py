"""Which parts of links count: the node's side of the graph.

Workers write parts (`worker.py`); a part counts when the manifest names it. That happens after the
commit in which the archive bytes that it comes from are on disk, so the graph is never ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gossamer.archive.writer import disk_fault
from gossamer.crawl.wire import PartWritten
from gossamer.graph import manifest as manifests
from gossamer.graph.manifest import Manifest, Part


class LinkBook:
    """The manifest, and the parts that it is to name next."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.manifest: Manifest = manifests.read(folder)
        manifests.delete_strays(folder, self.manifest)
        self._unnamed: list[PartWritten] = []

    def note(self, part: PartWritten) -> None:
        """A part is whole on the disk."""
        self._unnamed.append(part)

    def take(self) -> Sequence[PartWritten]:
        """The parts to be named by the commit that begins now."""
        parts, self._unnamed = self._unnamed, []
        return parts

    def name(self, parts: Sequence[PartWritten]) -> None:
        """Make them part of the graph. What they come from is committed. Raises DiskFault."""
        if not parts:
            return
        manifest = self.manifest
        for part in parts:
            if part.name:
                manifest = manifest.with_part(Part(part.name, part.rows), part.covered)
            else:
                manifest = manifest.with_covered(part.covered)
        try:
            manifests.replace(self._folder, manifest)
        except OSError as error:
            raise disk_fault("the list of link parts could not be written", error) from error
        self.manifest = manifest
