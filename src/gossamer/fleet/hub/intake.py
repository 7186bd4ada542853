"""Take packages: pieces first, then the notice that names them.

Nothing is taken without a lease. A package is checked (`packages/check.py`), noted in the state,
and given to the merging process after that is durable. A package that the hub has already is
accepted again and counted once. What these steps do on disk is behind `PackageDoor`.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from gossamer.base.clock import Clock
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.giving import JobGiving
from gossamer.fleet.hub.leases import holder_of, judge_lease
from gossamer.fleet.hub.rows import JobRow, PackageRow, SampledPage, UnitRow
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.hub.trust import Checking
from gossamer.fleet.protocol import (
    MAX_DIGESTS,
    MAX_PIECES,
    PIECE_BYTES,
    HaveQuestion,
    JobSpec,
    MissingDigests,
    PackageAccepted,
    PackageNotice,
    SharedRobots,
)
from gossamer.fleet.settings import HubSettings

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_AT_ONCE: Final = 4  # packages that are checked at the same time
_RETRY_S: Final = 30.0


class TakenFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the check of a package has found."""

    pages: int = 0
    crawled_bytes: int = 0
    robots: tuple[SharedRobots, ...] = ()
    sample: tuple[SampledPage, ...] = ()  # pages that another unit can fetch again


class PackageDoor(Protocol):
    """Pieces and packages on disk, and merging into the central collection. Methods may block."""

    def missing_pieces(self, unit: str, job: str, digests: Sequence[str], /) -> list[int]: ...

    def missing_payloads(self, digests: Sequence[str], hosts: Sequence[str], /) -> list[int]:
        """Of bodies, named as in `packages/known.py`; only those of pages of these hosts count."""
        ...

    def put_piece(self, unit: str, job: str, sha256: str, data: bytes, /) -> bool:
        """Whether it is new. Raises UnitRefusal if the digest is another."""
        ...

    def check(
        self,
        unit: str,
        notice: PackageNotice,
        spec: JobSpec,
        hosts: tuple[str, ...],
        package: str,
        /,
    ) -> TakenFacts:
        """Join the pieces and check them. Raises UnitRefusal(422) with the reason."""
        ...

    def merge(self, package: str, job: str, /) -> None:
        """Merge a checked package into the central collection, now or later. Idempotent."""
        ...

    def drop(self, package: str) -> None:
        """Delete a package that is not to be merged."""
        ...


class Intake:
    """Packages of units."""

    def __init__(
        self,
        state: HubState,
        settings: HubSettings,
        clock: Clock,
        audit: AuditLog,
        giving: JobGiving,
        checking: Checking,
    ) -> None:
        self._state = state
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self._giving = giving
        self._checking = checking
        self._at_once = threading.Semaphore(_AT_ONCE)
        self.door: PackageDoor | None = None
        self.folder: Path | None = None  # whose disk must have room

    # -- the three requests

    def lease_of(self, unit: UnitRow, job: str, fence: int) -> JobRow:
        """The job, if what the unit sends for it counts. Raises UnitRefusal."""
        row = self._state.jobs.get(job)
        if row is None:
            raise UnitRefusal(404, f"there is no job {job[:40]!r}", "job")
        if holder_of(row, fence) not in (unit.id, ""):
            raise UnitRefusal(403, f"{job} is not a job of this unit", "unit")
        if judge_lease(row, unit.id, fence) == "stale":
            raise UnitRefusal(409, f"{job} has ended or was given to another unit", "lease")
        return row

    def have(self, unit: UnitRow, question: HaveQuestion) -> MissingDigests:
        """Which digests are missing. Raises UnitRefusal."""
        with self._state.lock:
            hosts = self.lease_of(unit, question.job, question.fence).hosts
        if len(question.digests) > MAX_DIGESTS:
            raise UnitRefusal(413, f"at most {MAX_DIGESTS:,} digests in one question", "size")
        door = self._door()
        if question.kind == "piece":
            return MissingDigests(
                missing=tuple(door.missing_pieces(unit.id, question.job, question.digests))
            )
        return MissingDigests(missing=tuple(door.missing_payloads(question.digests, hosts)))

    def take_piece(self, unit: UnitRow, job: str, fence: int, sha256: str, data: bytes) -> bool:
        """Store a piece. Raises UnitRefusal."""
        with self._state.lock:
            self.lease_of(unit, job, fence)
        if not _SHA256.fullmatch(sha256):
            raise UnitRefusal(400, "the name of a piece is its SHA-256 in hexadecimal", "message")
        if not 0 < len(data) <= PIECE_BYTES:
            raise UnitRefusal(413, f"a piece has 1 to {PIECE_BYTES:,} bytes", "size")
        self._check_room(len(data))
        return self._door().put_piece(unit.id, job, sha256, data)

    def take_package(self, unit: UnitRow, notice: PackageNotice) -> PackageAccepted:
        """Check a package and note it durably. Raises UnitRefusal, StoreError, DiskFault."""
        package = f"{notice.job}-{notice.sha256[:32]}"
        with self._state.lock:
            known = self._state.packages.get(package)
            if known is not None and known.unit == unit.id and known.state != "refused":
                return PackageAccepted(package=package, is_new=False)
            job = self.lease_of(unit, notice.job, notice.fence)
            _check_notice(notice, self._settings.max_package_bytes)
            spec = self._state.spec_of(job.id)
            hosts = job.hosts
            self._giving.keep(job.id)
        try:
            facts = self._checked(unit.id, notice, spec, hosts, package)
        except UnitRefusal as refusal:
            self._refuse(unit, notice, package, refusal)
            raise
        finally:
            with self._state.lock:
                self._giving.unkeep(notice.job)
        row = self._note(unit, notice, package, facts)
        self._state.flush()
        if row.state == "accepted":
            self._door().merge(package, notice.job)
        return PackageAccepted(package=package, is_new=True)

    def _checked(
        self, unit: str, notice: PackageNotice, spec: JobSpec, hosts: tuple[str, ...], package: str
    ) -> TakenFacts:
        self._check_room(2 * notice.size)
        with self._at_once:
            return self._door().check(unit, notice, spec, hosts, package)

    def _note(
        self, unit: UnitRow, notice: PackageNotice, package: str, facts: TakenFacts
    ) -> PackageRow:
        """The package is good: count it, and end the job with the last one."""
        with self._state.lock:
            job = self.lease_of(unit, notice.job, notice.fence)  # may have changed meanwhile
            row = PackageRow(
                id=package, job=job.id, fence=notice.fence, unit=unit.id, sha256=notice.sha256,
                kind=notice.kind, size=notice.size, pages=facts.pages, is_last=notice.is_last,
                crawled_bytes=facts.crawled_bytes, taken_us=self._clock.wall_us(),
            )  # fmt: skip
            job.sent_bytes += notice.size
            job.crawled_bytes += facts.crawled_bytes
            job.fetched = max(job.fetched, facts.pages)
            unit.sent_bytes += notice.size
            if notice.is_last:
                self._giving.finish(unit, job)
                if self._checking.begin(job, unit, row, facts.sample):
                    row.state = "checking"
            self._state.jobs.put(job)
            self._state.packages.put(row)
            self._audit.note(unit.id, "package", package=package, job=job.id, size=row.size)
            return row

    def _refuse(
        self, unit: UnitRow, notice: PackageNotice, package: str, refusal: UnitRefusal
    ) -> None:
        """A package that is refused is a fault of the unit; one that came too late is not."""
        if refusal.status != 422:
            return
        reason = refusal.fault.reason or str(refusal)
        with self._state.lock:
            job = self._state.jobs[notice.job]
            row = PackageRow(
                id=package, job=job.id, fence=notice.fence, unit=unit.id, sha256=notice.sha256,
                size=notice.size, taken_us=self._clock.wall_us(), state="refused", reason=reason,
            )  # fmt: skip
            self._state.packages.put(row)
            self._checking.fault(unit, f"package refused: {reason}")
            self._audit.note(unit.id, "package_refused", package=package, reason=str(refusal))
            if judge_lease(job, unit.id, notice.fence) == "current":
                self._giving.fail(unit, job, f"its package was refused: {reason}")
        self._state.flush()

    # -- after the check

    def release(self, row: PackageRow) -> None:
        """A package that was held back may be merged."""
        row.state = "accepted"
        self._state.packages.put(row)

    def pending(self) -> list[PackageRow]:
        """Accepted packages that are not merged: given to the merging process at the start."""
        with self._state.lock:
            return [row for row in self._state.packages if row.state == "accepted"]

    def note_merged(self, package: str) -> None:
        """The merging process has merged a package."""
        with self._state.lock:
            row = self._state.packages.get(package)
            if row is not None and row.state == "accepted":
                row.state = "merged"
                self._state.packages.put(row)

    def reject(self, row: PackageRow, reason: str) -> None:
        """A package is not merged: another unit has found other pages."""
        row.state, row.reason = "refused", reason
        self._state.packages.put(row)
        if self.door is not None:
            self.door.drop(row.id)

    # -- inside

    def _door(self) -> PackageDoor:
        if self.door is None:
            raise UnitRefusal(503, "this hub takes no packages now", "packages", _RETRY_S)
        return self.door

    def _check_room(self, size: int) -> None:
        if self.folder is None:
            return
        if shutil.disk_usage(self.folder).free - size < self._settings.min_free_bytes:
            raise UnitRefusal(503, "the disk of the hub is nearly full", "disk", _RETRY_S)


def _check_notice(notice: PackageNotice, most_bytes: int) -> None:
    """Raises UnitRefusal for a notice that cannot be true."""
    if not _SHA256.fullmatch(notice.sha256):
        raise UnitRefusal(400, "the name of a package is its SHA-256 in hexadecimal", "message")
    if not 0 < len(notice.pieces) <= MAX_PIECES or notice.size > most_bytes:
        raise UnitRefusal(413, f"a package has at most {most_bytes:,} bytes", "size")
    are_good = all(
        _SHA256.fullmatch(piece.sha256) and 0 < piece.size <= PIECE_BYTES for piece in notice.pieces
    )
    if not are_good or sum(piece.size for piece in notice.pieces) != notice.size:
        raise UnitRefusal(400, "the pieces do not make up the package", "message")
    if notice.pages < 0 or notice.crawled_bytes < 0:
        raise UnitRefusal(400, "a count is negative", "message")
