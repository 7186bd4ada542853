"""Worker processes: started, fed, watched, and replaced when they die.

A worker is believed only in what it has reported, and in what lies whole in its WARC file. When
it dies (killed, out of memory, crashed on a page) or falls silent, it is killed and reaped, its
file is cut behind the last whole exchange, what it archived and did not report is read here, and
its other leases come back. The exchange that it was reading when it died (`marker.py`) may have
killed it: another worker reads it once more, and if that dies of it too, the URL is set aside with
the reason `crash`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from gossamer.archive.reader import iter_exchanges
from gossamer.archive.recover import repair
from gossamer.base.clock import Clock
from gossamer.crawl import wire
from gossamer.crawl.commit import sync_descriptor
from gossamer.crawl.crew import Employer
from gossamer.crawl.equip import Post
from gossamer.crawl.harvest import Harvest, Harvester, crashed
from gossamer.crawl.home import Home
from gossamer.crawl.marker import read_marker
from gossamer.crawl.worker import LinkGatherer
from gossamer.errors import DiskFault, StoreError
from gossamer.records import Lease
from gossamer.settings import Node

_SILENT_S: Final = 30.0  # a worker says something every second; a busy machine may be slow
_DEATHS: Final = 20  # within _DEATHS_S: something is wrong that a new worker does not mend
_DEATHS_S: Final = 60.0
_CLOSING_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Suspect:
    """An archived exchange that was being read when its worker died."""

    lease: Lease
    file: str
    start: int


@dataclass(slots=True, eq=False)
class Hand:
    """One worker as the node sees it."""

    name: str
    process: subprocess.Popen[bytes]
    desk: NodeDesk
    heard_s: float
    leases: dict[int, Lease] = field(default_factory=dict)
    suspects: dict[int, Suspect] = field(default_factory=dict)  # read for a worker that died
    file: str = ""  # its open WARC file, when it has reported of one
    end: int = 0  # up to which it has reported
    descriptor: int = -1  # of that file, for syncing
    is_closed: bool = False


class NodeDesk(asyncio.Protocol):
    """The node's end of a worker's socket."""

    def __init__(self, crew: ProcessCrew) -> None:
        self._crew = crew
        self._frames = wire.Frames()
        self._transport: asyncio.Transport | None = None
        self.hand: Hand | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop has transports of its own, which are no subclass
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self.hand is not None:
            for kind, *items in self._frames.feed(data):
                self._crew.hear(self.hand, kind, items)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self.hand is not None and not self.hand.is_closed:
            self._crew.bury(self.hand)

    def send(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def hang_up(self) -> None:
        if self._transport is not None:
            self._transport.abort()


@dataclass(frozen=True, slots=True)
class Orders:
    """What every worker is told at its start."""

    settings: dict[str, object]
    salt: bytes
    info: dict[str, str]
    run: str
    workers: int
    node: Node


class ProcessCrew:
    """`orders.workers` processes that carry leases."""

    def __init__(self, home: Home, orders: Orders, harvester: Harvester, clock: Clock) -> None:
        self._home = home
        self._orders = orders
        self._harvester = harvester
        self._clock = clock
        self._hands: list[Hand] = []
        self._hired = 0
        self._deaths: deque[float] = deque()
        self._is_closing = False
        self._tended_s = clock.now_s()
        self._hiring: set[asyncio.Task[None]] = set()
        self._covered: dict[str, int] = {}  # how far the links of a file are written
        self._closed = asyncio.Event()
        self._suspects: list[Suspect] = []  # to be read by the next worker

    async def start(self, employer: Employer) -> None:
        self._employer = employer
        for _ in range(self._orders.workers):
            await self._hire()

    @property
    def under_way(self) -> int:
        held = sum(len(hand.leases) + len(hand.suspects) for hand in self._hands)
        return held + len(self._suspects)

    @property
    def is_ready(self) -> bool:
        return bool(self._hands)

    def give(self, leases: Sequence[Lease]) -> None:
        """Each host has a worker that knows its links; when that one is busy, another helps."""
        batches: dict[str, list[Any]] = {}
        by_name = {hand.name: hand for hand in self._hands}
        for lease in leases:
            hand = self._hand_for(lease)
            hand.leases[lease.number] = lease
            batches.setdefault(hand.name, []).append(wire.lease_items(lease))
        for name, items in batches.items():
            by_name[name].desk.send(wire.frame(wire.LEASES, items))

    def _hand_for(self, lease: Lease) -> Hand:
        own = self._hands[lease.key[0] % len(self._hands)]
        least = min(self._hands, key=lambda hand: len(hand.leases))
        return least if len(own.leases) > 2 * len(least.leases) + 4 else own

    def descriptors(self) -> Mapping[str, int]:
        return {hand.file: os.dup(hand.descriptor) for hand in self._hands if hand.descriptor >= 0}

    def tend(self) -> None:
        """Kill whoever is silent. If we were stopped ourselves, their silence means nothing."""
        now_s = self._clock.now_s()
        was_away = now_s - self._tended_s > _SILENT_S / 2
        self._tended_s = now_s
        for hand in tuple(self._hands):
            if was_away:
                hand.heard_s = now_s
            elif now_s - hand.heard_s > _SILENT_S:
                hand.process.kill()  # its socket closes, and `bury` follows

    # -- what workers say

    def hear(self, hand: Hand, kind: int, items: list[Any]) -> None:
        hand.heard_s = self._clock.now_s()
        match kind:
            case wire.REPORTS:
                for report in items[0]:
                    self._take_report(hand, report)
            case wire.REREAD:
                suspect = hand.suspects.pop(items[0][0])
                self._employer.take(Harvest(wire.report_of(items[0], suspect.lease)))
            case wire.PART:
                part = wire.PartWritten(*items)
                self._covered.update(part.covered)
                self._employer.take_part(part)
            case wire.FAULT:
                self._employer.fail(DiskFault(items[0], is_full=items[1]))
            case wire.CLOSED:
                hand.is_closed = True
                self._closed.set()

    def _take_report(self, hand: Hand, items: list[Any]) -> None:
        lease = hand.leases.pop(items[0])
        report = wire.report_of(items, lease)
        self._follow(hand, report.stored.file, report.stored.end)
        self._employer.take(Harvest(report))

    def _follow(self, hand: Hand, file: str, end: int) -> None:
        """Know how far a worker's file is reported, and hold it open to sync it."""
        if file != hand.file:
            if hand.descriptor >= 0:
                os.close(hand.descriptor)  # the worker synced it before it began the next
            hand.file = file
            hand.descriptor = os.open(self._home.archive / file, os.O_RDONLY)
        hand.end = end

    # -- coming and going

    async def _hire(self) -> None:
        self._hired += 1
        name = f"w{self._hired}"
        process, ours = _started()
        loop = asyncio.get_running_loop()
        _, desk = await loop.create_connection(lambda: NodeDesk(self), sock=ours)
        hand = Hand(name, process, desk, self._clock.now_s())
        desk.hand = hand
        orders = self._orders
        desk.send(
            wire.frame(
                wire.HELLO,
                {
                    "settings": orders.settings,
                    "salt": orders.salt,
                    "info": orders.info,
                    "run": orders.run,
                    "home": os.fspath(self._home.path.resolve()),
                    "name": name,
                },
            )
        )
        self._hands.append(hand)
        self._have_reread(hand)

    def _have_reread(self, hand: Hand) -> None:
        suspects, self._suspects = self._suspects, []
        for suspect in suspects:
            hand.suspects[suspect.lease.number] = suspect
            lease = wire.lease_items(suspect.lease)
            hand.desk.send(wire.frame(wire.REREAD, lease, suspect.file, suspect.start))

    def bury(self, hand: Hand) -> None:
        """A worker is gone: take what it left, give back the rest, and hire another."""
        self._hands.remove(hand)
        hand.process.kill()
        hand.process.wait()
        try:
            self._take_legacy(hand)
        except (DiskFault, StoreError) as fault:
            self._employer.fail(fault)
        if hand.descriptor >= 0:
            os.close(hand.descriptor)
        for lease in hand.leases.values():
            self._employer.take_back(lease)
        hand.leases.clear()
        if not self._is_closing:
            self._replace()

    def _replace(self) -> None:
        now_s = self._clock.now_s()
        self._deaths.append(now_s)
        while self._deaths[0] < now_s - _DEATHS_S:
            self._deaths.popleft()
        if len(self._deaths) > _DEATHS:
            self._employer.fail(
                StoreError(
                    f"{_DEATHS} workers died within {_DEATHS_S:.0f} s; run `gossamer doctor`, or "
                    "crawl with --workers 0 to see why"
                )
            )
            return
        task = asyncio.get_running_loop().create_task(self._hire())
        self._hiring.add(task)
        task.add_done_callback(self._hiring.discard)

    def _take_legacy(self, hand: Hand) -> None:
        """Read what a dead worker archived and did not report, and links that it did not write."""
        marker = self._post(hand.name).marker
        reading = read_marker(marker)
        for suspect in hand.suspects.values():
            if reading == (suspect.file, suspect.start):
                self._set_aside(suspect)
            else:
                self._suspects.append(suspect)
        hand.suspects.clear()
        gatherer = LinkGatherer(
            self._home.graph, f"{self._orders.run}-{hand.name}x", self._orders.node, self._clock
        )
        for path in sorted(
            self._home.archive.glob(f"{self._post(hand.name).archive_prefix}-*.warc.gz")
        ):
            self._read_left(hand, path, reading, gatherer)
        part = gatherer.write_now()
        if part is not None:
            self._employer.take_part(part)
        marker.unlink(missing_ok=True)

    def _read_left(
        self, hand: Hand, path: Path, reading: tuple[str, int] | None, gatherer: LinkGatherer
    ) -> None:
        reported = hand.end if path.name == hand.file else 0
        if hand.file and path.name < hand.file:
            reported = path.stat().st_size  # it was closed before the next was begun
        if repair(path, reported).kept_end == 0:
            path.unlink()
            return
        _sync(path)  # before the state learns of what is in it
        by_key = {lease.key: lease for lease in hand.leases.values()}
        for exchange in iter_exchanges(path, min(reported, self._covered.get(path.name, 0))):
            is_reported = exchange.stored.start < reported
            lease = exchange.lease if is_reported else by_key[exchange.lease.key]
            if not is_reported:
                del hand.leases[lease.number]
            if reading == (path.name, exchange.stored.start):
                self._suspects.append(Suspect(lease, path.name, exchange.stored.start))
                continue  # it is the last of its file: nothing was appended while it was read
            harvest = self._harvester.harvest(lease, exchange.answer, exchange.stored)
            gatherer.add(harvest)
            if not is_reported:
                self._employer.take(harvest)

    def _set_aside(self, suspect: Suspect) -> None:
        """Two workers died of an exchange: nobody reads it again."""
        path = self._home.archive / suspect.file
        exchange = next(iter_exchanges(path, suspect.start))
        what = "it killed two workers that read it"
        report = crashed(suspect.lease, exchange.answer, exchange.stored, what)
        self._employer.take(Harvest(report))

    def _post(self, name: str) -> Post:
        return Post(self._home.path, name, self._orders.run, self._orders.info)

    async def finish(self) -> None:
        """Let all workers end; whoever does not within a minute is killed."""
        self._is_closing = True
        await asyncio.gather(*self._hiring, return_exceptions=True)
        self._suspects.clear()  # the next start reads them
        for hand in self._hands:
            hand.desk.send(wire.frame(wire.CLOSE))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                while not all(hand.is_closed for hand in self._hands):
                    self._closed.clear()
                    await self._closed.wait()
        for hand in tuple(self._hands):
            if hand.is_closed:
                hand.process.wait()
            else:
                self.bury(hand)

    async def aclose(self) -> None:
        self._is_closing = True
        for hand in self._hands:
            hand.desk.hang_up()
            with contextlib.suppress(subprocess.TimeoutExpired):
                hand.process.wait(timeout=10)
            hand.process.kill()
            hand.process.wait()
            if hand.descriptor >= 0:
                os.close(hand.descriptor)
            self._post(hand.name).marker.unlink(missing_ok=True)
        self._hands.clear()


def _started() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A new worker process, and our end of its socket."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        process = subprocess.Popen(  # noqa: S603  # our own module, by our own interpreter
            [sys.executable, "-m", "gossamer.crawl.worker_main", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    return process, ours


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        sync_descriptor(descriptor)
    finally:
        os.close(descriptor)
