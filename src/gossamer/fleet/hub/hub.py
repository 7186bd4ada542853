"""The hub: what units ask and people order, in one place. HTTP, command line and pages call this.

    hub = Hub(HubStore.open(path), settings, clock, audit)
    unit, token = hub.join(Join(...))
    answer = hub.poll(unit, Poll(...))     decided in memory
    hub.flush()                            durable; HTTP does this before it answers

Thread-safe: every method takes the lock of the state. Nothing here waits, except `flush`.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from gossamer.base.clock import Clock
from gossamer.errors import NotKnown
from gossamer.fleet.hub.bans import HubBans
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.giving import JobGiving
from gossamer.fleet.hub.intake import Intake
from gossamer.fleet.hub.orders import Ordering
from gossamer.fleet.hub.rows import (
    CodeRow,
    JobRow,
    NumberRow,
    OrderRow,
    PackageRow,
    UnitRow,
    UnitScope,
)
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.secure.joining import Joining, plain_facts
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.hub.store import HubStore
from gossamer.fleet.hub.trust import Checking
from gossamer.fleet.protocol import (
    MAX_BELOW,
    PROTOCOL,
    BannedLines,
    HaveQuestion,
    JobSpec,
    Join,
    Joined,
    MissingDigests,
    PackageAccepted,
    PackageNotice,
    Poll,
    PollAnswer,
    UnitReport,
)
from gossamer.fleet.settings import HubSettings

_JITTER = 0.25  # of `wait_s`


class Hub:
    """A control unit."""

    def __init__(
        self, store: HubStore, settings: HubSettings, clock: Clock, audit: AuditLog
    ) -> None:
        self.state = HubState(store)
        self.settings = settings
        self.clock = clock
        self.audit = audit
        self.joining = Joining(self.state, settings, clock, audit)
        self.giving = JobGiving(self.state, settings, clock, audit)
        self.ordering = Ordering(self.state, clock, audit)
        self.giving.on_ended = self.ordering.close_of_job
        self.bans = HubBans(self.state, clock, audit)
        self.checking = Checking(self.state, settings, clock, audit, self.giving)
        self.intake = Intake(self.state, settings, clock, audit, self.giving, self.checking)
        self.checking.release = self._release
        self.checking.reject = self.intake.reject
        self.giving.on_failed = self.checking.job_gone
        self._released: list[PackageRow] = []  # to be merged when that is durable
        self.below: dict[str, tuple[UnitReport, ...]] = {}  # by relay
        self.seen_s: dict[str, float] = {}  # unit -> `now_s` of its last request
        self.unit_states: dict[str, Poll] = {}  # the last poll of each unit
        self.url = ""  # for units
        self.offers = ""  # version of Gossamer that units switch to
        self.update_root = ""
        self.update_file: Callable[[str], Path | None] = lambda _name: None
        self.certificate_for: Callable[[str], str] | None = None  # with mTLS: by the unit's id
        self._random = random.Random()  # noqa: S311  # jitter
        self.id = self._identity()

    def _identity(self) -> str:
        row = self.state.numbers.get("hub")
        if row is None:
            row = NumberRow(name="hub", text=secrets.token_hex(8))
            self.state.numbers.put(row)
        return row.text

    # -- units

    def join(self, wanted: Join, address: str = "") -> Joined:
        """A new unit. Raises UnitRefusal."""
        with self.state.lock:
            unit, token = self.joining.join(wanted, address)
            self.seen_s[unit.id] = self.clock.now_s()
            return Joined(
                unit=unit.id,
                token=token,
                hub=self.id,
                poll_s=self.settings.poll_s,
                update_root=self.update_root,
                client_certificate=self.certificate_for(unit.id) if self.certificate_for else "",
            )

    def unit_of(self, token: str) -> UnitRow:
        """Raises UnitRefusal."""
        return self.joining.unit_of(token)

    def poll(self, unit: UnitRow, told: Poll) -> PollAnswer:
        """Hear a unit, and answer with orders and perhaps a job. Raises UnitRefusal."""
        if told.protocol != PROTOCOL:
            raise UnitRefusal(
                426, f"the hub speaks version {PROTOCOL} of the protocol; update first"
            )
        with self.state.lock:
            self.giving.expire()
            self._note_unit(unit, told)
            heard = self.giving.hear(unit, told.progress)
            if told.robots and self.is_trusted(unit):
                self._note_robots(unit, told)
            if told.orders_done:
                self._note_orders(unit, told)
            job = None
            if told.wants_job and not unit.is_draining and not unit.is_revoked:
                job = self.giving.next_for(unit, heard.told)
            mine = [name for name in heard.told if name not in heard.stop]
            return PollAnswer(
                wait_s=self._wait_s(is_working=bool(mine) or job is not None),
                orders=self.ordering.told(unit),
                job=job,
                stop=tuple(heard.stop),
                renewed=heard.renewed,
                bans_version=self.bans.version,
                offers=self.offers,
                pace=self.giving.addresses.factors(mine) if mine else (),
            )

    def _wait_s(self, *, is_working: bool) -> float:
        if is_working:
            return self.settings.poll_s
        spread = self._random.uniform(-_JITTER, _JITTER)
        return round(self.settings.wait_s * (1 + spread), 3)

    def _note_unit(self, unit: UnitRow, told: Poll) -> None:
        """Kept in memory; the time of the last request is written now and then (`tick`)."""
        self.seen_s[unit.id] = self.clock.now_s()
        unit.seen_us = self.clock.wall_us()
        self.unit_states[unit.id] = told
        if told.machine is not None:
            unit.machine = plain_facts(told.machine)
            self.state.units.put(unit)
        if told.below and "relay" in unit.scopes:
            self.below[unit.id] = told.below[:MAX_BELOW]
        if told.round_trips:
            times = self.giving.round_trips.setdefault(unit.id, {})
            for trip in told.round_trips[:200]:
                if trip.host in times or len(times) < 1_000:
                    times[trip.host] = trip.ms

    def _note_robots(self, unit: UnitRow, told: Poll) -> None:
        hosts = [host for job in self.giving.allocated_to(unit.id) for host in job.hosts]
        self.giving.robots.note(told.robots, hosts, self.clock.wall_us())

    def _note_orders(self, unit: UnitRow, told: Poll) -> None:
        for row in self.ordering.done(unit, told.orders_done):
            if row.kind == "delete":
                unit.is_deleted = True
                self._leave("hub", unit)

    def is_trusted(self, unit: UnitRow) -> bool:
        """Whether the unit has had enough good jobs in a row."""
        return self.checking.is_trusted(unit)

    # -- packages; these may block

    def check_lease(self, unit: UnitRow, job: str, fence: int) -> None:
        """Raises UnitRefusal if what the unit sends for a job does not count."""
        with self.state.lock:
            self.intake.lease_of(unit, job, fence)

    def have(self, unit: UnitRow, question: HaveQuestion) -> MissingDigests:
        """Which digests the hub does not have. Raises UnitRefusal."""
        return self.intake.have(unit, question)

    def take_piece(self, unit: UnitRow, job: str, fence: int, sha256: str, data: bytes) -> bool:
        """Store a piece of a package; return whether it is new. Raises UnitRefusal."""
        return self.intake.take_piece(unit, job, fence, sha256, data)

    def take_package(self, unit: UnitRow, notice: PackageNotice) -> PackageAccepted:
        """Check and note a package. Durable when this returns. Raises UnitRefusal, StoreError."""
        accepted = self.intake.take_package(unit, notice)
        self.merge_released()
        return accepted

    def _release(self, row: PackageRow) -> None:
        self.intake.release(row)
        self._released.append(row)

    def merge_released(self) -> None:
        """Merge packages whose check has ended. The state is written first."""
        with self.state.lock:
            rows, self._released = self._released, []
        if rows:
            self.flush()
            for row in rows:
                if self.intake.door is not None:
                    self.intake.door.merge(row.id, row.job)

    def merge_failed(self, package: str, reason: str) -> None:
        """A package could not be merged as a whole: its job is done again, so that nothing is
        lost."""
        with self.state.lock:
            row = self.state.packages.get(package)
            if row is None or row.state != "accepted":
                return
            self.intake.reject(row, reason)
            job = self.state.jobs.get(row.job)
            if job is not None and job.state == "done":
                self.giving.redo(job, f"its package was not merged: {reason}")
            self.audit.note("hub", "merge_failed", package=package, reason=reason)

    # -- people

    def add_jobs(
        self, specs: Iterable[JobSpec], who: str = "operator", priority: int = 0
    ) -> list[JobRow]:
        """Make jobs, all or none. Raises UsageError."""
        with self.state.lock:
            return self.giving.add(specs, who, priority)

    def invite(
        self, who: str = "operator", *, note: str = "", scopes: Sequence[UnitScope] = ("work",),
        valid_s: float = 0,
    ) -> tuple[str, CodeRow]:  # fmt: skip
        """A join code that can be used once."""
        with self.state.lock:
            return self.joining.invite(who, note=note, scopes=scopes, valid_s=valid_s)

    def unit(self, name: str) -> UnitRow:
        """A unit by its id, or by its name if only one has it. Raises NotKnown."""
        found = self.state.units.get(name)
        if found is not None:
            return found
        named = [unit for unit in self.state.units if unit.machine.name == name]
        if len(named) != 1:
            several = f"{len(named)} units have the name" if named else "there is no unit"
            raise NotKnown(f"{several} {name!r}; use an id of `gossamer hub machines`")
        return named[0]

    def revoke(self, name: str, who: str = "operator") -> UnitRow:
        """Refuse a unit from now on, and give its jobs out again. Raises NotKnown."""
        with self.state.lock:
            unit = self.unit(name)
            self._leave(who, unit)
            return unit

    def _leave(self, who: str, unit: UnitRow) -> None:
        for job in self.giving.allocated_to(unit.id):
            self.giving.take_back(job, "its unit was revoked", is_silent=True)
        self.ordering.close_of_unit(unit.id)
        self.joining.revoke(who, unit)
        self.below.pop(unit.id, None)
        self.giving.round_trips.pop(unit.id, None)

    def order(self, name: str, kind: str, who: str = "operator", job: str = "") -> list[OrderRow]:
        """Give an order to a unit, or with `*` to all. `stop_job` with a job needs no unit: that
        which has it gets the order, and the job waits for a person. Raises UsageError, NotKnown."""
        with self.state.lock:
            if kind == "stop_job" and job:
                return self._stop_job(job, who)
            units = [unit for unit in self.state.units if not unit.is_revoked]
            chosen = units if name == "*" else [self.unit(name)]
            given = [self.ordering.give(unit, kind, who, job) for unit in chosen]
            if kind == "stop_job":
                for unit in chosen:
                    for held in self.giving.allocated_to(unit.id):
                        self.giving.hold(held, is_held=True)
            return given

    def _stop_job(self, name: str, who: str) -> list[OrderRow]:
        job = self.giving.job(name)
        if not job.is_open:
            return []
        self.giving.hold(job, is_held=True)
        if job.state == "allocated":
            return [self.ordering.give(self.state.units[job.unit], "stop_job", who, job.id)]
        self.audit.note(who, "hold", job=job.id)
        return []

    def again(self, name: str, who: str = "operator") -> JobRow:
        """Give a job out again by hand. Raises NotKnown."""
        with self.state.lock:
            job = self.giving.job(name)
            self.giving.again(job, who)
            self.ordering.close_of_job(job.id)
            return job

    def ban(
        self, added: Iterable[str] = (), lifted: Iterable[str] = (), who: str = "operator",
        note: str = "",
    ) -> BannedLines:  # fmt: skip
        """Change the banned list. Raises UsageError."""
        with self.state.lock:
            self.bans.change(who, added, lifted, note)
            return self.bans.lines()

    # -- reports; plain objects for JSON, tables and pages

    def machines(self) -> list[dict[str, Any]]:
        """Every machine: its task code, site, start, jobs done."""
        from gossamer.fleet.hub.shown import reports

        return reports.machines(self)

    def jobs(self, state: str = "", limit: int = 100, offset: int = 0) -> dict[str, Any]:
        """Jobs in the order of making, and their counts by state."""
        from gossamer.fleet.hub.shown import reports

        return reports.jobs(self, state, limit, offset)

    def tree(self) -> list[dict[str, Any]]:
        """Every unit with the one above it."""
        from gossamer.fleet.hub.shown import reports

        return reports.tree(self)

    def long_jobs(self) -> list[dict[str, Any]]:
        """Jobs that take unexpectedly long, with the pattern to ban."""
        from gossamer.fleet.hub.shown import reports

        return reports.long_jobs(self)

    def packages(self, limit: int = 100, offset: int = 0) -> dict[str, Any]:
        """Packages, and the bytes saved."""
        from gossamer.fleet.hub.shown import reports

        return reports.packages(self, limit, offset)

    # -- upkeep

    def tick(self) -> None:
        """Take back jobs of silent units, forget what is over. About twice per second."""
        with self.state.lock:
            self.giving.expire()
            self.giving.forget_delays()
            self.checking.end_old()

    def note_seen(self) -> None:
        """Write when units were last seen, and the progress of jobs. About twice per minute."""
        with self.state.lock:
            for unit in self.state.units:
                if not unit.is_revoked and unit.id in self.seen_s:
                    self.state.units.put_later(unit)
            for name in self.giving.progress:
                self.state.jobs.put_later(self.state.jobs[name])
            self.joining.forget_old_codes()

    def flush(self) -> None:
        """Write what has changed. Raises StoreError, DiskFault."""
        self.state.flush()

    def close(self) -> None:
        """Write the rest and close the store."""
        self.flush()
        self.state.close()
