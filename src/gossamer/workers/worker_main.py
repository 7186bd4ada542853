"""A worker process: leases come in on a socket, reports go out, in the order of its WARC file.

`process_pool.py` starts it as `python -m gossamer.workers.worker_main DESCRIPTOR`. It ends when
the node says so, when the node is gone, and at the first fault of the disk. It never asks for
anything that it was not given a lease for.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from gossamer.archive.writer import disk_fault
from gossamer.base.clock import SystemClock
from gossamer.base.garbage import keep_large_apart, search_seldom
from gossamer.base.processes import die_with_parent
from gossamer.collection.forgotten import read_forgotten
from gossamer.collection.forgotten_list import TakedownFiles
from gossamer.errors import DiskFault, GossamerError
from gossamer.fetch.cookies import Jar
from gossamer.fetch.network import cookies_in
from gossamer.records import Answer, Lease
from gossamer.settings import Settings, with_values
from gossamer.urls.keys import Keys
from gossamer.workers import wire
from gossamer.workers.build_worker import (
    WorkerContext,
    build_gatherer,
    build_processor,
    build_worker,
)
from gossamer.workers.process import ProcessedPage
from gossamer.workers.worker import Worker

_ALIVE_EVERY_S: Final = 1.0
_FLUSH_AT: Final = 32  # reports gathered before they are sent
_FLUSH_AT_BYTES: Final = 8_000_000  # of them
_FLUSH_AFTER_S: Final = 0.008  # or so long after the first


class Desk(asyncio.Protocol):
    """The worker's end of the socket."""

    def __init__(self) -> None:
        self._frames = wire.Frames(wire.read_by_worker)
        self._transport: asyncio.Transport | None = None
        self._worker: Worker | None = None
        self._is_indexed = True
        self._clock = SystemClock()
        self._tasks: set[asyncio.Task[None]] = set()  # that end with the worker
        self._writing: set[asyncio.Task[None]] = set()  # that it waits for
        self._reports: list[bytes] = []
        self._report_bytes = 0
        self._flush_timer: asyncio.TimerHandle | None = None
        self._has_given_up = False
        self._loop = asyncio.get_running_loop()  # asking each time is a call of the system
        self.ended: asyncio.Future[None] = self._loop.create_future()

    # -- what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop has transports of its own, which are no subclass
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._has_given_up:
            return
        try:
            for message in self._frames.feed(data):
                self._obey(message)
        except Exception as fault:  # noqa: BLE001  # it ends the worker, and the node hears why
            self._give_up(fault)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """The node is gone: what is archived is found by the next one. Nothing more is asked."""
        os._exit(0)

    # -- orders

    def _obey(self, message: wire.ToWorker) -> None:
        match message:
            case wire.Leases(leases):
                for lease in leases:
                    self._begin(lease)
            case wire.Hello():
                self._worker = _build(message)
                self._is_indexed = message.settings["node.index"]
                self._spawn(self._tasks, self._say_alive())
            case wire.Reread(lease, file, start):
                self._reread(lease, file, start)
            case wire.Cookies(cookies):
                self._working.jar.put(cookies)
            case wire.EndSlow(most):
                self._working.fetcher.end_slow(most)
            case wire.Close():
                self._spawn(self._writing, self._close())

    def _spawn(self, tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            if not task.cancelled() and (fault := task.exception()) is not None:
                self._give_up(fault)

        task.add_done_callback(done)

    def _give_up(self, fault: BaseException) -> None:
        """Say what is wrong, and wait to be killed: the node takes what is archived.

        We do not hang up. What the node is just sending would find nobody, and with its connection
        broken it would never read our last words.
        """
        if self._has_given_up:
            return
        self._has_given_up = True
        self._drop_leases()
        if isinstance(fault, OSError):
            fault = disk_fault("a worker could not write its files", fault)
        if isinstance(fault, GossamerError):
            what = str(fault)
        else:
            traceback.print_exception(fault)
            what = f"a worker failed by a fault of this program ({fault!r}); please report it"
        self._flush()
        is_full = isinstance(fault, DiskFault) and fault.is_full
        is_read_only = isinstance(fault, DiskFault) and fault.is_read_only
        self._send(wire.frame(wire.Fault(what, is_full, is_read_only)))

    @property
    def _working(self) -> Worker:
        assert self._worker is not None, "HELLO comes first"
        return self._worker

    def _begin(self, lease: Lease) -> None:
        """Ask, without a task of its own: that would cost 10 microseconds a page."""
        fetcher = self._working.fetcher
        if fetcher.is_full:
            self._spawn(self._tasks, self._carry(lease))
        else:
            fetcher.ask(lease, partial(self._keep, lease), self._give_up)

    def _keep(self, lease: Lease, answer: Answer) -> None:
        try:
            self._report(self._working.keep(lease, answer))
        except Exception as fault:  # noqa: BLE001  # it ends the worker, and the node hears why
            self._give_up(fault)

    async def _carry(self, lease: Lease) -> None:
        self._report(await self._working.carry(lease))

    def _drop_leases(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._worker is not None:
            self._worker.fetcher.give_all_up()

    def _report(self, processed: ProcessedPage) -> None:
        working = self._working
        if changes := working.jar.take_changes():
            self._send(wire.frame(wire.Cookies(changes)))
        self._gather(processed)
        if self._is_worth_a_frame:
            self._flush()
        elif self._flush_timer is None:
            self._flush_timer = self._loop.call_later(_FLUSH_AFTER_S, self._flush)
        if working.links.is_due:
            self._spawn(self._writing, self._write_part())

    @property
    def _is_worth_a_frame(self) -> bool:
        """Whether the node should hear now. A frame wakes it up, and leases it gives wake us: while
        there is much left to do here, more is gathered; with nothing left nobody waits."""
        left = self._working.fetcher.under_way + len(self._tasks) - 1  # one says that we are alive
        is_much = len(self._reports) >= _FLUSH_AT or self._report_bytes >= _FLUSH_AT_BYTES
        return is_much or len(self._reports) >= 4 * left

    def _reread(self, lease: Lease, file: str, start: int) -> None:
        """Read what another worker archived; its links at once, for they are in no file of ours."""
        processed = self._working.read_again(lease, file, start)
        self._gather(processed)
        self._flush()
        self._spawn(self._writing, self._write_part())

    def _gather(self, processed: ProcessedPage) -> None:
        """Pack it while what it holds is at hand; it is sent with others."""
        report = wire.frame(wire.Reported(wire.for_node(processed, is_indexed=self._is_indexed)))
        self._reports.append(report)
        self._report_bytes += len(report)

    def _flush(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer = None
        if self._reports:
            reports, self._reports, self._report_bytes = self._reports, [], 0
            self._send(b"".join(reports))

    async def _write_part(self) -> None:
        part = await self._working.links.write()
        if part is not None:
            self._flush()  # what a part covers is reported before it
            self._send(wire.frame(part))

    async def _say_alive(self) -> None:
        while True:
            await asyncio.sleep(_ALIVE_EVERY_S)
            self._send(wire.frame(wire.Alive()))

    async def _close(self) -> None:
        """End cleanly: leases under way are given up, links are written, the file is closed."""
        self._drop_leases()
        # A part under way is waited for: the next one would claim its bytes, too.
        others = self._writing - {asyncio.current_task()}
        await asyncio.gather(*self._tasks, *others, return_exceptions=True)
        await self._write_part()
        self._flush()
        await self._working.aclose()
        self._send(wire.frame(wire.Closed()))
        self.ended.set_result(None)

    def _send(self, data: bytes) -> None:
        assert self._transport is not None, "the connection was made"
        if not self._transport.is_closing():
            self._transport.write(data)


def _build(hello: wire.Hello) -> Worker:
    settings = with_values(Settings(), hello.settings)
    clock = SystemClock()
    context = WorkerContext(Path(hello.home), hello.name, hello.run, hello.info)
    forgotten = read_forgotten(TakedownFiles.of(context.paths))
    processor = build_processor(
        settings, Keys(hello.salt), forgotten, counts_links=hello.counts_links
    )
    jar = Jar(cookies_in(settings.fetch.cookies_file), is_open=settings.fetch.cookies)
    jar.empty()  # the node's are newer
    jar.put(hello.cookies)
    gatherer = build_gatherer(settings, context, clock)
    return build_worker(settings, context, processor, gatherer, clock, jar)


async def _serve(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    connection = socket.socket(fileno=descriptor)
    connection.setblocking(False)
    transport, desk = await loop.create_connection(Desk, sock=connection)
    await desk.ended
    transport.close()
    await asyncio.sleep(0)


def main(descriptor: int, factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the node's to hear
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    die_with_parent()
    keep_large_apart()
    search_seldom()
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(descriptor))


if __name__ == "__main__":
    import uvloop

    main(int(sys.argv[1]), uvloop.new_event_loop)
