"""Which files of links count: the node's side of the graph.

Workers write parts (`worker.py`); a part counts when the manifest names it. That happens after the
commit in which the archive bytes that it comes from are on disk, so the graph is never ahead.

Now and then parts are merged (`graph/merge.py`) by a process of its own, which shares neither
memory nor the interpreter's lock with the node, and is killed or lost without harm: what it writes
counts when the next commit names it, and what it read is deleted only after a while, for readers
in other processes that have begun with it.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.base.files import delete_if_possible
from gossamer.base.values import dataclass
from gossamer.graph import manifest as manifests
from gossamer.graph.manifest import PREFIX, Manifest, MergedSet, Part
from gossamer.graph.tiers import next_merge
from gossamer.workers.wire import PartWritten

_MERGE_S: Final = 3600.0  # at the end of a crawl, one merge may take so long

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Merging:
    """A merge under way."""

    process: subprocess.Popen[bytes]
    inputs: tuple[str, ...]


class LinkFiles:
    """The manifest, and the parts that it is to name next.

    Without a clock nothing is merged. `keep_s` is how long files that were merged stay.
    """

    def __init__(self, folder: Path, clock: Clock | None = None, keep_s: float = 0.0) -> None:
        self._folder = folder
        self._clock = clock
        self._keep_us = round(keep_s * 1e6)
        self.manifest: Manifest = manifests.read(folder)
        manifests.delete_strays(folder, self.manifest)
        self._unnamed: list[PartWritten] = []
        self._merging: _Merging | None = None
        self._merges = 0
        self.failed_merges = 0

    def note(self, part: PartWritten) -> None:
        """A part is whole on the disk."""
        self._unnamed.append(part)

    def take(self) -> Sequence[PartWritten]:
        """The parts to be named by the commit that begins now."""
        parts, self._unnamed = self._unnamed, []
        return parts

    def name(self, parts: Sequence[PartWritten]) -> None:
        """Make them part of the graph, and what has been merged meanwhile. What they come from is
        committed. Raises DiskFault."""
        manifest = self.manifest
        for part in parts:
            if part.name:
                manifest = manifest.with_part(Part(part.name, part.rows), part.covered)
            else:
                manifest = manifest.with_covered(part.covered)
        self._replace(self._with_merged(manifest))
        self._delete_retired()
        if parts:
            self._begin(next_merge(self.manifest))

    def finish(self) -> None:
        """Merge what is worth it now that the crawl ends, wait for it, and delete what nobody reads
        any more. Raises DiskFault."""
        self.merge_rest()
        self._delete_retired()

    def merge_rest(self) -> None:
        """The first half of `finish`: readers of all files may go on."""
        self._await_merge()
        while self._begin(next_merge(self.manifest, is_final=True)):
            self._await_merge()

    def close(self) -> None:
        """End a merge that is under way: what it would have written is merged another time."""
        merging, self._merging = self._merging, None
        if merging is not None:
            merging.process.kill()
            merging.process.communicate()

    def _replace(self, manifest: Manifest) -> None:
        if manifest == self.manifest:
            return
        try:
            manifests.replace(self._folder, manifest)
        except OSError as error:
            raise disk_fault("the list of link parts could not be written", error) from error
        self.manifest = manifest

    # -- merging

    def _begin(self, inputs: list[str]) -> bool:
        """Start to merge, unless there is nothing to do, or somebody is at it."""
        if not inputs or self._clock is None or self._merging is not None or self.failed_merges:
            return False
        self._merges += 1
        name = f"{PREFIX}{self._clock.wall_us() // 1000:x}-merged-{self._merges:04d}"
        module = "gossamer.graph.merge"
        command = [sys.executable, "-P", "-m", module, str(self._folder), name, *inputs]
        try:
            process = subprocess.Popen(  # noqa: S603  # our own module, by our own interpreter
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self._give_up(str(error))
            return False
        self._merging = _Merging(process, tuple(inputs))
        return True

    def _await_merge(self) -> None:
        if self._merging is not None:
            try:
                self._merging.process.wait(_MERGE_S)
            except subprocess.TimeoutExpired:
                self.close()
            self._replace(self._with_merged(self.manifest))

    def _with_merged(self, manifest: Manifest) -> Manifest:
        """The manifest with a merge that has ended in it."""
        if self._merging is None or self._merging.process.poll() is None:
            return manifest
        merging, self._merging = self._merging, None
        output, errors = merging.process.communicate()
        if merging.process.returncode:
            self._give_up(errors.decode(errors="replace").strip().rpartition("\n")[2])
            return manifest
        assert self._clock is not None, "nothing is merged without"
        merged = MergedSet(**json.loads(output))
        return manifest.with_merged(merging.inputs, merged, self._clock.wall_us())

    def _give_up(self, why: str) -> None:
        """Unmerged links are as good, only slower to read: the crawl goes on without."""
        self.failed_merges += 1
        log.warning("links could not be merged (%s); the next start tries again", why)

    def _delete_retired(self) -> None:
        if not self.manifest.retired or self._clock is None:
            return
        before_us = self._clock.wall_us() - self._keep_us
        gone = [name for name, at_us in self.manifest.retired.items() if at_us <= before_us]
        if gone:
            self._replace(self.manifest.without_retired(gone))
            for name in gone:
                delete_if_possible(self._folder / name)
