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
_HEAR_AFTER_S: Final = 0.004
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
        self._harvester = processor
        self._clock = clock
        self._cookies = cookies
        self._silent_s = silent_s
        self._hands: list[WorkerHandle] = []
        self._hired = 0
        self._deaths: deque[float] = deque()
        self._is_closing = False
        self._has_failed = False
        self._tended_s = clock.now_s()
        self._hiring: set[asyncio.Task[None]] = set()
        self._covered: dict[str, int] = {}  # file -> offset up to which its links are written
        self._left: list[Leftover] = []  # exchanges for the next worker to read
        self._unindexed: list[Path] = []  # WARC files of dead workers
        self._changed = asyncio.Event()  # a worker closed or died
        self._hearing: asyncio.TimerHandle | None = None

    async def start(self, employer: PoolOwner) -> None:
        self._employer = employer
        for _ in range(self._orders.workers):
            await self._hire()

    @property
    def under_way(self) -> int:
        unread = [left for left in self._left if not left.is_reported]
        return len(unread) + sum([len(hand.leases) for hand in self._hands])

    @property
    def is_ready(self) -> bool:
        return bool(self._hands)

    @property
    def pids(self) -> Sequence[int]:
        return tuple(hand.process.pid for hand in self._hands)

    def give(self, leases: Sequence[Lease]) -> None:
        """Give each lease to the worker of its host, which has cached the links of that host. If
        that worker is busy, another one takes the lease.
        """
        # A worker that reads what killed another may die too, so it gets no other leases.
        hands = [hand for hand in self._hands if not hand.left] or self._hands
        loads = [len(hand.leases) for hand in hands]
        batches: list[list[Lease]] = [[] for _ in hands]
        for lease in leases:
            place = _place_for(lease.key, loads)
            loads[place] += 1
            hands[place].leases[lease.number] = lease
            batches[place].append(lease)
        for hand, batch in zip(hands, batches, strict=True):
            if batch:
                hand.desk.send(wire.frame(wire.Leases(batch)))

    def descriptors(self) -> Mapping[str, int]:
        return {hand.file: os.dup(hand.descriptor) for hand in self._hands if hand.descriptor >= 0}

    def tend(self) -> None:
        """Kill silent workers. If this process was stopped itself, their silence means nothing."""
        now_s = self._clock.now_s()
        was_away = now_s - self._tended_s > self._silent_s / 2
        self._tended_s = now_s
        for hand in tuple(self._hands):
            if was_away:
                hand.heard_s = now_s
            elif now_s - hand.heard_s > self._silent_s:
                hand.process.kill()  # its socket closes, and the worker is reaped
        self._save_cookies(self._cookies.save_now_and_then)

    def end_slow(self, most: int) -> None:
        each = max(1, most // max(1, len(self._hands)))
        for hand in self._hands:
            hand.desk.send(wire.frame(wire.EndSlow(each)))

    def _save_cookies(self, save: Callable[[], None]) -> None:
        try:
            save()
        except OSError as fault:
            self.fail(fault)

    # -- messages from workers

    def hear_soon(self) -> None:
        """Read messages that can wait briefly for those of other workers."""
        if self._hearing is None:
            loop = asyncio.get_running_loop()
            self._hearing = loop.call_later(_HEAR_AFTER_S, self.hear_all)

    def hear_all(self) -> None:
        if self._hearing is not None:
            self._hearing.cancel()
            self._hearing = None
        for hand in tuple(self._hands):
            hand.desk.hear()

    def hear(self, hand: WorkerHandle, message: wire.ToNode) -> None:
        hand.heard_s = self._clock.now_s()
        match message:
            case wire.Reported(processed):
                self._take_report(hand, processed)
            case wire.PartWritten():
                self._take_part(hand, message)
            case wire.Cookies():
                self._share_cookies(hand, message)
            case wire.Fault(what, is_full, is_read_only):
                self.fail(DiskFault(what, is_full=is_full, is_read_only=is_read_only))
                hand.process.kill()  # it waits for that, and is reaped
            case wire.Closed():
                hand.is_closed = True
                self._changed.set()

    def _share_cookies(self, hand: WorkerHandle, changed: wire.Cookies) -> None:
        self._cookies.put(changed.cookies)
        for other in self._hands:
            if other is not hand:
                other.desk.send(wire.frame(changed))

    def fail(self, fault: BaseException) -> None:
        """Stop the pool: spawn no more workers and tell the owner."""
        self._has_failed = True
        if isinstance(fault, OSError):
            fault = disk_fault("what a worker left could not be taken", fault)
        self._employer.fail(fault)

    def _take_report(self, hand: WorkerHandle, processed: ProcessedPage) -> None:
        report = processed.report
        if hand.leases.pop(report.lease.number, None) is None:
            return  # a worker reported it and died before its links were written
        stored = report.stored
        place = (stored.file, stored.start)
        if not hand.left:
            self._follow(hand, stored.file, stored.end)
        elif place in hand.left and self._orders.node.graph:
            hand.left[place] = reported(hand.left[place])
        elif hand.left.pop(place, None) is None:
            self._follow(hand, stored.file, stored.end)
        self._employer.take(processed)

    def _take_part(self, hand: WorkerHandle, part: wire.PartWritten) -> None:
        self._covered.update(part.covered)
        for left in tuple(hand.left.values()):
            if left.end <= part.covered.get(left.file, 0):
                del hand.left[left.place]
        self._employer.take_part(part)

    def _follow(self, hand: WorkerHandle, file: str, end: int) -> None:
        """Record how far the worker's file is reported, and keep the file open for syncing."""
        if file != hand.file:
            hand.let_go()  # the worker synced it before it began the next file
            hand.file = file
            hand.descriptor = os.open(self._paths.archive / file, os.O_RDONLY)
        hand.reported[file] = end

    # -- start and end of workers

    async def _hire(self) -> None:
        self._hired += 1
        name = f"w{self._hired}"
        process, ours = spawn_worker()
        desk = WorkerConnection(self)
        desk.hand = hand = WorkerHandle(name, process, desk, self._clock.now_s())
        desk.send(wire.frame(self._hello(name)))
        unread, self._left = self._left, []
        for left in unread:
            hand.left[left.place] = left
            if not left.is_reported:
                hand.leases[left.lease.number] = left.lease
            desk.send(wire.frame(wire.Reread(left.lease, left.file, left.start)))
        self._hands.append(hand)
        await asyncio.get_running_loop().create_connection(lambda: desk, sock=ours)

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

    def bury(self, hand: WorkerHandle) -> None:
        """Clean up after a dead worker: recover its work, return its leases, spawn another."""
        self._hands.remove(hand)
        # ignore later messages: everything else is read from its file, and nothing counts twice
        hand.is_closed = True
        end(hand.process)
        hand.let_go()
        try:
            self._inherit(hand)
        except (GossamerError, OSError) as fault:
            self.fail(fault)
        for lease in hand.leases.values():
            self._employer.take_back(lease)
        hand.leases.clear()
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
        task = asyncio.get_running_loop().create_task(self._hire_unless_failed())
        self._hiring.add(task)
        task.add_done_callback(self._hired_one)

    async def _hire_unless_failed(self) -> None:
        if not self._has_failed:  # the death of another worker may have stopped the pool
            await self._hire()

    def _hired_one(self, task: asyncio.Task[None]) -> None:
        self._hiring.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.fail(fault)

    def _inherit(self, hand: WorkerHandle) -> None:
        """Take the exchanges that a dead worker archived and did not report, and unwritten
        links.
        """
        context, node = self._post(hand.name), self._orders.node
        dead = DeadWorker(
            run=self._paths.run,
            archive=self._paths.archive,
            prefix=context.archive_prefix,
            reported=hand.reported,
            covered=self._covered if node.graph else hand.reported,
            leases=hand.leases,
            reading=read_marker(context.marker),
            left=tuple(hand.left.values()),
        )
        delete_if_possible(context.marker)
        gatherer = LinkGatherer(self._paths.graph, f"{context.links_prefix}x", node, self._clock)
        with marked(self._post("node").marker) as own:
            crash_state = read_crash_state(dead, GuardedReader(self._harvester, own), gatherer)
        for processed in crash_state.harvests:
            del hand.leases[processed.report.lease.number]
            self._employer.take(processed)
        for left in crash_state.left:
            hand.leases.pop(left.lease.number, None)
        self._left += crash_state.left
        self._unindexed += crash_state.files
        part = gatherer.write_now()
        if part is not None:
            self._employer.take_part(part)

    def _post(self, name: str) -> WorkerContext:
        return WorkerContext(self._paths.path, name, self._orders.run, self._orders.info)

    async def finish(self) -> None:
        """Let all workers end. Kill those that have not ended within a minute."""
        self._is_closing = True
        await asyncio.gather(*self._hiring, return_exceptions=True)
        await self._dismiss()
        while self._left and not self._has_failed:  # each exchange is read at most twice
            await self._hire()
            await self._dismiss()
        self._save_cookies(self._cookies.save)
        try:
            await asyncio.to_thread(self._index)
        except (GossamerError, OSError) as fault:
            self.fail(fault)

    def _index(self) -> None:
        for path in self._unindexed:
            write_cdxj(path)

    async def _dismiss(self) -> None:
        for hand in self._hands:
            hand.desk.send(wire.frame(wire.Close()))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                while not all(hand.is_closed for hand in self._hands):
                    self._changed.clear()
                    await self._changed.wait()
        for hand in tuple(self._hands):
            if hand.is_closed:
                self._part_with(hand)
            else:
                self.bury(hand)

    def _part_with(self, hand: WorkerHandle) -> None:
        self._hands.remove(hand)
        end(hand.process, _ENDING_S)
        hand.let_go()
        delete_if_possible(self._post(hand.name).marker)

    async def aclose(self) -> None:
        self._is_closing = True
        await asyncio.gather(*self._hiring, return_exceptions=True)  # workers without a socket
        for hand in self._hands:
            hand.is_closed = True
            hand.desk.hang_up()
        # the loop closes sockets in its next iteration, and workers end only then
        await asyncio.sleep(0)
        for hand in tuple(self._hands):
            self._part_with(hand)


def _place_for(key: bytes, loads: Sequence[int]) -> int:
    """The index of the worker for this key, given the number of leases of each worker."""
    own = key[0] % len(loads)
    if loads[own] <= _FEW_LEASES:
        return own
    fewest = min(loads)
    return loads.index(fewest) if loads[own] > 2 * fewest + _FEW_LEASES else own
