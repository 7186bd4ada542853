"""Give jobs to units, renew their leases, take jobs back, and end them.

Everything is decided in memory; rows that change are written before the unit gets its answer
(`state.py`). Leases are not written: after a restart of the hub each one begins anew, and a unit
that polls in time keeps its job. The caller holds the lock of the hub.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from gossamer.base.clock import Clock
from gossamer.errors import NotKnown, UsageError
from gossamer.fleet.hub import jobs as moves
from gossamer.fleet.hub.leases import HostLeases, LeaseEnds, judge_lease
from gossamer.fleet.hub.nearness import round_trip_ms
from gossamer.fleet.hub.pace import AddressUse, HostPaces
from gossamer.fleet.hub.queue import JobQueue
from gossamer.fleet.hub.robots import RobotsCache
from gossamer.fleet.hub.rows import FreeHostRow, JobRow, UnitRow
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.protocol import Assignment, JobProgress, JobSpec, UnitPlace
from gossamer.fleet.settings import HubSettings

_MOST_SKIPPED: Final = 20  # units that may not get a job because they failed it


@dataclass(slots=True)
class Heard:
    """What came of the progress that a unit told."""

    stop: list[str] = field(default_factory=list)
    renewed: dict[str, float] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)


class JobGiving:
    """Jobs, their queue and leases."""

    def __init__(
        self, state: HubState, settings: HubSettings, clock: Clock, audit: AuditLog
    ) -> None:
        self._state = state
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self._queue = JobQueue()
        self._hosts = HostLeases()
        self._ends = LeaseEnds()
        self.paces = HostPaces(settings.host_delay_s)
        self.addresses = AddressUse()
        self.robots = RobotsCache(settings.robots_s)
        self.progress: dict[str, JobProgress] = {}  # of jobs that are allocated
        self.round_trips: dict[str, dict[str, float]] = {}  # unit -> host -> milliseconds
        self._of_unit: dict[str, set[str]] = {}  # allocated jobs
        self._prefers: dict[str, tuple[str, float]] = {}  # job -> unit with its pages, until when
        self._own_jobs: dict[str, set[str]] = {}  # unit -> jobs that prefer it
        self._kept: dict[str, int] = {}  # jobs whose package is being checked
        self.on_failed: Callable[[JobRow], None] = lambda _job: None
        self.salt = ""  # of the central collection
        self._visited: set[str] = set()  # sites of jobs that are done
        self.on_ended: Callable[[str], None] = lambda _job: None
        self.may_check: Callable[[JobRow, UnitRow], bool] = lambda _job, _unit: True
        self._restore()

    def _restore(self) -> None:
        """Begin with the stored rows: every lease begins now."""
        now_s, now_us = self._clock.now_s(), self._clock.wall_us()
        for job in sorted(self._state.jobs, key=lambda job: job.number):
            if job.state == "allocated":
                self._lease(job, now_s)
            elif job.state == "done":
                self._visited.add(job.site)
        for job in self._state.jobs:
            self._wait(job)
        for row in list(self._state.hosts):
            self.paces.restore(row.host, now_s + max(0.0, (row.free_us - now_us) / 1e6))

    # -- new jobs

    def add(
        self, specs: Iterable[JobSpec], who: str, priority: int = 0, parent: str = ""
    ) -> list[JobRow]:
        """Make jobs, all or none; `parent` is the job of which they are parts. Raises
        UsageError."""
        checked = [moves.check_spec(spec) for spec in specs]
        if len(self._state.jobs) + len(checked) > self._settings.max_jobs:
            raise UsageError(f"the hub keeps at most {self._settings.max_jobs:,} jobs (`max_jobs`)")
        made = [self.add_one(spec, priority, parent=parent) for spec in checked]
        if made:
            self._audit.note(who, "add_jobs", count=len(made), first=made[0].id, name=made[0].name)
        return made

    def add_one(self, spec: JobSpec, priority: int = 0, **facts: object) -> JobRow:
        """Make a job of a checked specification."""
        number = self._state.next_number("jobs")
        job = moves.job_of(spec, number, self._clock.wall_us(), priority)
        for name, value in facts.items():
            setattr(job, name, value)
        self._state.put_spec(job.id, spec)
        self._state.jobs.put(job)
        self._wait(job)
        return job

    def job(self, name: str) -> JobRow:
        """Raises NotKnown."""
        found = self._state.jobs.get(name)
        if found is None:
            raise NotKnown(f"there is no job {name!r}")
        return found

    # -- what a unit tells

    def hear(self, unit: UnitRow, told: Iterable[JobProgress]) -> Heard:
        """Renew leases, note progress and endings."""
        heard = Heard()
        for progress in told:
            heard.told.add(progress.job)
            job = self._state.jobs.get(progress.job)
            if job is None or not self._hear_one(unit, job, progress):
                heard.stop.append(progress.job)
            elif job.state == "allocated":
                heard.renewed[job.id] = self._settings.lease_s
        return heard

    def _hear_one(self, unit: UnitRow, job: JobRow, told: JobProgress) -> bool:
        """Whether the unit may continue with the job, or has ended it as it may."""
        verdict = judge_lease(job, unit.id, told.fence)
        if verdict == "stale":
            was_its_own = job.unit == unit.id and job.fence == told.fence
            return was_its_own and not job.is_open  # its package has ended it: it tells that next
        if verdict == "late" and not self._return_to(unit, job, told.fence):
            return False
        self._ends.set(job.id, self._clock.now_s() + self._settings.lease_s)
        self.progress[job.id] = told
        moves.note_progress(job, told)
        self.addresses.note(job.id, told.addresses)
        self.paces.note(job.id, told.used, self._clock.now_s())
        if told.fetched and not job.has_started:
            job.has_started = True
            self._state.jobs.put_later(job)
        if told.ending is not None:
            self._end(unit, job, told)
        return True

    def _return_to(self, unit: UnitRow, job: JobRow, fence: int) -> bool:
        """A unit was silent and is back: it resumes the job if nobody else has it."""
        is_free = job.state == "unallocated" and fence == job.fence and not job.is_held
        if not is_free or not self._hosts.are_free(job.hosts):
            return False
        job.state, job.reason = "allocated", ""
        self._state.jobs.put(job)
        self._lease(job, self._clock.now_s())
        self._audit.note(unit.id, "returned", job=job.id, fence=fence)
        return True

    def _end(self, unit: UnitRow, job: JobRow, told: JobProgress) -> None:
        if told.ending == "done":
            if told.fetched and not self._has_package(job):
                self.fail(unit, job, "the unit sent no package")
            else:
                self.finish(unit, job)
        elif told.ending == "failed":
            self.fail(unit, job, told.reason or "the unit gave no reason")
        else:
            self.take_back(job, told.reason or told.ending or "")
            if told.ending == "released":
                until_s = self._clock.now_s() + self._settings.own_unit_s
                self._prefers[job.id] = (unit.id, until_s)
                self._own_jobs.setdefault(unit.id, set()).add(job.id)

    def _has_package(self, job: JobRow) -> bool:
        return bool(job.sent_bytes)

    # -- endings

    def finish(self, unit: UnitRow, job: JobRow) -> None:
        """The job is done, by this unit. Counted once: afterwards the job is not open."""
        self._unlease(job)
        moves.finish(job, self._clock.wall_us())
        job.unit = unit.id
        self._state.jobs.put(job)
        if not job.check_of:
            self._visited.add(job.site)
        unit.jobs_done += 1
        unit.pages += job.fetched
        unit.bytes += job.bytes
        self._state.units.put(unit)

    def fail(self, unit: UnitRow, job: JobRow, reason: str) -> None:
        """A try has failed. Another unit gets it next, if there is one."""
        self._unlease(job)
        moves.fail(job, reason, self._settings.max_tries, self._clock.wall_us())
        if job.state == "unallocated" and len(job.not_for) < _MOST_SKIPPED:
            job.not_for = tuple(dict.fromkeys((*job.not_for, unit.id)))
        unit.jobs_failed += 1
        self._state.jobs.put(job)
        self._state.units.put(unit)
        self._wait(job)
        self._audit.note(unit.id, "job_failed", job=job.id, reason=reason, tries=job.tries)
        if job.state == "failed":
            self.on_failed(job)

    def take_back(self, job: JobRow, reason: str, *, is_silent: bool = False) -> None:
        """Take an allocated job from its unit: it is given out again, unless a person holds it."""
        self._unlease(job, is_silent=is_silent)
        moves.take_back(job, reason, is_held=job.is_held)
        self._state.jobs.put(job)
        self._wait(job)

    def expire(self) -> None:
        """Take back the jobs of silent units, and forget delays that are over."""
        now_s = self._clock.now_s()
        for name in self._ends.take_ended(now_s):
            job = self._state.jobs.get(name)
            if name in self._kept:
                self._ends.set(name, now_s + self._settings.lease_s)
            elif job is not None and job.state == "allocated":
                self._audit.note(job.unit, "silent", job=job.id, fence=job.fence)
                self.take_back(job, "its unit was silent", is_silent=True)

    def keep(self, job: str) -> None:
        """The lease of a job does not end until `unkeep`: its package is being checked."""
        self._kept[job] = self._kept.get(job, 0) + 1

    def unkeep(self, job: str) -> None:
        self._kept[job] -= 1
        if not self._kept[job]:
            del self._kept[job]

    def cancel(self, name: str) -> None:
        """A job that is no longer needed: its unit is told to stop."""
        job = self._state.jobs.get(name)
        if job is not None and job.is_open:
            self._unlease(job)
            moves.finish(job, self._clock.wall_us())
            job.reason = "cancelled"
            self._state.jobs.put(job)

    def reopen(self, job: JobRow, reason: str, not_for: tuple[str, ...]) -> None:
        """Give a job that has ended out once more, to another unit."""
        moves.reopen(job, moves.hosts_of(self._state.spec_of(job.id)), reason)
        job.not_for = tuple(dict.fromkeys((*job.not_for, *not_for)))
        job.sent_bytes = job.crawled_bytes = 0
        self._state.jobs.put(job)
        self._wait(job)

    def forget_delays(self) -> None:
        """Forget hosts whose delay is over, and robots.txt files that are too old."""
        for host in self.paces.take_free(self._clock.now_s()):
            self._state.hosts.delete(host)
        self.robots.forget_old(self._clock.wall_us())

    def hold(self, job: JobRow, *, is_held: bool) -> None:
        """Whether a job that is not allocated waits for a person."""
        job.is_held = is_held
        self._state.jobs.put(job)
        if is_held:
            self._queue.remove(job.id)
        else:
            self._wait(job)

    def again(self, job: JobRow, who: str) -> None:
        """Give a job out again by hand, whatever its state is. What its unit still sends under the
        old fence is used only until another unit starts."""
        if job.state == "allocated":
            self.take_back(job, f"given out again by {who}")
        elif not job.is_open:
            moves.reopen(job, moves.hosts_of(self._state.spec_of(job.id)))
            job.tries = 0
        job.not_for = ()
        self._prefers.pop(job.id, None)
        self._audit.note(who, "again", job=job.id, fence=job.fence)
        self.hold(job, is_held=False)

    def redo(self, job: JobRow, reason: str) -> None:
        """A job that was done is done again, because its result cannot be used. It counts as a try
        that failed."""
        moves.reopen(job, moves.hosts_of(self._state.spec_of(job.id)))
        if moves.fail(job, reason, self._settings.max_tries, self._clock.wall_us()):
            job.hosts = ()
        self._state.jobs.put(job)
        self._wait(job)

    # -- the next job of a unit

    def next_for(self, unit: UnitRow, told: set[str]) -> Assignment | None:
        """A job for a unit that wants one. A job that it has and does not tell of was lost on the
        way to it: it gets that one again, under the same fence."""
        now_s = self._clock.now_s()
        lost = sorted(self._of_unit.get(unit.id, set()) - told)
        if lost:
            return self._assignment(self._state.jobs[lost[0]], now_s)
        place = unit.machine.place
        has_place = bool(place.label) or place.latitude is not None or unit.id in self.round_trips
        job = self._own(unit, now_s) or self._queue.choose(
            lambda job: self._may_have(unit, job, now_s),
            (lambda job: self._distance(job, unit)) if has_place else None,
        )
        if job is None:
            return None
        self._queue.remove(job.id)
        self._prefers.pop(job.id, None)
        moves.give(job, unit.id, self._clock.wall_us())
        self._state.jobs.put(job)
        self._lease(job, now_s)
        return self._assignment(job, now_s)

    def _own(self, unit: UnitRow, now_s: float) -> JobRow | None:
        """A job of which the unit has pages already."""
        own = self._own_jobs.get(unit.id, set())
        for name in sorted(own):
            job = self._state.jobs[name]
            if job.state != "unallocated" or self._prefers.get(name, ("",))[0] != unit.id:
                own.discard(name)
            elif not job.is_held and self._may_have(unit, job, now_s):
                return job
        return None

    def _may_have(self, unit: UnitRow, job: JobRow, now_s: float) -> bool:
        if unit.id in job.not_for and self._has_others(job):
            return False
        if job.depth and "relay" not in unit.scopes:
            return False
        owner, until_s = self._prefers.get(job.id, ("", 0.0))
        if owner and owner != unit.id and now_s < until_s:
            return False
        if job.check_of and not self.may_check(job, unit):
            return False
        return self._hosts.are_free(job.hosts)

    def _has_others(self, job: JobRow) -> bool:
        """Whether a unit exists that may have the job. A check is never for the units it names."""
        if job.check_of:
            return True
        units = (unit for unit in self._state.units if not unit.is_revoked)
        return any(unit.id not in job.not_for and not unit.is_draining for unit in units)

    def _distance(self, job: JobRow, unit: UnitRow) -> float:
        """Milliseconds between a unit and the site of a job; infinite if nothing is known."""
        times = self.round_trips.get(unit.id, {})
        measured = [
            times[host.removeprefix(".")]
            for host in job.hosts[:3]
            if host.removeprefix(".") in times
        ]
        site = job.place or UnitPlace()
        found = round_trip_ms(unit.machine.place, site, measured)
        return math.inf if found is None else found

    def _assignment(self, job: JobRow, now_s: float) -> Assignment:
        return Assignment(
            job=job.id,
            fence=job.fence,
            spec=self._state.spec_of(job.id),
            lease_s=self._settings.lease_s,
            hosts=job.hosts,
            host_waits=self.paces.waits(job.hosts, now_s),
            robots=self.robots.of(job.hosts, self._clock.wall_us()),
            salt=self.salt,
            has_earlier=job.site in self._visited,
        )

    # -- inside

    def allocated_to(self, unit: str) -> list[JobRow]:
        """The jobs that a unit has."""
        return [self._state.jobs[name] for name in sorted(self._of_unit.get(unit, ()))]

    def lease_left_s(self, job: JobRow) -> float:
        end_s = self._ends.end_of(job.id)
        return 0.0 if end_s is None else max(0.0, end_s - self._clock.now_s())

    @property
    def waiting(self) -> int:
        """Jobs that may be given out."""
        return len(self._queue)

    def _lease(self, job: JobRow, now_s: float) -> None:
        self._queue.remove(job.id)
        self._hosts.take(job.id, job.hosts)
        for host in job.hosts:
            self._queue.block(host)
        self._ends.set(job.id, now_s + self._settings.lease_s)
        self._of_unit.setdefault(job.unit, set()).add(job.id)

    def _unlease(self, job: JobRow, *, is_silent: bool = False) -> None:
        if job.state == "allocated":
            now_s, now_us = self._clock.now_s(), self._clock.wall_us()
            self._hosts.release(job.id, job.hosts)
            for host in job.hosts:
                self._queue.unblock(host)
            late = self.paces.release(job.id, job.hosts, now_s, is_silent=is_silent)
            for host, end_s in late.items():
                free_us = now_us + round((end_s - now_s) * 1e6)
                self._state.hosts.put(FreeHostRow(host=host, free_us=free_us))
            self._ends.drop(job.id)
            self._of_unit.get(job.unit, set()).discard(job.id)
            self.addresses.forget(job.id)
            self.on_ended(job.id)
        self.progress.pop(job.id, None)
        self._queue.remove(job.id)

    def _wait(self, job: JobRow) -> None:
        if job.state == "unallocated" and not job.is_held:
            self._queue.add(job)
