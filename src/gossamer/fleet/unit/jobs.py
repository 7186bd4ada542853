"""The jobs of a unit: take, run, end, and keep what they have fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gossamer.base.clock import Clock
from gossamer.fleet.protocol import (
    Assignment,
    JobProgress,
    Poll,
    PollAnswer,
    SharedRobots,
)
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.unit.folder import UnitFolder
from gossamer.fleet.unit.idle.conditions import JobAction, WorkVerdict
from gossamer.fleet.unit.job_folder import JobFolder, KeptCollections, UnitJob, stored_jobs
from gossamer.fleet.unit.running_job import RunningJob
from gossamer.fleet.unit.sending import delete_package
from gossamer.fleet.unit.status import JobStatus
from gossamer.fleet.unit.unit_log import UnitLog
from gossamer.fleet.unit.usage import TrafficCounter


class UnitJobs:
    """All jobs that the unit has at a moment: mostly one."""

    def __init__(
        self, folder: UnitFolder, settings: UnitSettings, clock: Clock, log: UnitLog
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._clock = clock
        self._log = log
        self._jobs: dict[str, RunningJob] = {}
        self._leases_s: dict[str, float] = {}
        self._kept = KeptCollections(folder, clock)
        self._robots_at: dict[str, int] = {}
        self.traffic = TrafficCounter(folder, clock)
        self.done = 0
        self.has_news = False  # something that the hub should know soon

    def restore(self) -> None:
        """Take up the jobs of the last run of the unit. They may send requests when the hub has
        renewed their leases."""
        for folder, noted in stored_jobs(self._folder):
            self._add(folder, noted)
            self._log.say(f"Job {noted.assignment.job} is taken up again.")

    def _add(self, folder: JobFolder, noted: UnitJob) -> RunningJob:
        job = RunningJob(self._folder, folder, noted, self._settings, self._clock)
        self._jobs[job.job] = job
        return job

    # -- facts

    @property
    def count(self) -> int:
        """Jobs that the hub does not know to have ended."""
        return len(self._jobs)

    @property
    def is_working(self) -> bool:
        return any(job.ending is None and not job.is_suspended for job in self._jobs.values())

    @property
    def has_room(self) -> bool:
        """Whether one more job may run. A job that has ended takes no room."""
        running = sum(job.ending is None for job in self._jobs.values())
        return running < self._settings.jobs_at_once

    @property
    def shortest_lease_s(self) -> float | None:
        """Of the jobs that have one; None without jobs."""
        return min((self._leases_s.get(job, 60.0) for job in self._jobs), default=None)

    # -- each step

    def step(self) -> bool:
        """Look after the processes; whether a job has just ended."""
        had_ended = sum(job.ending is not None for job in self._jobs.values())
        for job in self._jobs.values():
            job.keep_running()
            told = job.told.progress
            self.traffic.note(job.job, told.bytes + told.sent_bytes)
        ended = sum(job.ending is not None for job in self._jobs.values())
        self.has_news |= ended > had_ended
        return ended > had_ended

    def apply(self, verdict: WorkVerdict) -> None:
        """Let jobs run, suspend them, or give them back."""
        for job in self._jobs.values():
            if job.ending is not None:
                continue
            if verdict.work is JobAction.GIVE_BACK:
                job.conclude("released", verdict.why)
                self.has_news = True
            elif verdict.work is JobAction.SUSPEND:
                job.suspend()
            elif job.is_suspended:
                job.resume()

    def make_room(self) -> int:
        """Delete old collections where the disk space is used up; the bytes in use. If running
        jobs alone use more than allowed, they end."""
        used = self._kept.make_room(self._settings.max_disk_bytes)
        if used > self._settings.max_disk_bytes:
            for job in self._jobs.values():
                if job.ending is None:
                    job.fail("disk: the job needs more disk space than the unit allows")
                    self.has_news = True
        return used

    # -- with the hub

    def progress(self) -> tuple[JobProgress, ...]:
        self.has_news = False
        return tuple(job.progress() for job in self._jobs.values())

    def new_robots(self) -> tuple[SharedRobots, ...]:
        """Of all jobs; `acknowledge` notes that they were told."""
        found: list[SharedRobots] = []
        for job in self._jobs.values():
            robots, self._robots_at[job.job] = job.new_robots()
            found += robots
        return tuple(found)

    def acknowledge(self, asked: Poll, answer: PollAnswer, asked_ns: int) -> None:
        """The hub has answered: ended jobs leave, leases are renewed, a job may come."""
        for name, position in self._robots_at.items():
            if name in self._jobs:
                self._jobs[name].robots_told(position)
        self._robots_at.clear()
        for told in asked.progress:
            if told.ending is not None and told.job in self._jobs:
                self._leave(self._jobs[told.job])
        for name in answer.stop:
            if name in self._jobs:
                self._lose(self._jobs[name])
        for name, lease_s in answer.renewed.items():
            if name in self._jobs:
                self._leases_s[name] = lease_s
                self._jobs[name].renew(asked_ns, lease_s)
        if answer.job is not None:
            self._begin(answer.job, asked_ns, is_wanted=asked.wants_job)

    def _begin(self, assignment: Assignment, asked_ns: int, *, is_wanted: bool) -> None:
        known = self._jobs.get(assignment.job)
        if known is not None:  # the hub gives a job again that this unit still has
            known.close()
            self._kept.keep(assignment, known.folder, is_complete=False)
            known.folder.delete()
        folder = JobFolder.of(self._folder, assignment.job)
        folder.delete()
        folder.path.mkdir(parents=True, mode=0o700)
        is_complete = self._kept.take(assignment, folder)
        noted = UnitJob(
            assignment=assignment, at_us=self._clock.wall_us(), is_revisit=bool(is_complete)
        )
        folder.save_job(noted)
        job = self._add(folder, noted)
        self._leases_s[job.job] = assignment.lease_s
        if not is_wanted:
            job.conclude("released", "the unit did not want a job")
            return
        earlier = {None: "", True: ", visited before", False: ", begun before"}[is_complete]
        self._log.say(f"Job {job.job}: {job.name}{earlier}.")
        job.renew(asked_ns, assignment.lease_s)
        job.keep_running()

    def _leave(self, job: RunningJob) -> None:
        """The hub knows that a job has ended."""
        self._log.say(f"Job {job.job} has ended: {job.ending} {job.reason}".rstrip(" :") + ".")
        self.done += job.ending == "done"
        if not job.reason.startswith("disk"):
            self._kept.keep(job.assignment, job.folder, is_complete=job.ending == "done")
        self._drop(job)

    def _lose(self, job: RunningJob) -> None:
        """The lease is another unit's now. What was fetched is kept."""
        self._log.say(f"Job {job.job} was given to another unit.")
        job.stop()
        self._kept.keep(job.assignment, job.folder, is_complete=False)
        self._drop(job)

    def _drop(self, job: RunningJob) -> None:
        job.close()
        job.folder.delete()
        for path in self._folder.outbox.glob(f"{job.folder.path.name}-*.wacz"):
            delete_package(path)
        self.traffic.forget(job.job)
        self._leases_s.pop(job.job, None)
        self._jobs.pop(job.job, None)

    # -- orders

    def stop_job(self, name: str) -> bool:
        """End a job, or all if none is named; whether there was one."""
        chosen = [
            job for job in self._jobs.values() if name in ("", job.job) and job.ending is None
        ]
        for job in chosen:
            job.conclude("stopped", "by order of the hub")
            self.has_news = True
        return bool(chosen)

    def ban(self, added: Sequence[str], lifted: Sequence[str]) -> None:
        for job in self._jobs.values():
            job.ban(added, lifted)

    def set_pace(self, factors: Mapping[str, float]) -> None:
        for job in self._jobs.values():
            job.set_pace(factors)

    def give_back_all(self, why: str) -> None:
        """End all jobs that run; the hub may give them out again, here or elsewhere."""
        for job in self._jobs.values():
            if job.ending is None:
                job.conclude("released", why)

    def close(self) -> None:
        """Stop all processes. Jobs whose end the hub does not know are taken up again."""
        for job in self._jobs.values():
            job.close()

    # -- telling

    def status(self) -> tuple[JobStatus, ...]:
        return tuple(_status_of(job) for job in self._jobs.values())


def _status_of(job: RunningJob) -> JobStatus:
    told = job.told.progress
    return JobStatus(
        job=job.job,
        name=job.name,
        phase=told.phase,
        fetched=told.fetched,
        queued=told.queued,
        failed=told.failed,
        refused=told.refused,
        bytes=told.bytes,
        pages_per_s=told.pages_per_s,
        ran_s=told.ran_s,
        is_suspended=job.is_suspended,
        recent=told.recent[-5:],
    )
