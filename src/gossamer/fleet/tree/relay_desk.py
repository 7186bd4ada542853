"""The hub of a relay: gives the parts of its jobs to the units below, and joins the results.

Packages of the units below are merged into the collection of the relay's own job, by the same
merging process that a central hub has. What is double among them is stored once. When all parts
have ended, the process of the job packs that collection and sends one package up.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from msgspec import structs

from gossamer.errors import UsageError
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.rows import JobRow
from gossamer.fleet.protocol import JobProgress, UnitReport
from gossamer.fleet.tree.relay_files import (
    BelowState,
    PartState,
    RelayRequest,
    read_request,
    read_state,
    write_state,
)

_MOST_URLS: Final = 50


class JobMerger(Protocol):
    """Merges packages into the collection of one job (`hub/merging.py`)."""

    @property
    def is_idle(self) -> bool: ...

    @property
    def problem(self) -> str: ...

    def tick(self) -> None: ...


class RelayDesk:
    """Requests of the relay's jobs. `tick` is called about twice per second, by one thread."""

    def __init__(self, hub: Hub, jobs: Path) -> None:
        """`jobs` is the folder of the unit's jobs."""
        self._hub = hub
        self._jobs = jobs
        self.mergers: dict[str, JobMerger] = {}  # by job of the hub above

    def tick(self) -> None:
        """Make the parts of new requests, and write how far all of them are."""
        for folder, request in self._requests():
            parts = self._parts_of(request.job)
            if not parts and not request.is_cancelled:
                parts = self._make(folder, request)
            if request.is_cancelled:
                self._cancel(parts)
            self._tell(folder, request, parts)

    def folder_of(self, parent: str) -> Path | None:
        """The folder of a job of the hub above."""
        return next((path for path, one in self._requests() if one.job == parent), None)

    def _requests(self) -> Iterator[tuple[Path, RelayRequest]]:
        for folder in sorted(self._jobs.glob("*")):
            request = read_request(folder)
            if request is not None:
                yield folder, request

    def _parts_of(self, parent: str) -> list[JobRow]:
        with self._hub.state.lock:
            mine = [job for job in self._hub.state.jobs if job.parent == parent]
        return sorted(mine, key=lambda job: job.number)

    def _make(self, folder: Path, request: RelayRequest) -> list[JobRow]:
        """All parts are made in one transaction: a kill leaves all of them or none."""
        try:
            with self._hub.state.lock:
                made = self._hub.giving.add(request.parts, "relay", parent=request.job)
            self._hub.flush()
        except UsageError as fault:
            write_state(folder, BelowState(fence=request.fence, problem=str(fault)))
            return []
        return made

    def _cancel(self, parts: list[JobRow]) -> None:
        for job in parts:
            if job.is_open and not job.is_held:
                self._hub.order("", "stop_job", "relay", job.id)

    def _tell(self, folder: Path, request: RelayRequest, parts: list[JobRow]) -> None:
        if not parts:
            return
        merger = self.mergers.get(request.job)
        if merger is not None:
            merger.tick()
        with self._hub.state.lock:
            waiting = [row for row in self._hub.state.packages if row.state == "accepted"]
            names = {job.id for job in parts}
            is_merged = not any(row.job in names for row in waiting)
            running = [self._hub.giving.progress.get(job.id) for job in parts]
            told = tuple(self._part(job, one) for job, one in zip(parts, running, strict=True))
        busy = [one for one in running if one is not None]
        state = BelowState(
            fence=request.fence,
            parts=told,
            is_merged=is_merged and (merger is None or merger.is_idle),
            problem=merger.problem if merger is not None else "",
            recent=_newest(busy, "recent"),
            unresolved=_newest(busy, "unresolved"),
            robots_refused=_newest(busy, "robots_refused"),
        )
        if state != read_state(folder):
            write_state(folder, state)

    def _part(self, job: JobRow, progress: JobProgress | None) -> PartState:
        return PartState(
            state=job.state,
            seeds=self._hub.state.spec_of(job.id).seeds,
            fetched=job.fetched,
            queued=progress.queued if progress is not None else 0,
            failed=job.failed,
            refused=job.refused,
            bytes=job.bytes,
            pages_per_s=progress.pages_per_s if progress is not None else 0.0,
            reason=job.reason,
        )


def _newest(running: list[JobProgress], kind: str) -> tuple[str, ...]:
    found = dict.fromkeys(url for one in running for url in getattr(one, kind))
    return tuple(found)[-_MOST_URLS:]


def reports_below(hub: Hub, own: str, level: int = 1) -> tuple[UnitReport, ...]:
    """The units below a relay, for the poll of the relay; those below them follow."""
    found: list[UnitReport] = []
    with hub.state.lock:
        for unit in hub.state.units:
            if unit.is_revoked or unit.is_deleted:
                continue
            jobs = hub.giving.allocated_to(unit.id)
            progress = hub.giving.progress.get(jobs[0].id) if jobs else None
            poll = hub.unit_states.get(unit.id)
            found.append(
                UnitReport(
                    unit=f"{own}/{unit.id}",
                    above=own,
                    name=unit.machine.name,
                    state="working" if jobs else poll.state if poll is not None else "stopped",
                    level=level,
                    jobs_done=unit.jobs_done,
                    job=jobs[0].name if jobs else "",
                    fetched=progress.fetched if progress is not None else 0,
                    queued=progress.queued if progress is not None else 0,
                    bytes=unit.bytes + (progress.bytes if progress is not None else 0),
                    seen_us=unit.seen_us,
                )
            )
            found.extend(_below(one, own, unit.id) for one in hub.below.get(unit.id, ()))
    return tuple(found)


def _below(one: UnitReport, own: str, unit: str) -> UnitReport:
    """A report that a relay below has sent, with names that are unique in the whole tree."""
    prefix = f"{own}/"
    above = f"{prefix}{unit}" if one.above == unit else f"{prefix}{one.above}"
    return structs.replace(one, unit=f"{prefix}{one.unit}", above=above, level=one.level + 1)
