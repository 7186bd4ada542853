"""The directory of one job on a unit, and the collections that outlive their jobs.

jobs/ID/job.json        the assignment; written by the unit
jobs/ID/progress.json   how far it is, and how it ended; written by the process of the job
jobs/ID/robots.jsonl    each robots.txt that it fetched, for other units
jobs/ID/permit          until when it may send requests (`fetch/permit.py`)
jobs/ID/collection/     its pages
kept/KEY/               the collection of an ended job, with kept.json

A collection is kept by what makes two jobs the same crawl: seeds, scope and form of URLs. The next
job of that kind continues it: unfinished it resumes, complete it visits the known pages again.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.clock import Clock
from gossamer.fleet.protocol import Assignment, JobEnding, JobProgress, SharedRobots
from gossamer.fleet.unit.folder import UnitFolder, read_json, write_json

_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}")
_LIMITS: Final = ("max_pages", "max_time", "max_bytes", "max_matches", "delay", "connections",
                  "max_rate", "rate", "hours", "threshold", "importance")  # fmt: skip


class UnitJob(msgspec.Struct, kw_only=True):
    """What a unit notes of a job."""

    assignment: Assignment
    at_us: int  # wall time at which the assignment came
    is_revisit: bool = False  # its collection is complete: known pages are visited again
    starts: int = 0  # of its process
    crashes: int = 0  # in a row, without progress
    ran_s: float = 0.0


class JobTold(msgspec.Struct, kw_only=True):
    """What the process of a job tells, about once a second."""

    progress: JobProgress
    used: dict[str, tuple[float, int]] = {}  # host -> delay in seconds, wall time of last answer
    at_us: int = 0
    is_crawled: bool = False  # nothing is left to fetch: it is packed and sent
    stopped: str = ""  # why the crawl ended
    ending: JobEnding | None = None
    reason: str = ""


class KeptNote(msgspec.Struct, kw_only=True):
    is_complete: bool
    at_us: int


@dataclass(frozen=True, slots=True)
class JobFolder:
    """The paths of a job."""

    path: Path

    @classmethod
    def of(cls, folder: UnitFolder, job: str) -> JobFolder:
        """The folder of a job. An id that is not a plain name is replaced by its digest: the hub
        cannot name a path."""
        plain = job if _PLAIN.fullmatch(job) else hashlib.sha256(job.encode()).hexdigest()[:40]
        return cls(folder.jobs / plain)

    @property
    def job_file(self) -> Path:
        return self.path / "job.json"

    @property
    def progress_file(self) -> Path:
        return self.path / "progress.json"

    @property
    def robots_file(self) -> Path:
        return self.path / "robots.jsonl"

    @property
    def permit(self) -> Path:
        return self.path / "permit"

    @property
    def collection(self) -> Path:
        return self.path / "collection"

    @property
    def earlier(self) -> Path:
        """Bodies of the last visit, for differences."""
        return self.path / "earlier"

    @property
    def log(self) -> Path:
        return self.path / "errors"

    def read_job(self) -> UnitJob | None:
        return read_json(self.job_file, UnitJob)

    def save_job(self, job: UnitJob) -> None:
        write_json(self.job_file, job)

    def read_told(self) -> JobTold | None:
        return read_json(self.progress_file, JobTold)

    def tell(self, told: JobTold) -> None:
        write_json(self.progress_file, told)

    def add_robots(self, robots: SharedRobots) -> None:
        with self.robots_file.open("ab") as file:
            file.write(msgspec.json.encode(robots) + b"\n")

    def delete(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def stored_jobs(folder: UnitFolder) -> Iterator[tuple[JobFolder, UnitJob]]:
    """The jobs that were not ended when the unit last ended. What is not whole is deleted."""
    for path in sorted(folder.jobs.glob("*")):
        job_folder = JobFolder(path)
        job = job_folder.read_job()
        if job is None:
            job_folder.delete()
        else:
            yield job_folder, job


def key_of(assignment: Assignment) -> str:
    """The same for jobs that are the same crawl, with other limits perhaps."""
    spec = assignment.spec
    options = {name: spec.options[name] for name in sorted(spec.options) if name not in _LIMITS}
    facts = (spec.kind, sorted(spec.seeds), options, sorted(assignment.hosts), assignment.salt)
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]


class KeptCollections:
    """The collections of ended jobs, the oldest of which leave when the disk space is needed."""

    def __init__(self, folder: UnitFolder, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def take(self, assignment: Assignment, job: JobFolder) -> bool | None:
        """Move the collection of the same crawl to a job. Whether it is complete; None without."""
        kept = self._folder.kept / key_of(assignment)
        note = read_json(kept / "kept.json", KeptNote)
        if note is None or not (kept / "collection").is_dir() or job.collection.exists():
            return None
        (kept / "collection").rename(job.collection)
        if (kept / "earlier").exists():
            (kept / "earlier").rename(job.earlier)
        shutil.rmtree(kept, ignore_errors=True)
        return note.is_complete

    def keep(self, assignment: Assignment, job: JobFolder, *, is_complete: bool) -> None:
        """Take the collection of a job that has ended."""
        if not job.collection.is_dir():
            return
        kept = self._folder.kept / key_of(assignment)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        write_json(
            kept / "kept.json", KeptNote(is_complete=is_complete, at_us=self._clock.wall_us())
        )
        if job.earlier.exists():
            job.earlier.rename(kept / "earlier")
        job.collection.rename(kept / "collection")

    def make_room(self, most_bytes: int) -> int:
        """Delete the oldest collections while the unit's directory has more bytes; how many it
        has then."""
        used = bytes_below(self._folder.path)
        oldest = sorted(self._folder.kept.glob("*"), key=self._age_of)
        while used > most_bytes and oldest:
            leaving = oldest.pop(0)
            used -= bytes_below(leaving)
            shutil.rmtree(leaving, ignore_errors=True)
        return used

    def _age_of(self, kept: Path) -> int:
        note = read_json(kept / "kept.json", KeptNote)
        return note.at_us if note is not None else 0


def bytes_below(folder: Path) -> int:
    """Bytes of all files in a folder; those that are deleted meanwhile count nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if not path.is_dir() else 0
        except OSError:
            continue
    return total
