"""Those who carry leases: the node itself, or worker processes. The node cannot tell which.

A crew calls `take` with harvests in the order in which their exchanges lie in each WARC file, and
`take_part` for a part of links after all harvests that it covers. Every lease given ends in one
harvest, or, when its worker died, comes back through `take_back`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from gossamer.archive.writer import disk_fault
from gossamer.base.values import dataclass
from gossamer.collection.cookies_file import CookiesFile
from gossamer.errors import DiskFault
from gossamer.records import Lease
from gossamer.workers.process import ProcessedPage
from gossamer.workers.wire import PartWritten
from gossamer.workers.worker import Worker


@dataclass(frozen=True, slots=True)
class PoolOwner:
    """What a crew calls; the node."""

    take: Callable[[ProcessedPage], None]
    take_part: Callable[[PartWritten], None]
    take_back: Callable[[Lease], None]
    fail: Callable[[BaseException], None]  # nothing can go on: the disk, or a bug of ours


class WorkerPool(Protocol):
    """Whoever carries leases."""

    async def start(self, employer: PoolOwner) -> None:
        """Be ready for leases."""
        ...

    @property
    def under_way(self) -> int:
        """Leases given and not yet ended."""
        ...

    @property
    def is_ready(self) -> bool:
        """Whether anybody is there to take leases."""
        ...

    @property
    def pids(self) -> Sequence[int]:
        """The worker processes; empty where the node carries leases itself."""
        ...

    def give(self, leases: Sequence[Lease]) -> None:
        """Carry these."""
        ...

    def descriptors(self) -> Mapping[str, int]:
        """Open WARC files by name, to be synced; each descriptor is the caller's to close."""
        ...

    def tend(self) -> None:
        """Called about once a second: write parts that are due, look after the others."""
        ...

    def end_slow(self, most: int) -> None:
        """Hosts wait for connections: end the slowest answers under way, at most so many."""
        ...

    async def finish(self) -> None:
        """Write what has gathered; leases under way are given up. Then `aclose`."""
        ...

    async def aclose(self) -> None: ...


class LocalPool:
    """The node carries leases itself: for notebooks, tests and small crawls."""

    def __init__(self, worker: Worker, cookies: CookiesFile) -> None:
        """The worker's jar is the one of `cookies`."""
        self._worker = worker
        self._cookies = cookies
        self._under_way = 0
        self._carrying: set[asyncio.Task[None]] = set()
        self._writing: set[asyncio.Task[None]] = set()

    async def start(self, employer: PoolOwner) -> None:
        self._employer = employer

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
            self._keep(self._carrying, asyncio.create_task(self._carry(lease)))

    async def _carry(self, lease: Lease) -> None:
        try:
            processed = await self._worker.carry(lease)
        finally:
            self._under_way -= 1
        self._employer.take(processed)

    def descriptors(self) -> Mapping[str, int]:
        descriptor = self._worker.archive.fileno()
        return {self._worker.archive.name: os.dup(descriptor)} if descriptor >= 0 else {}

    def tend(self) -> None:
        if self._worker.links.is_due:
            self._keep(self._writing, asyncio.create_task(self._write_part()))
        self._save_cookies(self._cookies.save_now_and_then)

    def end_slow(self, most: int) -> None:
        self._worker.fetcher.end_slow(most)

    def _save_cookies(self, save: Callable[[], None]) -> None:
        self._worker.jar.take_changes()  # nobody else wants to hear of them
        try:
            save()
        except OSError as fault:
            self._employer.fail(disk_fault("the cookies could not be written", fault))

    async def _write_part(self) -> None:
        part = await self._worker.links.write()
        if part is not None:
            self._employer.take_part(part)

    async def finish(self) -> None:
        for task in self._carrying:
            task.cancel()
        # A part under way is waited for: the next one would claim its bytes, too.
        await asyncio.gather(*self._carrying, *self._writing, return_exceptions=True)
        self._save_cookies(self._cookies.save)
        try:
            await self._write_part()
        except DiskFault as fault:
            self._employer.fail(fault)

    async def aclose(self) -> None:
        await self._worker.aclose()

    def _keep(self, tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
        tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            if not task.cancelled() and (fault := task.exception()) is not None:
                self._employer.fail(fault)

        task.add_done_callback(done)
