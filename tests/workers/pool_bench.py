"""A crew of worker processes without a node: leases go in by hand, what comes back is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.base.clock import SystemClock
from gossamer.collection.cookies_file import CookiesFile
from gossamer.collection.directory import CollectionPaths
from gossamer.records import Lease
from gossamer.settings import Settings, values_of
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.connection import WorkerHandle
from gossamer.workers.pool import PoolOwner
from gossamer.workers.process import ProcessedPage
from gossamer.workers.process_pool import Orders, ProcessPool
from gossamer.workers.wire import PartWritten
from support.a_site import Site

WAIT_S: Final = 90.0  # far beyond what any of it takes
SALT: Final = b"0123456789abcdef"


@dataclass
class Kept:
    """What an employer hears."""

    processed_pages: list[ProcessedPage] = field(default_factory=list)
    parts: list[PartWritten] = field(default_factory=list)
    back: list[Lease] = field(default_factory=list)
    faults: list[BaseException] = field(default_factory=list)
    covered_too_early: list[PartWritten] = field(default_factory=list)
    _ends: dict[str, int] = field(default_factory=dict)

    def take(self, processed: ProcessedPage) -> None:
        stored = processed.report.stored
        assert stored.start >= self._ends.get(stored.file, 0), "in the order of the file"
        self._ends[stored.file] = stored.end
        self.processed_pages.append(processed)

    def take_part(self, part: PartWritten) -> None:
        if any(end > self._ends.get(file, 0) for file, end in part.covered.items()):
            self.covered_too_early.append(part)
        self.parts.append(part)

    @property
    def covered(self) -> dict[str, int]:
        return {file: end for part in self.parts for file, end in part.covered.items()}

    @property
    def numbers(self) -> list[int]:
        return [processed.report.lease.number for processed in self.processed_pages]


@dataclass
class PoolBench:
    """A crew at work in a collection of its own."""

    home: CollectionPaths
    pool: ProcessPool
    kept: Kept
    given: int = 0

    def give(self, site: Site, paths: Iterable[str]) -> None:
        leases = []
        for path in paths:
            self.given += 1
            url = site.url(path)
            key = Keys(SALT).of(url)
            lease = Lease(self.given, url, key, "127.0.0.1", "127.0.0.1", is_trusted=True)
            leases.append(lease)
        self.pool.give(leases)

    @property
    def handles(self) -> list[WorkerHandle]:
        return self.pool._handles

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Tend the crew, much more often than a node does, until it is so."""
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                self.pool.maintain()
                await asyncio.sleep(0.005)


@asynccontextmanager
async def a_crew(
    path: Path, workers: int = 2, *, counts_links: bool = False
) -> AsyncIterator[PoolBench]:
    """Started, and closed whatever happens; `finish` is the test's to call."""
    home = CollectionPaths(path)
    home.make()
    settings = Settings()
    values = {key: value for key, value in values_of(settings).items() if value != ()}
    info = {"software": "gossamer/test"}
    orders = Orders(values, SALT, info, "run", workers, settings.node, counts_links)
    processor = build_processor(settings, Keys(SALT))
    clock = SystemClock()
    cookies = CookiesFile(home.cookies, settings.fetch, clock)
    pool = ProcessPool(home, orders, processor, clock, cookies, silent_s=30.0)
    kept = Kept()
    try:
        await pool.start(PoolOwner(kept.take, kept.take_part, kept.back.append, kept.faults.append))
        yield PoolBench(home, pool, kept)
    finally:
        await pool.aclose()
