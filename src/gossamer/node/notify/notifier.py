"""Send committed changes to the operator's webhook and command, beside the crawl.

Each target has a task of its own: it takes the next numbered changes, sends them as one batch, and
notes that they are delivered. A failed batch is sent again after a delay that doubles up to
`watch.max_delay_s`; changes after it wait, so the order holds. A kill between the sending and the
note repeats one batch, with the same id. The crawl never waits for a target: if more than
`watch.max_waiting` changes wait, the oldest are skipped, and the next batch says how many.

When the crawl ends, what still waits is sent within `watch.finish_s`; the rest goes with the next
run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from gossamer.base.clock import Clock
from gossamer.errors import GossamerError
from gossamer.node.notify.batch import Batch, batch_of
from gossamer.node.notify.positions import Position, Positions, notified_figures
from gossamer.node.notify.targets import Target
from gossamer.reader.changes import numbered_changes
from gossamer.settings import Watch

log = logging.getLogger(__name__)

_LOOK_EVERY_S: Final = 1.0  # as often as the crawl commits
_FIRST_DELAY_S: Final = 1.0
_LONGEST_FAULT: Final = 300


@dataclass(frozen=True, slots=True)
class Sender:
    """What a batch says of its collection."""

    origin: str
    collection: str


class Notifier:
    """Sends the changes of one running crawl."""

    def __init__(
        self,
        positions: Positions,
        targets: Sequence[Target],
        sender: Sender,
        clock: Clock,
        settings: Watch,
    ) -> None:
        self._positions = positions
        self._targets = targets
        self._sender = sender
        self._clock = clock
        self._settings = settings
        self._stopping = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, fail: Callable[[BaseException], None]) -> None:
        """Begin to send. `fail` hears of a disk that failed."""
        self._tasks = {
            target.name: asyncio.create_task(self._keep_sending(target, fail))
            for target in self._targets
        }

    async def finish(self) -> None:
        """Send what still waits, each batch at most once, for about `watch.finish_s`."""
        self._stopping.set()
        until_s = self._clock.now_s() + self._settings.finish_s
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=self._settings.finish_s)
        await asyncio.gather(
            *(self._send_rest(target, until_s) for target in self._targets if self._is_free(target))
        )

    def figures(self) -> dict[str, dict[str, Any]]:
        """What each target has got, for `status`."""
        return notified_figures(self._positions.store)

    async def aclose(self) -> None:
        """End all tasks. What was not delivered is sent in the next run."""
        for target in self._targets:
            target.end()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _is_free(self, target: Target) -> bool:
        """Whether no earlier batch is still in flight: a target gets one at a time."""
        task = self._tasks.get(target.name)
        return task is None or task.done()

    async def _keep_sending(self, target: Target, fail: Callable[[BaseException], None]) -> None:
        try:
            while not self._stopping.is_set():
                delay_s = _LOOK_EVERY_S
                if self._positions.waiting(target.name) and (batch := await self._next(target)):
                    delay_s = await self._deliver(target, batch)
                if delay_s:
                    await self._sleep(delay_s)
        except GossamerError as fault:
            fail(fault)

    async def _sleep(self, delay_s: float) -> None:
        """Wait so long, or until the end of the crawl."""
        until_s = self._clock.now_s() + delay_s
        waits = [
            asyncio.ensure_future(self._clock.sleep_until(until_s)),
            asyncio.ensure_future(self._stopping.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _send_rest(self, target: Target, until_s: float) -> None:
        while self._clock.now_s() < until_s and (batch := await self._next(target)):
            if await self._deliver(target, batch):
                return  # the next run tries again

    async def _next(self, target: Target) -> Batch | None:
        """The batch to send now; None if nothing waits. Changes that were forgotten, or are only
        noise, are passed over.
        """
        while True:
            position = await self._skip_excess(target)
            if position.end <= position.done:
                end = min(self._positions.last, position.done + self._settings.batch)
                if end <= position.done:
                    return None
                position = replace(position, end=end)
                await self._move(target, position)
            first, last = position.done + 1, position.end
            changes = await asyncio.to_thread(self._read, first, last)
            if changes:
                skipped = position.skipped - position.skipped_told
                about = self._sender
                return batch_of(about.origin, about.collection, (first, last), changes, skipped)
            await self._move(target, replace(position, done=last))

    def _read(self, first: int, last: int) -> list[Mapping[str, Any]]:
        found = numbered_changes(self._positions.store, first, last + 1, last - first + 1)
        return [{"number": one.number, **one.as_json()} for one in found if not one.is_noise]

    async def _skip_excess(self, target: Target) -> Position:
        position = self._positions.of(target.name)
        excess = self._positions.waiting(target.name) - self._settings.max_waiting
        if excess > 0:
            done = position.done + excess
            position = replace(position, done=done, end=done, skipped=position.skipped + excess)
            await self._move(target, position)
            log.warning(
                "%d changes were not sent to the %s: more than watch.max_waiting waited",
                excess,
                target.name,
            )
        return position

    async def _deliver(self, target: Target, batch: Batch) -> float:
        """Send a batch. Return how long to wait before the next attempt; 0 after a success."""
        fault = await asyncio.to_thread(target.send, batch)
        position = self._positions.of(target.name)
        now_us = self._clock.wall_us()
        if not fault:
            await self._move(
                target,
                replace(
                    position,
                    done=position.end,
                    delivered=position.delivered + batch.count,
                    batches=position.batches + 1,
                    skipped_told=position.skipped,
                    failures=0,
                    fault="",
                    delivered_us=now_us,
                ),
            )
            return 0.0
        failures = position.failures + 1
        fault = fault[:_LONGEST_FAULT]
        if not position.fault:
            log.warning(
                "the %s did not take a batch of changes, which is sent again: %s",
                target.name,
                fault,
            )
        failed = replace(position, failures=failures, fault=fault, fault_us=now_us)
        await self._move(target, failed)
        return min(_FIRST_DELAY_S * 2.0 ** min(failures - 1, 30), self._settings.max_delay_s)

    async def _move(self, target: Target, position: Position) -> None:
        await asyncio.to_thread(self._positions.move, target.name, position)
