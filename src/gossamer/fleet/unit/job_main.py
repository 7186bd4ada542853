"""The process of one job: crawl, then pack and send. `running_job.py` starts it.

    python -m gossamer.fleet.unit.job_main DIR JOBFOLDER

It is a whole node with a collection of its own, without index and graph. It sends requests only
while its permit holds. When its stdin ends, the unit is gone, and it stops; all that was fetched
stays, and the next process of the job continues. `progress.json` tells how far it is and how it
ended; without an ending it is started again.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from gossamer.base.clock import SystemClock
from gossamer.base.garbage import allocate_large_separately, search_seldom
from gossamer.base.processes import die_with_parent
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CollectionInUse, GossamerError, HubRefusal, UsageError
from gossamer.fetch.permit import FilePermit
from gossamer.fleet.protocol import JobEnding, JobProgress, SharedRobots
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.folder import UnitFolder
from gossamer.fleet.unit.job_folder import JobFolder, JobTold, UnitJob
from gossamer.fleet.unit.job_settings import job_settings, seeds_within
from gossamer.fleet.unit.job_watch import LogWatch, stored_verdicts
from gossamer.fleet.unit.sending import pack_and_send
from gossamer.node.build import Opened
from gossamer.node.node import Node
from gossamer.node.seeds import UnknownHost, form_of, read_seeds
from gossamer.node.session import CrawlPlan, opened
from gossamer.node.visits.revisit_filter import RevisitFilter
from gossamer.schedule.robots_fetches import FetchedRobots
from gossamer.settings import Settings, with_values

_TELL_EVERY_S: Final = 0.5
_LOOPS_EVERY_S: Final = 15.0
_LOCK_S: Final = 60.0  # the process before may still be ending
_MOST_USED: Final = 1_000
_ROBOTS_CHARS: Final = 100_000  # of a robots.txt that others are told
_MOST_ADDRESSES: Final = 200
# How a crawl may end so that the job is done.
_DONE: Final = frozenset(
    {"done", "max-pages", "max-bytes", "max-time", "max-matches", "threshold", "keep-best"}
)


@dataclass(slots=True)
class JobProcess:
    """One run of a job."""

    folder: UnitFolder
    job: JobFolder
    noted: UnitJob
    owner: UnitSettings
    told: JobTold

    def tell(self, progress: JobProgress | None = None, **changes: Any) -> None:
        """Write how far the job is."""
        self.told = structs.replace(
            self.told,
            progress=progress or self.told.progress,
            at_us=SystemClock().wall_us(),
            **changes,
        )
        self.job.tell(self.told)

    def end(self, ending: JobEnding, reason: str = "") -> None:
        self.tell(ending=ending, reason=reason[:500])

    # -- steps

    async def run(self) -> None:
        """Crawl unless that is done, then pack and send."""
        if not self.told.is_crawled:
            stopped = await self._crawl()
            if stopped not in _DONE:
                self.tell(stopped=stopped)
                if stopped.startswith("disk"):
                    self.end("failed", f"the crawl stopped: {stopped}")
                return
            self.tell(is_crawled=True, stopped=stopped)
        self._send()
        self.end("done")

    def _send(self) -> None:
        self.tell(structs.replace(self.told.progress, phase="package"))

        def on_progress(sent: int, total: int) -> None:
            progress = structs.replace(
                self.told.progress, phase="send", sent_bytes=sent, to_send_bytes=total
            )
            self.tell(progress)

        pack_and_send(self.folder, self.job, self.noted.assignment, on_progress)

    async def _crawl(self) -> str:
        """Crawl; why it ended."""
        assignment = self.noted.assignment
        values = job_settings(assignment, self.owner, self.folder, self.job)
        settings = with_values(Settings(), values)
        if (most_s := assignment.spec.max_time_s) > 0:
            values["limits.max_time_s"] = max(1.0, most_s - self.noted.ran_s)
        seeds = read_seeds(assignment.spec.seeds, form_of(settings))
        allowed = seeds_within(seeds, assignment.hosts)
        if not allowed:
            raise UsageError("no seed of the job is on its hosts")
        plan = CrawlPlan(
            self.job.collection,
            allowed,
            values,
            may_change=True,
            may_add=True,
            revisit=RevisitFilter() if self.noted.is_revisit else None,
        )
        async with opened(plan) as opening:
            return await self._run_node(opening)

    async def _run_node(self, opening: Opened) -> str:
        node, loop = opening.node, asyncio.get_running_loop()
        permit = FilePermit(self.job.permit)
        node.may_continue = permit.is_valid
        self._share(node)
        stop_when_alone(lambda: loop.call_soon_threadsafe(node.stop, "signal"))
        teller = Teller(self, node)
        telling = asyncio.create_task(teller.keep())
        try:
            summary = await node.run()
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            permit.close()
        teller.tell_now()
        return summary.stopped

    def _share(self, node: Node) -> None:
        """Use what other units have told about the hosts, and tell what this one learns."""
        assignment, scheduler = self.noted.assignment, node.scheduler
        for robots in assignment.robots:
            scheduler.share_robots(
                FetchedRobots(
                    robots.origin,
                    robots.status,
                    robots.body.encode("utf-8", "replace"),
                    robots.fetched_us,
                )
            )
        for host, wait_s in assignment.host_waits.items():
            scheduler.hold_until(host, self.noted.at_us + round(wait_s * 1e6))
        scheduler.tell_others(self._note_robots)

    def _note_robots(self, fetched: FetchedRobots) -> None:
        body = fetched.body.decode("utf-8", "replace")
        if len(body) <= _ROBOTS_CHARS:
            shared = SharedRobots(
                origin=fetched.origin, status=fetched.status, body=body, fetched_us=fetched.at_us
            )
            self.job.add_robots(shared)


class Teller:
    """Tells how far a crawl is, while it runs."""

    def __init__(self, process: JobProcess, node: Node) -> None:
        self._process = process
        self._node = node
        self._clock = SystemClock()
        self._log = LogWatch(CollectionPaths(process.job.collection).log)
        self._used: dict[str, tuple[float, int]] = dict(process.told.used)
        self._loops_s = 0.0
        self._ran_before_s = process.noted.ran_s

    async def keep(self) -> None:
        """For ever. The caller cancels this task."""
        while True:
            await self._clock.sleep_until(self._clock.now_s() + _TELL_EVERY_S)
            self._node.nudge()  # the permit may have been renewed
            self.tell_now()

    def tell_now(self) -> None:
        progress, before = self._node.progress(), self._process.told.progress
        self._log.look()
        loops = before.loops
        if self._clock.now_s() >= self._loops_s:
            self._loops_s = self._clock.now_s() + _LOOPS_EVERY_S
            loops = self._log.loops(stored_verdicts(self._process.job.collection))
        told = JobProgress(
            job=before.job,
            fence=before.fence,
            fetched=progress.fetched,
            queued=progress.queued,
            failed=progress.failed,
            refused=progress.refused,
            unchanged=progress.unchanged,
            bytes=progress.bytes,
            pages_per_s=progress.pages_per_s,
            ran_s=round(self._ran_before_s + progress.wall_s, 1),
            addresses=tuple(sorted(self._node.scheduler.addresses())[:_MOST_ADDRESSES]),
            unresolved=tuple(self._log.unresolved),
            robots_refused=tuple(self._log.robots_refused),
            recent=tuple(self._log.recent),
            loops=loops,
        )
        self._process.tell(told, used=self._take_used())

    def _take_used(self) -> dict[str, tuple[float, int]]:
        """The delay of each host, and when its last answer came; the newest hosts come last."""
        now_us = self._clock.wall_us()
        for host, (delay_s, since_s) in self._node.scheduler.take_used().items():
            self._used.pop(host, None)
            self._used[host] = delay_s, now_us - round(since_s * 1e6)
        while len(self._used) > _MOST_USED:
            del self._used[next(iter(self._used))]
        return self._used


def stop_when_alone(stop: Any) -> None:
    """Call `stop` when stdin ends: the unit has ended, in whatever way."""

    def wait() -> None:
        with suppress(OSError, ValueError):
            while sys.stdin.buffer.read(1):
                pass
        with suppress(RuntimeError):  # the crawl has ended, and its event loop with it
            stop()

    threading.Thread(target=wait, daemon=True).start()


def main(folder: UnitFolder, job: JobFolder) -> int:
    """Run the job; the exit code. What can be told of a fault is in progress.json."""
    noted = job.read_job()
    if noted is None:
        return 2
    assignment, told = noted.assignment, job.read_told()
    first = JobProgress(job=assignment.job, fence=assignment.fence, ran_s=noted.ran_s)
    if told is None:
        told = JobTold(progress=first)
    fenced = structs.replace(told.progress, fence=assignment.fence)
    told = structs.replace(told, progress=fenced, ending=None, reason="")
    try:
        process = JobProcess(folder, job, noted, folder.read_settings(), told)
        process.tell()
        return _run(process)
    except OSError as fault:
        print(f"the job cannot run: {fault}", file=sys.stderr)
        return 1


def _run(process: JobProcess) -> int:
    until_s = SystemClock().now_s() + _LOCK_S
    while True:
        try:
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(process.run())
        except CollectionInUse:
            if SystemClock().now_s() < until_s:
                threading.Event().wait(0.2)
                continue
            return 1
        except UnknownHost as fault:
            seeds = process.noted.assignment.spec.seeds[:20]
            process.tell(structs.replace(process.told.progress, unresolved=tuple(seeds)))
            process.end("failed", str(fault))
        except HubRefusal as fault:
            if fault.status in (401, 409):
                return 1  # the unit finds out at its next poll
            process.end("failed", str(fault))
        except ImportError as fault:
            process.end("failed", f"this unit cannot do the job: {fault}")
        except UsageError as fault:
            process.end("failed", str(fault))
        except GossamerError as fault:
            print(str(fault), file=sys.stderr)
            return 1
        return 0


def _new_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.SelectorEventLoop()  # libcurl's sockets need a selector
    import uvloop

    return uvloop.new_event_loop()


if __name__ == "__main__":
    die_with_parent()
    allocate_large_separately()
    search_seldom()
    unit = UnitFolder(Path(sys.argv[1]))
    if hasattr(os, "nice"):
        with suppress(OSError, GossamerError):
            os.nice(unit.read_settings().nice)
    sys.exit(main(unit, JobFolder(Path(sys.argv[2]))))
