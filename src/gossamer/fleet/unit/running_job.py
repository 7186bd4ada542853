"""A job as the unit sees it: its process, its permit, its limits, and what it tells."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import structs

from gossamer.base.clock import Clock
from gossamer.base.memory import resident_bytes
from gossamer.base.processes import PIPE, Started, end, start
from gossamer.collection.directory import CollectionPaths
from gossamer.fetch.permit import PermitWriter
from gossamer.fleet.protocol import (
    MAX_ROBOTS,
    Assignment,
    JobEnding,
    JobProgress,
    SharedRobots,
    UsedHost,
)
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.folder import UnitFolder
from gossamer.fleet.unit.idle.probes import cpu_ticks, process_tree
from gossamer.fleet.unit.job_folder import JobFolder, JobTold, UnitJob
from gossamer.node.control import NotRunning, send

_MODULE: Final = "gossamer.fleet.unit.job_main"
LEASE_SHARE: Final = 0.8  # of a lease, in which requests are sent
_STOP_S: Final = 30.0  # for requests in flight and the last commit; then it is killed
_CRASHES: Final = 4  # in a row, without a page more: the job fails
_CONTROL_S: Final = 5.0
_ROBOTS_BYTES: Final = 2**20  # in one poll
_CPU_ROOM_S: Final = 5.0  # of CPU time that may be used at once
_MB: Final = 2**20
_TICK_S: Final = 1 / (os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100)


class RunningJob:
    """One job of a unit, from its assignment to its ending."""

    def __init__(
        self,
        unit: UnitFolder,
        folder: JobFolder,
        noted: UnitJob,
        settings: UnitSettings,
        clock: Clock,
    ) -> None:
        self.folder = folder
        self.noted = noted
        self._unit = unit
        self._settings = settings
        self._clock = clock
        self._process: Started | None = None
        self._permit = PermitWriter(folder.permit)
        self._until_ns = 0  # end of the lease, with some margin
        self.is_suspended = False  # by the conditions of the unit
        self._is_throttled = False  # by the limit of CPU time
        self.ending: JobEnding | None = None
        self.reason = ""
        self._fetched_at_start = -1
        self._told_robots = 0  # bytes of robots.jsonl that were told
        self._cpu_before: tuple[float, float] | None = None
        self._cpu_room_s = _CPU_ROOM_S
        self._restart_at_s = 0.0
        self._was_too_large = False
        self.told = folder.read_told() or JobTold(
            progress=JobProgress(job=self.job, fence=noted.assignment.fence)
        )

    @property
    def assignment(self) -> Assignment:
        return self.noted.assignment

    @property
    def job(self) -> str:
        return self.noted.assignment.job

    @property
    def name(self) -> str:
        spec = self.assignment.spec
        return spec.name or (spec.seeds[0] if spec.seeds else self.job)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to fetch."""
        return self.told.is_crawled

    @property
    def pids(self) -> Sequence[int]:
        """Its processes."""
        return process_tree(self._process.pid) if self._process is not None else ()

    # -- lease

    def renew(self, asked_ns: int, lease_s: float) -> None:
        """The hub has renewed the lease in an answer to a request of that time (`boot_ns`)."""
        self._until_ns = asked_ns + round(lease_s * LEASE_SHARE * 1e9)
        self._apply_permit()

    def _apply_permit(self) -> None:
        is_held = self.is_suspended or self._is_throttled or self.ending is not None
        self._permit.until(0 if is_held else self._until_ns)

    def suspend(self) -> None:
        """Send no more requests for now; those in flight complete."""
        self.is_suspended = True
        self._apply_permit()

    def resume(self) -> None:
        self.is_suspended = False
        self._apply_permit()

    # -- process

    def keep_running(self) -> None:
        """Start the process, or start it again after it died; learn how it ended."""
        if self.ending is not None:
            return
        now_s = self._clock.now_s()
        if self._process is None:
            if now_s >= self._restart_at_s:
                self._start()
            return
        self._look()
        if self._process.poll() is not None:
            self._ended()

    def _start(self) -> None:
        self.noted = structs.replace(
            self.noted, starts=self.noted.starts + 1, ran_s=self.told.progress.ran_s
        )
        self.folder.save_job(self.noted)
        self._fetched_at_start = self.told.progress.fetched
        log = self.folder.log.open("wb")
        try:
            self._process = start(
                _MODULE, str(self._unit.path), str(self.folder.path), stdin=PIPE, stdout=log,
                stderr=log, own_session=True,
            )  # fmt: skip
        except OSError as fault:
            self.fail(f"cannot start a process: {fault.strerror}")
        finally:
            log.close()

    def _look(self) -> None:
        told = self.folder.read_told()
        if told is not None and told.progress.job == self.job:
            self.told = told
        self._watch_memory()
        self._watch_cpu()

    def _ended(self) -> None:
        """The process has ended by itself."""
        assert self._process is not None, "it was started"
        self._look()
        code = self._process.returncode
        end(self._process)
        self._process = None
        if self.told.ending is not None:
            self.ending, self.reason = self.told.ending, self.told.reason
            self._apply_permit()
            return
        has_more = self.told.progress.fetched > self._fetched_at_start
        crashes = 1 if has_more else self.noted.crashes + 1
        self.noted = structs.replace(self.noted, crashes=crashes)
        self.folder.save_job(self.noted)
        if crashes >= _CRASHES:
            self.fail(f"its process ended {crashes} times ({self._last_words() or f'code {code}'})")
        self._restart_at_s = self._clock.now_s() + min(30.0, 2.0 ** (crashes - 1) - 0.5)

    def _last_words(self) -> str:
        with suppress(OSError):
            lines = self.folder.log.read_text("utf-8", "replace").strip().splitlines()
            return lines[-1][:300] if lines else ""
        return ""

    def fail(self, reason: str) -> None:
        """The job cannot be done here."""
        self.conclude("failed", reason)

    def conclude(self, ending: JobEnding, reason: str = "") -> None:
        """End the job from outside; its process is stopped. What it has fetched stays."""
        if self.ending is None:
            self.ending, self.reason = ending, reason
        self._apply_permit()
        self.stop()

    def stop(self, within_s: float = _STOP_S) -> None:
        """Stop the process: requests in flight complete, and all is committed."""
        process = self._process
        if process is None:
            return
        self._permit.end()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()  # it stops when it reads the end
        end(process, within_s)
        self._look_last()
        self._process = None

    def _look_last(self) -> None:
        told = self.folder.read_told()
        if told is not None and told.progress.job == self.job:
            self.told = told

    def close(self) -> None:
        """Stop, and leave the job as it is for the next start of the unit."""
        self.stop()
        self._permit.close()

    # -- limits

    def _watch_memory(self) -> None:
        most = self._settings.max_memory_mb * _MB
        used = resident_bytes(self.pids) if most else None
        if used is None or used <= most:
            return
        if self._was_too_large:
            self.fail(f"it needs more memory than the unit allows ({used // _MB} MB)")
        self._was_too_large = True
        self.stop()  # it starts again, smaller: what it has learned is on disk

    def _watch_cpu(self) -> None:
        share, now_s = self._settings.max_cpu_share, self._clock.now_s()
        if not share:
            return
        used_s = sum(map(cpu_ticks, self.pids)) * _TICK_S
        before, self._cpu_before = self._cpu_before, (now_s, used_s)
        if before is None or used_s < before[1]:
            return
        gained_s = (now_s - before[0]) * share - (used_s - before[1])
        self._cpu_room_s = min(_CPU_ROOM_S, self._cpu_room_s + gained_s)
        is_over = self._cpu_room_s < (0.5 if self._is_throttled else 0.0)
        if is_over != self._is_throttled:
            self._is_throttled = is_over
            self._apply_permit()

    # -- orders to the crawl

    def ban(self, added: Sequence[str], lifted: Sequence[str]) -> None:
        """Apply a change of the banned list to the running crawl. Without one the next start reads
        the list."""
        with suppress(NotRunning):
            for line in added:
                self._send("ban", added=[line], lifted=[])
            for line in lifted:
                self._send("ban", added=[], lifted=[line])

    def set_pace(self, factors: Mapping[str, float]) -> None:
        """Other units request some of the addresses, too."""
        with suppress(NotRunning):
            self._send("pace", factors=dict(factors))

    def _send(self, order: str, **facts: object) -> None:
        send(CollectionPaths(self.folder.collection), order, wait_s=_CONTROL_S, **facts)

    # -- telling

    def progress(self) -> JobProgress:
        """For the next poll."""
        now_us = self._clock.wall_us()
        used = tuple(
            UsedHost(host=host, delay_s=delay_s, since_s=max(0.0, (now_us - at_us) / 1e6))
            for host, (delay_s, at_us) in self.told.used.items()
        )
        return structs.replace(
            self.told.progress,
            job=self.job,
            fence=self.assignment.fence,
            used=used,
            ending=self.ending,
            reason=self.reason,
        )

    def new_robots(self) -> tuple[tuple[SharedRobots, ...], int]:
        """Robots.txt files that no poll has told, and the position to note when one has."""
        try:
            with self.folder.robots_file.open("rb") as file:
                file.seek(self._told_robots)
                content = file.read(_ROBOTS_BYTES)
        except OSError:
            return (), self._told_robots
        lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)[:MAX_ROBOTS]
        found: list[SharedRobots] = []
        for line in lines:
            with suppress(msgspec.MsgspecError):
                found.append(msgspec.json.decode(line, type=SharedRobots))
        return tuple(found), self._told_robots + sum(map(len, lines))

    def robots_told(self, position: int) -> None:
        self._told_robots = position
