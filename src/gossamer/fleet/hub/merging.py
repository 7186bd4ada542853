"""The hub's side of merging: hand packages over, keep the merging process running, read results.

The hub process never opens the central collection for writing. `Merger` may be used by several
threads.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock, SystemClock
from gossamer.base.processes import PIPE, Started, end, last_line, run, start
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import StoreError
from gossamer.fleet.merging.merge_queue import MergeProgress, MergeQueue, MergeResult
from gossamer.fleet.packages.format import CheckedPackage

_MODULE: Final = "gossamer.fleet.merging.merge_process"
_AGAIN_S: Final = 5.0  # after the process has failed, doubled up to
_AGAIN_MOST_S: Final = 300.0
_STOP_S: Final = 60.0


class Merger:
    """Merges checked packages into a collection, in a process of its own."""

    def __init__(
        self,
        collection: Path,
        folder: Path | None = None,
        *,
        results: Path | None = None,
        settle_s: float = 300.0,
        flags: dict[str, object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`folder` holds packages that wait, by default `packages` beside the collection; `results`
        summaries, by default `results` there. Ranks are computed when nothing waits, and else
        `settle_s` after the first package. `flags` are settings of a collection that is made."""
        self._collection = collection
        self._folder = folder or collection.parent / "packages"
        self._results = results or collection.parent / "results"
        self._settle_s = settle_s
        self._flags = flags or {}
        self._clock = clock or SystemClock()
        self._queue = MergeQueue(self._folder)
        self._lock = threading.Lock()
        self._process: Started | None = None
        self._wait_s = _AGAIN_S
        self._again_at_s = 0.0
        self.problem = ""  # why merging does not work; empty: it does

    def submit(self, checked: CheckedPackage) -> bool:
        """Take over a package and its file; False if it waits already. Raises OSError."""
        with self._lock:
            is_new = self._queue.add(checked)
        self.tick()
        return is_new

    def tick(self) -> None:
        """Start the process if something waits and none runs. Call it every few seconds."""
        with self._lock:
            self._reap()
            now_s = self._clock.now_s()
            if self._process is None and self._has_work and now_s >= self._again_at_s:
                self._process = start(_MODULE, *self._words, stdin=PIPE, stderr=PIPE)

    def prepare(self) -> None:
        """Make the collection if there is none: units need its salt. Raises StoreError, OSError."""
        if not CollectionPaths(self._collection).exists:
            ended = run(_MODULE, *self._words)
            if ended.code:
                raise StoreError(f"the central collection cannot be made: {ended.error}")

    @property
    def _words(self) -> tuple[str, ...]:
        folders = (self._collection, self._folder, self._results)
        return (*map(str, folders), str(self._settle_s), json.dumps(self._flags))

    def take_results(self) -> list[MergeResult]:
        """What was merged since the last call."""
        with self._lock:
            return self._queue.take_results()

    def progress(self) -> MergeProgress | None:
        """The package that is being merged."""
        return self._queue.progress()

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and the process has ended."""
        with self._lock:
            self._reap()
            return self._process is None and not self._has_work

    @property
    def _has_work(self) -> bool:
        return not self._queue.is_empty or self._queue.is_unsettled

    def stop(self) -> None:
        """End the process after the package that it is merging."""
        with self._lock:
            if self._process is not None:
                assert self._process.stdin is not None, "it is a pipe"
                self._process.stdin.close()
                end(self._process, _STOP_S)
                self._process = None

    def _reap(self) -> None:
        """Note how the process has ended. It writes little to stderr, so the pipe is never full."""
        if self._process is None or self._process.poll() is None:
            return
        process, self._process = self._process, None
        assert process.stderr is not None, "it is a pipe"
        errors = process.stderr.read()
        end(process)
        if process.returncode == 0:
            self.problem, self._wait_s = "", _AGAIN_S
            return
        self.problem = last_line(errors) or f"the process ended with code {process.returncode}"
        self._again_at_s = self._clock.now_s() + self._wait_s
        self._wait_s = min(2 * self._wait_s, _AGAIN_MOST_S)
