"""Apply the retention rule and the disk budget while a crawl runs.

About once a minute the disk use is measured. The rule is applied once a day
(`archive.prune_every_h`), and also when nine tenths of the budget (`archive.max_disk_bytes`) are
used. If the rule frees too little and the budget is reached, the crawl stops. The work is done by a
process of low priority (`program.py`), so requests continue.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from gossamer.base.packing import unpack
from gossamer.collection.disk_use import DiskUse, disk_use
from gossamer.errors import StoreError
from gossamer.frontier.meta_keys import PRUNED_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.parts import Parts
from gossamer.node.retention.pruner import Pruner
from gossamer.policies.retention import RetentionRule

_EVERY_S: Final = 60.0
_NEAR: Final = 0.9  # of the budget: then the rule is applied at once
_NEAR_SHARE: Final = 0.02  # and files are rewritten for less
_AGAIN_S: Final = 600.0  # after a run that did not free enough
BUDGET: Final = "disk-budget"  # why a crawl stopped
_HOUR_US: Final = 3_600_000_000

log = logging.getLogger(__name__)


class Retention:
    """The regular work of one running node."""

    def __init__(self, parts: Parts, pruner: Pruner, stop: Callable[[str], None]) -> None:
        self._parts = parts
        self._pruner = pruner
        self._stop = stop
        self._settings = parts.settings.archive
        self._tried_s = float("-inf")
        self._ordered: RetentionRule | None = None
        self._wake = asyncio.Event()
        self._began_us = parts.clock.wall_us()

    def order(self, rule: RetentionRule) -> None:
        """Apply a rule soon, because the operator wants it."""
        self._ordered = rule
        self._wake.set()

    @property
    def is_busy(self) -> bool:
        return self._ordered is not None or self._pruner.is_running

    async def keep_up(self) -> None:
        """Work until cancelled. Raises DiskFault if a commit fails."""
        while True:
            await self._once()
            await self._wait()

    async def _wait(self) -> None:
        clock = self._parts.clock
        waits = [
            asyncio.ensure_future(clock.sleep_until(clock.now_s() + _EVERY_S)),
            asyncio.ensure_future(self._wake.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._wake.clear()

    async def _once(self) -> None:
        await asyncio.to_thread(self._pruner.delete_replaced)
        if self._ordered is not None:
            rule = self._ordered
            try:
                await self._prune(rule)
            finally:
                self._ordered = None
        budget = self._settings.max_disk_bytes
        used = await self._used() if budget else DiskUse()
        is_near = bool(budget) and used.total >= budget * _NEAR
        if is_near and self._may_try():
            await self._prune(RetentionRule.read(self._settings.keep), _NEAR_SHARE)
            await asyncio.to_thread(self._pruner.delete_replaced, 0.0)
            used = await self._used()
        elif self._is_due():
            await self._prune(RetentionRule.read(self._settings.keep))
        if budget and used.total >= budget:
            self._stop(BUDGET)

    async def _used(self) -> DiskUse:
        return await asyncio.to_thread(disk_use, self._parts.paths.path)

    def _may_try(self) -> bool:
        """Not again and again: each run reads all captures."""
        return self._parts.clock.now_s() >= self._tried_s + _AGAIN_S

    def _is_due(self) -> bool:
        every_us = self._settings.prune_every_h * _HOUR_US
        row = self._parts.frontier.pending.find(StateTable.META, PRUNED_KEY)
        last_us = unpack(row)[3] if row else self._began_us
        return bool(every_us) and self._parts.clock.wall_us() - last_us >= every_us

    async def _prune(self, rule: RetentionRule, share: float | None = None) -> None:
        self._tried_s = self._parts.clock.now_s()
        try:
            pruned = await self._pruner.run(rule, share)
        except StoreError as error:
            log.warning("cannot delete old captures: %s", error)
            return
        for problem in pruned.problems:
            log.warning("an archive file was not rewritten: %s", problem)
