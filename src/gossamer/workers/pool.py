"""The interface between the node and its workers, and the pool without worker processes.

A pool calls `take` with processed pages in the order of their exchanges in each WARC file. It calls
`take_part` for a part of links after all pages that the part covers. Every lease ends in one
processed page, or, if its worker died, returns through `take_back`. The node does not know whether
leases run in its own process or in others.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gossamer.archive.writer import disk_fault
from gossamer.collection.cookies_file import CookiesFile
from gossamer.errors import DiskFault
from gossamer.records import Lease
from gossamer.workers.process import ProcessedPage
from gossamer.workers.wire import PartWritten
from gossamer.workers.worker import Worker


@dataclass(frozen=True, slots=True)
class PoolOwner:
    """The callbacks of a pool. The node provides them."""

    take: Callable[[ProcessedPage], None]
    take_part: Callable[[PartWritten], None]
    take_back: Callable[[Lease], None]
    fail: Callable[[BaseException], None]  # an error that stops the crawl: the disk, or a bug


class WorkerPool(Protocol):
    """Processes leases."""

    async def start(self, owner: PoolOwner) -> None:
        """Get ready for leases."""
        ...

    @property
    def under_way(self) -> int:
        """Number of leases that were given and have not ended."""
        ...

    @property
    def is_ready(self) -> bool:
        """Whether a worker can take leases now."""
        ...

    @property
    def pids(self) -> Sequence[int]:
        """Ids of the worker processes; empty if the node processes leases itself."""
        ...

    def give(self, leases: Sequence[Lease]) -> None:
        """Process these leases."""
        ...

    def descriptors(self) -> Mapping[str, int]:
        """Open WARC files by name, for syncing. The caller closes each descriptor."""
        ...

    def maintain(self) -> None:
        """Do periodic work, about once a second: write due parts, check the workers."""
        ...

    def end_slow(self, most: int) -> None:
        """End at most `most` of the slowest responses in flight, because hosts wait for
        connections.
        """
        ...

    async def finish(self) -> None:
        """Drop leases in flight and write everything that is buffered. Call `aclose` afterwards."""
        ...

    async def aclose(self) -> None: ...


class LocalPool:
    """Processes leases in the node's own process, for notebooks, tests and small crawls."""

    def __init__(self, worker: Worker, cookies: CookiesFile) -> None:
        """The jar of the worker is the jar of `cookies`."""
        self._worker = worker
        self._cookies = cookies
        self._under_way = 0
        self._running: set[asyncio.Task[None]] = set()
        self._writing: set[asyncio.Task[None]] = set()

    async def start(self, owner: PoolOwner) -> None:
        self._owner = owner

    @property
    def under_way(self) -> int:
        return self._under_way

    @property
    def is_ready(self) -> bool:
        return True

    @property
    def pids(self) -> Sequence[int]:
        return ()

    def give(self, leases: Sequence[Lease]) -> None:
        for lease in leases:
            self._under_way += 1
            self._track(self._running, asyncio.create_task(self._process(lease)))

    async def _process(self, lease: Lease) -> None:
        try:
            processed = await self._worker.fetch_and_store(lease)
        finally:
            self._under_way -= 1
        self._owner.take(processed)

    def descriptors(self) -> Mapping[str, int]:
        descriptor = self._worker.archive.fileno()
        return {self._worker.archive.name: os.dup(descriptor)} if descriptor >= 0 else {}

    def maintain(self) -> None:
        if self._worker.links.is_due:
            self._track(self._writing, asyncio.create_task(self._write_part()))
        self._save_cookies(self._cookies.save_now_and_then)

    def end_slow(self, most: int) -> None:
        self._worker.fetcher.end_slow(most)

    def _save_cookies(self, save: Callable[[], None]) -> None:
        self._worker.jar.take_changes()  # no other worker needs the changes
        try:
            save()
        except OSError as fault:
            self._owner.fail(disk_fault("cannot write the cookies", fault))

    async def _write_part(self) -> None:
        part = await self._worker.links.write()
        if part is not None:
            self._owner.take_part(part)

    async def finish(self) -> None:
        for task in self._running:
            task.cancel()
        # Wait for a part that is being written: the next part would claim its bytes again.
        await asyncio.gather(*self._running, *self._writing, return_exceptions=True)
        self._save_cookies(self._cookies.save)
        try:
            await self._write_part()
        except DiskFault as fault:
            self._owner.fail(fault)

    async def aclose(self) -> None:
        await self._worker.aclose()

    def _track(self, tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            if not task.cancelled() and (fault := task.exception()) is not None:
                self._owner.fail(fault)

        task.add_done_callback(done)
