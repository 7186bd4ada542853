"""A worker process: receives leases on a socket, and sends reports in the order of its WARC file.

`process_pool.py` starts it as `python -m gossamer.workers.worker_main DESCRIPTOR`. It ends on a
message of the node, when the node is gone, and at the first disk fault. It requests only URLs for
which it has a lease.
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
from gossamer.base.garbage import allocate_large_separately, search_seldom
from gossamer.base.processes import die_with_parent
from gossamer.collection.forgotten import read_forgotten
from gossamer.collection.forgotten_list import TakedownFiles
from gossamer.errors import DiskFault, GossamerError
from gossamer.fetch.cookies import Jar
from gossamer.fetch.network import cookies_in
from gossamer.policies.named_order import looks_at_anchors
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
_FLUSH_AT: Final = 32  # number of reports that are sent at once
_FLUSH_AT_BYTES: Final = 8_000_000  # of them
_FLUSH_AFTER_S: Final = 0.008  # or this long after the first


class NodeConnection(asyncio.Protocol):
    """The worker's end of the socket."""

    def __init__(self) -> None:
        self._frames = wire.Frames(wire.read_by_worker)
        self._transport: asyncio.Transport | None = None
        self._worker: Worker | None = None
        self._is_indexed = True
        self._clock = SystemClock()
        self._tasks: set[asyncio.Task[None]] = set()  # cancelled when the worker ends
        self._writing: set[asyncio.Task[None]] = set()  # awaited when the worker ends
        self._reports: list[bytes] = []
        self._report_bytes = 0
        self._has_anchors = False  # the node needs anchor texts without an index, too
        self._flush_timer: asyncio.TimerHandle | None = None
        self._has_failed = False
        self._loop = asyncio.get_running_loop()  # each lookup is a system call
        self.ended: asyncio.Future[None] = self._loop.create_future()

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not a subclass
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._has_failed:
            return
        try:
            for message in self._frames.feed(data):
                self._handle(message)
        except Exception as fault:  # noqa: BLE001  # it ends the worker, which reports it to the node
            self._fail(fault)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """The node is gone: end at once. The next node finds everything in the archive."""
        os._exit(0)

    # -- messages from the node

    def _handle(self, message: wire.ToWorker) -> None:
        match message:
            case wire.Leases(leases):
                for lease in leases:
                    self._begin(lease)
            case wire.Hello():
                self._worker = _build(message)
                self._is_indexed = message.settings["node.index"]
                self._has_anchors = looks_at_anchors(message.settings["frontier.order"])
                self._spawn(self._tasks, self._send_alive())
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
                self._fail(fault)

        task.add_done_callback(done)

    def _fail(self, fault: BaseException) -> None:
        """Report the fault, and wait to be killed: the node recovers the archived exchanges.

        The connection stays open. If it was closed, a message that the node is just sending would
        fail, and the node would never read this report.
        """
        if self._has_failed:
            return
        self._has_failed = True
        self._drop_leases()
        if isinstance(fault, OSError):
            fault = disk_fault("a worker cannot write its files", fault)
        if isinstance(fault, GossamerError):
            what = str(fault)
        else:
            traceback.print_exception(fault)
            what = f"a worker failed because of a bug ({fault!r}); please report it"
        self._flush()
        is_full = isinstance(fault, DiskFault) and fault.is_full
        is_read_only = isinstance(fault, DiskFault) and fault.is_read_only
        self._send(wire.frame(wire.Fault(what, is_full, is_read_only)))

    @property
    def _working(self) -> Worker:
        assert self._worker is not None, "HELLO comes first"
        return self._worker

    def _begin(self, lease: Lease) -> None:
        """Send the request without a task, which would cost 10 microseconds per page."""
        fetcher = self._working.fetcher
        if fetcher.is_full:
            self._spawn(self._tasks, self._fetch_and_store(lease))
        else:
            fetcher.start(lease, partial(self._store, lease), self._fail)

    def _store(self, lease: Lease, answer: Answer) -> None:
        try:
            self._report(self._working.store(lease, answer))
        except Exception as fault:  # noqa: BLE001  # it ends the worker, which reports it to the node
            self._fail(fault)

    async def _fetch_and_store(self, lease: Lease) -> None:
        self._report(await self._working.fetch_and_store(lease))

    def _drop_leases(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._worker is not None:
            self._worker.fetcher.cancel_all()

    def _report(self, processed: ProcessedPage) -> None:
        working = self._working
        if changes := working.jar.take_changes():
            self._send(wire.frame(wire.Cookies(changes)))
        self._collect(processed)
        if self._should_flush:
            self._flush()
        elif self._flush_timer is None:
            self._flush_timer = self._loop.call_later(_FLUSH_AFTER_S, self._flush)
        if working.links.is_due:
            self._spawn(self._writing, self._write_part())

    @property
    def _should_flush(self) -> bool:
        """Whether to send the reports now. A message wakes the node, and its leases wake this
        process. So while there are many leases left, more reports are collected; without any left
        nothing is held back.
        """
        # one of the tasks sends Alive
        left = self._working.fetcher.under_way + len(self._tasks) - 1
        is_much = len(self._reports) >= _FLUSH_AT or self._report_bytes >= _FLUSH_AT_BYTES
        return is_much or len(self._reports) >= 4 * left

    def _reread(self, lease: Lease, file: str, start: int) -> None:
        """Read an exchange of another worker. Its links are written at once, because they are in no
        file of this worker.
        """
        processed = self._working.read_again(lease, file, start)
        self._collect(processed)
        self._flush()
        self._spawn(self._writing, self._write_part())

    def _collect(self, processed: ProcessedPage) -> None:
        """Encode the report while its data is in the CPU cache. It is sent with others."""
        needed = wire.for_node(
            processed, is_indexed=self._is_indexed, has_anchors=self._has_anchors
        )
        report = wire.frame(wire.Reported(needed))
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
            self._flush()  # everything that a part covers is reported before it
            self._send(wire.frame(part))

    async def _send_alive(self) -> None:
        while True:
            await asyncio.sleep(_ALIVE_EVERY_S)
            self._send(wire.frame(wire.Alive()))

    async def _close(self) -> None:
        """End cleanly: drop leases in flight, write the links, close the file."""
        self._drop_leases()
        # Wait for a part that is being written: the next part would claim its bytes again.
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
        settings,
        Keys(hello.salt),
        forgotten,
        counts_links=hello.counts_links,
        archive=context.paths / "archive",
    )
    jar = Jar(cookies_in(settings.fetch.cookies_file), is_open=settings.fetch.cookies)
    jar.empty()  # those of the node are newer
    jar.put(hello.cookies)
    gatherer = build_gatherer(settings, context, clock)
    return build_worker(settings, context, processor, gatherer, clock, jar)


async def _serve(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ours = socket.socket(fileno=descriptor)
    ours.setblocking(False)
    transport, connection = await loop.create_connection(NodeConnection, sock=ours)
    await connection.ended
    transport.close()
    await asyncio.sleep(0)


def main(descriptor: int, factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the node handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    die_with_parent()
    allocate_large_separately()
    search_seldom()
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_serve(descriptor))


if __name__ == "__main__":
    import uvloop

    main(int(sys.argv[1]), uvloop.new_event_loop)
