"""The node: the only writer of a collection's state, and the main loop of a crawl.

It gives leases to its worker pool while there is room, takes the processed pages that return, in
the order of the archive, and commits about once a second. Page content is not handled here: see
`workers/worker.py` for the path of one URL, `schedule/scheduler.py` for which host is requested
when, `learning.py` for the use of a processed page, `commit.py` for the order of writes, and
`ending.py` for the work after the last page.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from gossamer.base.disk import is_mounted_read_only
from gossamer.base.handles import room_for_connections
from gossamer.errors import DiskFault, GossamerError
from gossamer.frontier.rows import UrlRow
from gossamer.node.bans import LiveBans
from gossamer.node.end_rule import EndRule
from gossamer.node.ending import complete
from gossamer.node.figures.moment import CrawlMoment
from gossamer.node.figures.node_figures import NodeFigures
from gossamer.node.figures.progress import Progress, Summary, summarise
from gossamer.node.learning import Learner
from gossamer.node.parts import Parts
from gossamer.node.retention.keeping import Retention
from gossamer.node.retention.pruner import Pruner
from gossamer.policies.disk import least_free_bytes
from gossamer.policies.throttle import Throttle
from gossamer.records import Lease, Purpose, Report
from gossamer.schedule.host import Host
from gossamer.schedule.scheduler import Scheduler
from gossamer.workers.pool import PoolOwner
from gossamer.workers.process import ProcessedPage
from gossamer.workers.wire import PartWritten, with_text

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.node.focus.live_focus import LiveFocus

_IDLE_WAIT_S: Final = 1.0  # if there is nothing to wait for but the next commit
_LEASES_AT_ONCE: Final = 64  # then the event loop runs other tasks
_GRACE_AT_TIME_S: Final = 5.0  # for responses in flight at the end of the time limit
_DISK_CHECK_S: Final = 5.0
_MANY_LINKS: Final = 1_000_000  # ranking and merging take about 5 s
_ROWS_AT_ONCE: Final = 50_000  # in one commit while an archive is read: about 20 MB


class Node:
    """A running crawl."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._scheduler = parts.scheduler
        self._index = parts.index
        self._clock = parts.clock
        self._figures = NodeFigures(parts)
        self._end_rule = EndRule(parts)
        self._changed = asyncio.Event()
        self._is_much = asyncio.Event()  # much waits for the index: commit early
        self._stop = ""  # reason of the stop
        self._is_paused = False
        self._is_done = False
        self._connections = room_for_connections(parts.settings.fetch.connections)
        parts.scheduler.resize(self._connections)
        fetch = parts.settings.fetch
        self._throttle = Throttle(
            parts.settings.node.hours, fetch.max_rate_bytes, fetch.requests_per_s
        )
        self._fault: BaseException | None = None
        self._next_disk_check_s = 0.0
        self._learner = Learner(
            frontier=parts.frontier,
            exchange=parts.exchange,
            scheduler=parts.scheduler,
            admission=parts.admission,
            committer=parts.committer,
            crawl_log=parts.crawl_log,
            index=parts.index,
            is_match=parts.is_match,
            reread=parts.reread,
            archive=parts.paths.archive,
            clock=parts.clock,
            revisits=parts.revisits,
            keeping=parts.keeping,
        )
        if parts.keeping is not None:
            parts.committer.before = parts.keeping.before_commit
        self.pruner = Pruner(parts)
        self.retention = Retention(parts, self.pruner, self.stop)
        self.on_processed: Callable[[ProcessedPage], None] | None = None
        # False while a slow consumer of pages holds leases back
        self.may_continue: Callable[[], bool] = _always

    # -- commands

    def stop(self, why: str = "signal") -> None:
        """Give no more leases. Requests in flight may complete."""
        self._stop = self._stop or why
        self._changed.set()

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._changed.set()

    def score_of(self, url: str) -> dict[str, Any] | None:
        """The parts of the score of a URL; None if it has none (`policies/orders/explained.py`)."""
        selection = self._frontier.selection
        if selection is None:
            return None
        key = self._scheduler.key_of(url)
        parts = selection.explain(self._parts.settings.frontier.order, key)
        return parts.as_json() if parts is not None else None

    @property
    def bans(self) -> LiveBans:
        return self._parts.bans

    @property
    def scheduler(self) -> Scheduler:
        return self._scheduler

    @property
    def _is_open(self) -> bool:
        return not self._is_paused and self._throttle.is_open(self._clock.wall_us())

    def nudge(self) -> None:
        """Wake the main loop, because a condition it waits for may have changed."""
        self._changed.set()

    # -- the main loop

    async def run(self) -> Summary:
        """Crawl until the queue is empty, a limit is reached, or `stop` is called.

        Raises DiskFault when the disk failed. If it is full or read-only, the summary says so.
        """
        pool = self._parts.pool
        await pool.start(PoolOwner(self.take, self._take_part, self._take_back, self._fail))
        recorder = self._figures.recorder()
        notifier = self._parts.notifier
        if notifier is not None:
            notifier.start(self._fail)
        async with asyncio.TaskGroup() as tasks:
            committing = tasks.create_task(self._or_fail(self._commit_regularly))
            banning = tasks.create_task(self._or_fail(self._parts.bans.keep_up))
            keep_scores = partial(self._parts.scores.keep_up, self._changed.set)
            rescoring = tasks.create_task(self._or_fail(keep_scores))
            recording = tasks.create_task(recorder.keep())
            pruning = tasks.create_task(self._or_fail(self.retention.keep_up))
            others = [
                tasks.create_task(self._or_fail(partial(work, self._changed.set)))
                for work in self._parts.background
            ]
            if self._parts.comparing is not None:
                keep_up = self._parts.comparing.keep_up
                others.append(tasks.create_task(self._or_fail(keep_up)))
            await self._or_fail(partial(self._give_leases, tasks))
            await self._wait_for_answers()
            for task in (banning, rescoring, recording, pruning, *others):
                task.cancel()
            recorder.note()  # nothing is fetched after this
            committing.cancel()  # between two commits; a running commit completes
            finishing = asyncio.ensure_future(pool.finish())  # runs meanwhile
        await finishing
        stopped = self._stop or "done"
        if self._parts.revisit_run is not None:
            self._parts.revisit_run.finish()
        if self._fault is None:
            try:
                await complete(self._parts, is_whole=self._may_take_time(stopped))
                if notifier is not None:
                    await notifier.finish()
            except DiskFault as fault:
                self._fault = fault
        if self._fault is not None:
            stopped = self._stopped_by(self._fault)
            if stopped == "fault":
                raise self._fault
        self._is_done = True
        recorder.note()
        # After a disk fault only committed data counts: the rest may not be on disk.
        has_all = self._fault is None
        counts = self._frontier.counts if has_all else self._frontier.committed_counts()
        summary = summarise(counts, self._figures.began_s, self._clock.now_s(), stopped)
        return summary if self._index is not None else replace(summary, indexed=0)

    async def _or_fail(self, work: Callable[[], Awaitable[None]]) -> None:
        """Stop the crawl with the sentence of an error: a plug-in failed, or the state is damaged.
        A task group would raise a group of errors, which nobody expects."""
        try:
            await work()
        except GossamerError as fault:
            self._fail(fault)

    def _may_take_time(self, stopped: str) -> bool:
        """Whether the end may build everything that needs all pages. Not after a time limit if
        there are so many links that ranking takes many seconds.
        """
        is_large = self._frontier.counts.links > _MANY_LINKS
        return stopped != "signal" and not (stopped == "max-time" and is_large)

    async def _give_leases(self, tasks: asyncio.TaskGroup) -> None:
        pool, connections = self._parts.pool, self._connections
        while not self._stop:
            self._changed.clear()
            room = min(connections - pool.under_way, _LEASES_AT_ONCE) if pool.is_ready else 0
            leases: list[Lease] = []
            if room and self._may_request():
                room = self._throttle.room(self._clock.now_s(), room)
                leases = self._scheduler.next_leases(room)
            if leases:
                self._throttle.sent(len(leases), self._clock.now_s())
                pool.give(leases)
            for host in self._scheduler.take_unresolved():
                tasks.create_task(self._or_fail(partial(self._resolve, host)))
            if over := self._end_rule.reason(self._figures.ran_s):
                self.stop(over)
            if len(leases) == _LEASES_AT_ONCE:
                await asyncio.sleep(0)
            elif not self._stop:
                await self._wait()

    def _may_request(self) -> bool:
        """Whether the limits of the whole crawl allow a request now."""
        return (
            self._is_open
            and self._clock.now_s() >= self._throttle.open_at_s
            and self.may_continue()
            and not (self._index is not None and self._index.is_behind)
        )

    async def _wait(self) -> None:
        """Wait until a result arrives, a host is ready, or a periodic check is due."""
        now_s = self._clock.now_s()
        until_s = now_s + _IDLE_WAIT_S
        ready_s = self._scheduler.next_time_s()
        has_room = self._parts.pool.under_way < self._connections
        if ready_s is not None and has_room and self._is_open:
            until_s = min(until_s, max(ready_s, self._throttle.open_at_s, now_s + 0.001))
        timer = asyncio.get_running_loop().call_later(until_s - now_s, self._changed.set)
        try:
            await self._changed.wait()
        finally:
            timer.cancel()

    async def _resolve(self, host: Host) -> None:
        answer = await self._parts.resolver.resolve(host.name)
        self._scheduler.resolved(host, answer)
        self._changed.set()

    async def _wait_for_answers(self) -> None:
        """Wait a while for responses in flight after a stop."""
        grace_s = self._parts.settings.node.stop_grace_s
        if self._stop == "max-time":
            grace_s = min(grace_s, _GRACE_AT_TIME_S)
        deadline_s = self._clock.now_s() + grace_s
        while (
            self._parts.pool.under_way and self._fault is None and self._clock.now_s() < deadline_s
        ):
            self._changed.clear()
            try:
                async with asyncio.timeout(deadline_s - self._clock.now_s()):
                    await self._changed.wait()
            except TimeoutError:
                break

    # -- results

    def take(self, processed: ProcessedPage) -> None:
        """Learn an exchange that is in the archive."""
        if self._throttle.has_rate:
            self._throttle.took(processed.report.size_bytes, self._clock.now_s())
        self._learner.take(processed)
        if self._frontier.guard.withdrawn:
            self._frontier.guard.withdrawn = 0
            self._parts.bans.check_again()
        self._changed.set()
        if processed.report.lease.purpose is Purpose.PAGE:
            self._figures.note(processed.report)
        if self._index is not None and self._index.is_filling:
            self._is_much.set()
        if self.on_processed is not None and processed.report.lease.purpose is Purpose.PAGE:
            self.on_processed(with_text(processed))

    def replay(self, processed: ProcessedPage) -> None:
        """Learn an exchange that was archived before the last process ended."""
        self._learner.replay(processed)

    def take_imported(self, processed: ProcessedPage) -> None:
        """Learn an imported exchange."""
        self._learner.take_imported(processed)

    def take_older(self, processed: ProcessedPage) -> None:
        """Learn an exchange that is older than what is known of its page."""
        self._learner.take_older(processed)

    async def settle(self, *, is_whole: bool = True) -> None:
        """Commit, and build everything that needs all pages, without any request. If not
        `is_whole`, no page was added: ranks and anchor texts stay.

        Raises DiskFault.
        """
        await self._parts.pool.start(
            PoolOwner(self.take, self._take_part, self._take_back, self._fail)
        )
        await self._parts.pool.finish()
        if self._fault is not None:
            raise self._fault
        await complete(self._parts, is_whole=is_whole)
        self._is_done = True

    @property
    def is_full(self) -> bool:
        """Whether so much is uncommitted that a commit should not wait."""
        return self._frontier.pending.size >= _ROWS_AT_ONCE

    def current_row(self, report: Report) -> UrlRow | None:
        """The row of its URL, if it was made from this report."""
        return self._learner.current_row(report)

    def _take_part(self, part: PartWritten) -> None:
        self._parts.links.note(part)

    def _take_back(self, lease: Lease) -> None:
        """Undo a lease whose worker died."""
        self._scheduler.came_back(lease)
        self._changed.set()

    def _fail(self, fault: BaseException) -> None:
        self._fault = self._fault or fault
        self.stop(self._stopped_by(fault))

    def _stopped_by(self, fault: BaseException) -> str:
        """The name of a fault in the summary. A disk that failed may be read-only by now."""
        if not isinstance(fault, DiskFault):
            return "fault"
        if fault.is_full:
            return "disk-full"
        is_read_only = fault.is_read_only or is_mounted_read_only(self._parts.paths.path)
        return "disk-read-only" if is_read_only else "fault"

    # -- commits

    async def _commit_regularly(self) -> None:
        every_s = self._parts.settings.node.commit_every_s
        while True:
            await self._wait_to_commit(self._clock.now_s() + every_s)
            if self._frontier.wake_due(self._clock.wall_us()):
                self._changed.set()
            self._scheduler.forget_idle()
            self._check_disk()
            self._parts.pool.maintain()
            self._free_connections()
            if self._fault is not None:
                return  # something may be learned half: the next start reads it again
            await self._parts.committer.commit()

    async def _wait_to_commit(self, until_s: float) -> None:
        """Wait for the next commit, less long if much is waiting. A commit may take longer than the
        time between two, and leases would wait for the next one.
        """
        waits = [
            asyncio.ensure_future(self._clock.sleep_until(until_s)),
            asyncio.ensure_future(self._is_much.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._is_much.clear()

    def _free_connections(self) -> None:
        """End slow responses if all connections are in use and hosts wait."""
        pool = self._parts.pool
        if pool.under_way >= self._connections and self._scheduler.has_ready:
            pool.end_slow(max(1, self._connections // 8))

    def _check_disk(self) -> None:
        now_s = self._clock.now_s()
        if now_s < self._next_disk_check_s:
            return
        self._next_disk_check_s = now_s + _DISK_CHECK_S
        disk = shutil.disk_usage(self._parts.paths.path)
        if disk.free < least_free_bytes(self._parts.settings.node, disk.total):
            self.stop("disk-full")

    # -- figures

    def progress(self) -> Progress:
        return self._figures.progress(self._state())

    @property
    def focus(self) -> LiveFocus | None:
        """Of a crawl for a topic."""
        return self._parts.focus

    def moment(self) -> CrawlMoment:
        """The figures with limits, blocking hosts and the last outcomes, for a terminal."""
        is_closed = not self._throttle.is_open(self._clock.wall_us())
        return self._figures.moment(self._state(), is_closed=is_closed)

    @property
    def revisit_found(self) -> dict[str, int] | None:
        """What a revisit of known pages has found so far; None without one."""
        run = self._parts.revisit_run
        return run.found() if run is not None else None

    @property
    def has_disk_fault(self) -> bool:
        """Whether the crawl stopped because the disk was full or failed."""
        return isinstance(self._fault, DiskFault)

    @property
    def why_nothing(self) -> str:
        """For a crawl that fetched nothing: the reason, for one URL."""
        for row in self._frontier.rows(20):
            if row.detail:
                return f"{row.url}: {row.detail}"
        return ""

    def _state(self) -> str:
        if self._is_done:
            return "done"
        if self._stop:
            return "stopping"
        return "paused" if self._is_paused else "running"

    async def aclose(self) -> None:
        """Close everything, in any state."""
        parts = self._parts
        if parts.notifier is not None:
            await parts.notifier.aclose()
        parts.resolver.close()
        try:
            await parts.pool.aclose()
        finally:
            parts.crawl_log.close()
            parts.links.close()
            parts.close_store()


def _always() -> bool:
    return True
