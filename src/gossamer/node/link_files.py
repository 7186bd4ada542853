"""The node's side of the graph: which link files count.

Workers write parts (`workers/worker.py`). A part counts when the manifest names it. That happens
after the commit in which the archive bytes of its pages are on disk, so the graph is never ahead.

From time to time a separate process merges parts (`graph/merge.py`). It shares neither memory nor
the interpreter lock with the node, and may be killed without harm: its output counts when the next
commit names it, and its inputs are deleted only after a while, because readers in other processes
may have them open.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.base.files import delete_if_possible
from gossamer.base.processes import PIPE, Started, StillRunning, end, last_line, start
from gossamer.graph import manifest as manifests
from gossamer.graph.manifest import PREFIX, LinkPart, Manifest, MergedSet
from gossamer.graph.tiers import next_merge
from gossamer.workers.wire import PartWritten

_MERGE_S: Final = 3600.0  # longest duration of a merge at the end of a crawl

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Merging:
    """A merge in progress."""

    process: Started
    inputs: tuple[str, ...]


class LinkFiles:
    """The manifest, and the parts that it will name next.

    Without a clock nothing is merged. `keep_s` says how long merged files are kept.
    """

    def __init__(self, folder: Path, clock: Clock | None = None, keep_s: float = 0.0) -> None:
        self._folder = folder
        self._clock = clock
        self._keep_us = round(keep_s * 1e6)
        self.manifest: Manifest = manifests.read(folder)
        manifests.delete_unlisted(folder, self.manifest)
        self._unnamed: list[PartWritten] = []
        self._uncovered: set[str] = set()
        self._merging: _Merging | None = None
        self._merges = 0
        self.failed_merges = 0

    def note(self, part: PartWritten) -> None:
        """Take a part that is whole on disk."""
        self._unnamed.append(part)

    def uncover(self, files: Iterable[str]) -> None:
        """The next commit leaves these WARC files out: another file has replaced them."""
        self._uncovered.update(files)

    def take(self) -> Sequence[PartWritten]:
        """The parts that the commit that begins now will name."""
        parts, self._unnamed = self._unnamed, []
        return parts

    def name(self, parts: Sequence[PartWritten]) -> None:
        """Add the parts, and a finished merge, to the manifest. Their source must be committed.
        Raises DiskFault.
        """
        manifest = self.manifest
        for part in parts:
            if part.name:
                manifest = manifest.with_part(LinkPart(part.name, part.rows), part.covered)
            else:
                manifest = manifest.with_covered(part.covered)
        uncovered, self._uncovered = self._uncovered, set()
        if uncovered:
            manifest = manifest.without_covered(uncovered)
        self._replace(self._with_merged(manifest))
        self._delete_retired()
        if parts:
            self._begin(next_merge(self.manifest))

    def finish(self) -> None:
        """Run the merges that are worth it at the end of a crawl, wait for them, and delete files
        that no reader uses. Raises DiskFault.
        """
        self.merge_rest()
        self._delete_retired()

    def merge_rest(self) -> None:
        """The first half of `finish`. Readers of all files may continue."""
        self._await_merge()
        while self._begin(next_merge(self.manifest, is_final=True)):
            self._await_merge()

    def close(self) -> None:
        """Stop a running merge. The same files are merged another time."""
        merging, self._merging = self._merging, None
        if merging is not None:
            end(merging.process)

    def _replace(self, manifest: Manifest) -> None:
        if manifest == self.manifest:
            return
        try:
            manifests.replace(self._folder, manifest)
        except OSError as error:
            raise disk_fault("cannot write the list of link parts", error) from error
        self.manifest = manifest

    # -- merging

    def _begin(self, inputs: list[str]) -> bool:
        """Start a merge, unless there is nothing to merge or one is running."""
        if not inputs or self._clock is None or self._merging is not None or self.failed_merges:
            return False
        self._merges += 1
        name = f"{PREFIX}{self._clock.wall_us() // 1000:x}-merged-{self._merges:04d}"
        try:
            process = start(
                "gossamer.graph.merge", str(self._folder), name, *inputs, stdout=PIPE, stderr=PIPE
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
            except StillRunning:
                self.close()
            self._replace(self._with_merged(self.manifest))

    def _with_merged(self, manifest: Manifest) -> Manifest:
        """The manifest including a finished merge."""
        if self._merging is None or self._merging.process.poll() is None:
            return manifest
        merging, self._merging = self._merging, None
        output, errors = merging.process.communicate()
        if merging.process.returncode:
            self._give_up(last_line(errors))
            return manifest
        assert self._clock is not None, "nothing is merged without"
        merged = MergedSet(**json.loads(output))
        return manifest.with_merged(merging.inputs, merged, self._clock.wall_us())

    def _give_up(self, why: str) -> None:
        """Continue without the merge: unmerged links are complete, only slower to read."""
        self.failed_merges += 1
        log.warning("cannot merge links (%s); the next start tries again", why)

    def _delete_retired(self) -> None:
        if not self.manifest.retired or self._clock is None:
            return
        before_us = self._clock.wall_us() - self._keep_us
        gone = [name for name, at_us in self.manifest.retired.items() if at_us <= before_us]
        if gone:
            self._replace(self.manifest.without_retired(gone))
            for name in gone:
                delete_if_possible(self._folder / name)
