"""A pool of worker processes: spawn them, send leases, watch them, replace the dead.

The node trusts what a worker has reported, and what is whole in its WARC file. If a worker dies
(killed, out of memory, crashed on a page) or falls silent, it is killed and reaped. Exchanges that
it archived without a report are read here (`crash_state.py`), and its other leases are returned.
The exchange that it was reading goes to the next worker, before any lease. An exchange that killed
two workers has failed with the reason `crash` and is never read again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import write_cdxj
from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.base.files import delete_if_possible
from gossamer.base.processes import end
from gossamer.collection.cookies_file import CookiesFile
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import DiskFault, GossamerError, StoreError
from gossamer.records import Lease
from gossamer.settings import Node
from gossamer.workers import wire
from gossamer.workers.build_worker import WorkerContext
from gossamer.workers.connection import WorkerConnection, WorkerHandle
from gossamer.workers.crash_marker import marked, read_marker
from gossamer.workers.crash_state import DeadWorker, Leftover, read_crash_state, reported
from gossamer.workers.guarded_reader import GuardedReader
from gossamer.workers.pool import PoolOwner
from gossamer.workers.process import PageProcessor, ProcessedPage
from gossamer.workers.spawn import spawn_worker
from gossamer.workers.worker import LinkGatherer

_SILENT_S: Final = 30.0  # a worker sends a message every second; a busy machine may delay it
_DEATHS: Final = 20  # within _DEATHS_S: then new workers do not help
_DEATHS_S: Final = 60.0
_READ_AFTER_S: Final = 0.004
_FEW_LEASES: Final = 4  # a worker with this many leases is not busy
_CLOSING_S: Final = 60.0
_ENDING_S: Final = 10.0  # after its last message


@dataclass(frozen=True, slots=True)
class Orders:
    """The start parameters of every worker."""

    settings: dict[str, object]
    salt: bytes
    info: dict[str, str]
    run: str
    workers: int
    node: Node
    counts_links: bool = False


class ProcessPool:
    """Runs `orders.workers` processes that process leases."""

    def __init__(
        self,
        paths: CollectionPaths,
        orders: Orders,
        processor: PageProcessor,
        clock: Clock,
        cookies: CookiesFile,
        *,
        silent_s: float = _SILENT_S,
    ) -> None:
        """A worker that sends nothing for `silent_s` counts as dead."""
        self._paths = paths
        self._orders = orders
        self._processor = processor
        self._clock = clock
        self._cookies = cookies
        self._silent_s = silent_s
        self._handles: list[WorkerHandle] = []
        self._spawned = 0
        self._deaths: deque[float] = deque()
        self._is_closing = False
        self._has_failed = False
        self._maintained_s = clock.now_s()
        self._spawning: set[asyncio.Task[None]] = set()
        self._covered: dict[str, int] = {}  # file -> offset up to which its links are written
        self._left: list[Leftover] = []  # exchanges for the next worker to read
        self._unindexed: list[Path] = []  # WARC files of dead workers
        self._changed = asyncio.Event()  # a worker closed or died
        self._read_timer: asyncio.TimerHandle | None = None

    async def start(self, owner: PoolOwner) -> None:
        self._owner = owner
        for _ in range(self._orders.workers):
            await self._spawn()

    @property
    def under_way(self) -> int:
        unread = [left for left in self._left if not left.is_reported]
        return len(unread) + sum([len(handle.leases) for handle in self._handles])

    @property
    def is_ready(self) -> bool:
        return bool(self._handles)

    @property
    def pids(self) -> Sequence[int]:
        return tuple(handle.process.pid for handle in self._handles)

    def give(self, leases: Sequence[Lease]) -> None:
        """Give each lease to the worker of its host, which has cached the links of that host. If
        that worker is busy, another one takes the lease.
        """
        # A worker that reads what killed another may die too, so it gets no other leases.
        handles = [handle for handle in self._handles if not handle.left] or self._handles
        loads = [len(handle.leases) for handle in handles]
        batches: list[list[Lease]] = [[] for _ in handles]
        for lease in leases:
            place = _worker_for(lease.key, loads)
            loads[place] += 1
            handles[place].leases[lease.number] = lease
            batches[place].append(lease)
        for handle, batch in zip(handles, batches, strict=True):
            if batch:
                handle.connection.send(wire.frame(wire.Leases(batch)))

    def descriptors(self) -> Mapping[str, int]:
        return {
            handle.file: os.dup(handle.descriptor)
            for handle in self._handles
            if handle.descriptor >= 0
        }

    def maintain(self) -> None:
        """Kill silent workers. If this process was stopped itself, their silence means nothing."""
        now_s = self._clock.now_s()
        was_away = now_s - self._maintained_s > self._silent_s / 2
        self._maintained_s = now_s
        for handle in tuple(self._handles):
            if was_away:
                handle.last_message_s = now_s
            elif now_s - handle.last_message_s > self._silent_s:
                handle.process.kill()  # its socket closes, and the worker is reaped
        self._save_cookies(self._cookies.save_now_and_then)

    def end_slow(self, most: int) -> None:
        each = max(1, most // max(1, len(self._handles)))
        for handle in self._handles:
            handle.connection.send(wire.frame(wire.EndSlow(each)))

    def _save_cookies(self, save: Callable[[], None]) -> None:
        try:
            save()
        except OSError as fault:
            self.fail(fault)

    # -- messages from workers

    def read_soon(self) -> None:
        """Read messages that can wait briefly for those of other workers."""
        if self._read_timer is None:
            loop = asyncio.get_running_loop()
            self._read_timer = loop.call_later(_READ_AFTER_S, self.read_all)

    def read_all(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
        for handle in tuple(self._handles):
            handle.connection.receive()

    def receive(self, handle: WorkerHandle, message: wire.ToNode) -> None:
        handle.last_message_s = self._clock.now_s()
        match message:
            case wire.Reported(processed):
                self._take_report(handle, processed)
            case wire.PartWritten():
                self._take_part(handle, message)
            case wire.Cookies():
                self._share_cookies(handle, message)
            case wire.Fault(what, is_full, is_read_only):
                self.fail(DiskFault(what, is_full=is_full, is_read_only=is_read_only))
                handle.process.kill()  # it waits for that, and is reaped
            case wire.Closed():
                handle.is_closed = True
                self._changed.set()

    def _share_cookies(self, handle: WorkerHandle, changed: wire.Cookies) -> None:
        self._cookies.put(changed.cookies)
        for other in self._handles:
            if other is not handle:
                other.connection.send(wire.frame(changed))

    def fail(self, fault: BaseException) -> None:
        """Stop the pool: spawn no more workers and tell the owner."""
        self._has_failed = True
        if isinstance(fault, OSError):
            fault = disk_fault("cannot recover the files of a crashed worker", fault)
        self._owner.fail(fault)

    def _take_report(self, handle: WorkerHandle, processed: ProcessedPage) -> None:
        report = processed.report
        if handle.leases.pop(report.lease.number, None) is None:
            return  # a worker reported it and died before its links were written
        stored = report.stored
        place = (stored.file, stored.start)
        if not handle.left:
            self._follow(handle, stored.file, stored.end)
        elif place in handle.left and self._orders.node.graph:
            handle.left[place] = reported(handle.left[place])
        elif handle.left.pop(place, None) is None:
            self._follow(handle, stored.file, stored.end)
        self._owner.take(processed)

    def _take_part(self, handle: WorkerHandle, part: wire.PartWritten) -> None:
        self._covered.update(part.covered)
        for left in tuple(handle.left.values()):
            if left.end <= part.covered.get(left.file, 0):
                del handle.left[left.place]
        self._owner.take_part(part)

    def _follow(self, handle: WorkerHandle, file: str, end: int) -> None:
        """Record how far the worker's file is reported, and keep the file open for syncing."""
        if file != handle.file:
            handle.close_file()  # the worker synced it before it began the next file
            handle.file = file
            handle.descriptor = os.open(self._paths.archive / file, os.O_RDONLY)
        handle.reported[file] = end

    # -- start and end of workers

    async def _spawn(self) -> None:
        self._spawned += 1
        name = f"w{self._spawned}"
        process, ours = spawn_worker()
        connection = WorkerConnection(self)
        connection.handle = handle = WorkerHandle(name, process, connection, self._clock.now_s())
        connection.send(wire.frame(self._hello(name)))
        unread, self._left = self._left, []
        for left in unread:
            handle.left[left.place] = left
            if not left.is_reported:
                handle.leases[left.lease.number] = left.lease
            connection.send(wire.frame(wire.Reread(left.lease, left.file, left.start)))
        self._handles.append(handle)
        await asyncio.get_running_loop().create_connection(lambda: connection, sock=ours)

    def _hello(self, name: str) -> wire.Hello:
        orders = self._orders
        return wire.Hello(
            settings=orders.settings,
            salt=orders.salt,
            info=orders.info,
            run=orders.run,
            home=os.fspath(self._paths.path.resolve()),
            name=name,
            cookies=self._cookies.jar.all(),
            counts_links=orders.counts_links,
        )

    def reap(self, handle: WorkerHandle) -> None:
        """Clean up after a dead worker: recover its work, return its leases, spawn another."""
        self._handles.remove(handle)
        # ignore later messages: everything else is read from its file, and nothing counts twice
        handle.is_closed = True
        end(handle.process)
        handle.close_file()
        try:
            self._recover(handle)
        except (GossamerError, OSError) as fault:
            self.fail(fault)
        for lease in handle.leases.values():
            self._owner.take_back(lease)
        handle.leases.clear()
        self._changed.set()
        if not (self._is_closing or self._has_failed):
            self._replace()

    def _replace(self) -> None:
        now_s = self._clock.now_s()
        self._deaths.append(now_s)
        while self._deaths[0] < now_s - _DEATHS_S:
            self._deaths.popleft()
        if len(self._deaths) > _DEATHS:
            self.fail(
                StoreError(
                    f"{_DEATHS} workers died within {_DEATHS_S:.0f} s; run `gossamer doctor`, or "
                    "crawl with --workers 0 to see why"
                )
            )
            return
        task = asyncio.get_running_loop().create_task(self._spawn_unless_failed())
        self._spawning.add(task)
        task.add_done_callback(self._spawn_done)

    async def _spawn_unless_failed(self) -> None:
        if not self._has_failed:  # the death of another worker may have stopped the pool
            await self._spawn()

    def _spawn_done(self, task: asyncio.Task[None]) -> None:
        self._spawning.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.fail(fault)

    def _recover(self, handle: WorkerHandle) -> None:
        """Take the exchanges that a dead worker archived and did not report, and unwritten
        links.
        """
        context, node = self._context(handle.name), self._orders.node
        dead = DeadWorker(
            run=self._paths.run,
            archive=self._paths.archive,
            prefix=context.archive_prefix,
            reported=handle.reported,
            covered=self._covered if node.graph else handle.reported,
            leases=handle.leases,
            reading=read_marker(context.marker),
            left=tuple(handle.left.values()),
        )
        delete_if_possible(context.marker)
        gatherer = LinkGatherer(self._paths.graph, f"{context.links_prefix}x", node, self._clock)
        with marked(self._context("node").marker) as own:
            crash_state = read_crash_state(dead, GuardedReader(self._processor, own), gatherer)
        for processed in crash_state.processed_pages:
            del handle.leases[processed.report.lease.number]
            self._owner.take(processed)
        for left in crash_state.left:
            handle.leases.pop(left.lease.number, None)
        self._left += crash_state.left
        self._unindexed += crash_state.files
        part = gatherer.write_now()
        if part is not None:
            self._owner.take_part(part)

    def _context(self, name: str) -> WorkerContext:
        return WorkerContext(self._paths.path, name, self._orders.run, self._orders.info)

    async def finish(self) -> None:
        """Let all workers end. Kill those that have not ended within a minute."""
        self._is_closing = True
        await asyncio.gather(*self._spawning, return_exceptions=True)
        await self._close_all()
        while self._left and not self._has_failed:  # each exchange is read at most twice
            await self._spawn()
            await self._close_all()
        self._save_cookies(self._cookies.save)
        try:
            await asyncio.to_thread(self._index)
        except (GossamerError, OSError) as fault:
            self.fail(fault)

    def _index(self) -> None:
        for path in self._unindexed:
            write_cdxj(path)

    async def _close_all(self) -> None:
        for handle in self._handles:
            handle.connection.send(wire.frame(wire.Close()))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                while not all(handle.is_closed for handle in self._handles):
                    self._changed.clear()
                    await self._changed.wait()
        for handle in tuple(self._handles):
            if handle.is_closed:
                self._release(handle)
            else:
                self.reap(handle)

    def _release(self, handle: WorkerHandle) -> None:
        self._handles.remove(handle)
        end(handle.process, _ENDING_S)
        handle.close_file()
        delete_if_possible(self._context(handle.name).marker)

    async def aclose(self) -> None:
        self._is_closing = True
        await asyncio.gather(*self._spawning, return_exceptions=True)  # workers without a socket
        for handle in self._handles:
            handle.is_closed = True
            handle.connection.abort()
        # the loop closes sockets in its next iteration, and workers end only then
        await asyncio.sleep(0)
        for handle in tuple(self._handles):
            self._release(handle)


def _worker_for(key: bytes, loads: Sequence[int]) -> int:
    """The index of the worker for this key, given the number of leases of each worker."""
    own = key[0] % len(loads)
    if loads[own] <= _FEW_LEASES:
        return own
    fewest = min(loads)
    return loads.index(fewest) if loads[own] > 2 * fewest + _FEW_LEASES else own
