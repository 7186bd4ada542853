"""The process that merges packages: the one writer of the central collection.

    python -m gossamer.fleet.merging.merge_process COLLECTION FOLDER RESULTS SETTLE_S FLAGS

It merges what waits in FOLDER (`merge_queue.py`), waits a little for more, settles, and ends. The
hub starts it when something waits. It ends after the current package when its stdin ends, so it
does not outlive the hub; what needs all pages is then built when it is started again.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.clock import Clock, SystemClock
from gossamer.base.locks import try_lock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CollectionInUse, GossamerError
from gossamer.fleet.merging.merge_packages import CentralCollection, store_summary
from gossamer.fleet.merging.merge_queue import MergeQueue, MergeResult, Waiting
from gossamer.fleet.packages.format import PackageLimits, PackageRefused

_AT_ONCE: Final = 200  # packages for which the collection is opened once
_MAX_TRIES: Final = 10  # a package that ended the process so often is set aside
_LINGER_S: Final = 1.0  # how long more packages are awaited before settling
_LOOK_S: Final = 0.1
IN_USE: Final = 12  # exit code: another process writes to the collection


@dataclass(slots=True)
class MergeRun:
    """Merges until nothing waits."""

    collection: Path
    queue: MergeQueue
    results: Path  # folder of summaries
    clock: Clock
    settle_s: float  # ranks are computed at the latest so long after the first package
    flags: dict[str, object]
    stop: threading.Event
    limits: PackageLimits = field(default_factory=PackageLimits)

    async def run(self) -> None:
        """Raises DiskFault, StoreError."""
        if not CollectionPaths(self.collection).exists:
            async with CentralCollection(self.collection, (), self.clock, flags=self.flags):
                pass
        since_s = self.clock.now_s()
        while not self.stop.is_set():
            some = list(islice(self.queue.waiting(), _AT_ONCE))
            for one in some:
                if one.checked.kind == "summary":
                    self._store_summary(one)
            pages = [one for one in some if one.checked.kind != "summary"]
            if not pages and not self.queue.is_unsettled:
                return
            if await self._merge_some(pages, since_s):
                since_s = self.clock.now_s()

    async def _merge_some(self, pages: list[Waiting], since_s: float) -> bool:
        """Merge, and settle: whole if it is time or nothing waits. Whether it was whole."""
        seeds = tuple(dict.fromkeys(seed for one in pages for seed in one.checked.seeds))
        central = CentralCollection(
            self.collection, seeds, self.clock, self.limits, self.flags, self.queue.note_progress
        )
        self.queue.note_unsettled()
        async with central:
            central.judge_hosts(sorted({host for one in pages for host in one.checked.hosts}))
            for one in pages:
                if self.stop.is_set():
                    break
                self._merge(central, one)
            is_due = self.clock.now_s() - since_s >= self.settle_s or not await self._has_more()
            is_whole = is_due and not self.stop.is_set()
            await central.settle(is_whole=is_whole)
        if is_whole:
            self.queue.note_settled()
        return is_whole

    async def _has_more(self) -> bool:
        until_s = self.clock.now_s() + _LINGER_S
        while self.queue.is_empty and self.clock.now_s() < until_s and not self.stop.is_set():
            await asyncio.to_thread(self.stop.wait, _LOOK_S)
        return not self.queue.is_empty

    def _merge(self, central: CentralCollection, one: Waiting) -> None:
        if self.queue.begin(one) >= _MAX_TRIES:
            self._fail(one, f"merging ended unexpectedly {_MAX_TRIES} times")
            return
        try:
            self.queue.end(one, central.merge(one.checked))
        except (PackageRefused, FileNotFoundError) as fault:
            self._fail(one, str(fault))

    def _store_summary(self, one: Waiting) -> None:
        try:
            self.queue.end(one, store_summary(one.checked, self.results, self.limits))
        except (PackageRefused, FileNotFoundError) as fault:
            self._fail(one, str(fault))

    def _fail(self, one: Waiting, error: str) -> None:
        checked = one.checked
        result = MergeResult(
            package=checked.package, job=checked.job, kind=checked.kind, error=error
        )
        self.queue.end(one, result)


def main() -> None:
    """Merge; the exit code is 0, 11 for a full disk, 12 if the collection is in use."""
    collection, folder, results, settle_s, flags = sys.argv[1:6]
    queue, stop = MergeQueue(Path(folder)), threading.Event()
    threading.Thread(target=_watch_stdin, args=(stop,), daemon=True).start()
    with queue.lock.open("a+b") as lock:
        if not try_lock(lock.fileno()):
            sys.exit(IN_USE)
        given = msgspec.json.decode(flags, type=dict[str, object])
        run = MergeRun(
            Path(collection), queue, Path(results), SystemClock(), float(settle_s), given, stop
        )
        try:
            asyncio.run(run.run())
        except CollectionInUse as fault:
            _end(fault, IN_USE)
        except GossamerError as fault:
            _end(fault, fault.exit_code)


def _end(fault: GossamerError, code: int) -> None:
    print(fault, file=sys.stderr)
    sys.exit(code)


def _watch_stdin(stop: threading.Event) -> None:
    """The hub has closed its end, or died: stop after the current package."""
    with suppress(OSError):
        while os.read(0, 1):  # `sys.stdin` has a lock that the end of the process would wait for
            pass
    stop.set()


if __name__ == "__main__":
    main()
