"""Packages on the disk of a hub, from the first piece to the central collection.

    pieces/UNIT/JOB/     pieces, until their package is joined
    packages/checked/    checked packages, until the hub says that they may be merged
    packages/waiting/... packages that wait to be merged (`merging/merge_queue.py`)

This is the `PackageDoor` of `intake.py`. All methods may be called by several threads, and again
after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.clock import Clock
from gossamer.base.files import write_durably
from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.intake import TakenFacts
from gossamer.fleet.hub.merging import Merger
from gossamer.fleet.hub.rows import SampledPage
from gossamer.fleet.merging.known_bodies import KnownBodies
from gossamer.fleet.merging.merge_queue import MergeResult
from gossamer.fleet.packages.check_process import check_apart
from gossamer.fleet.packages.format import CheckedPackage, PackageLimits, PackageRefused
from gossamer.fleet.packages.pieces import PieceStore
from gossamer.fleet.protocol import JobSpec, PackageNotice

_REFUSED: Final = 422
_TOO_LARGE: Final = 413
_PIECES_KEPT_US: Final = 7 * 86_400 * 1_000_000  # without a package


class PackageStore:
    """Takes, checks and merges packages of one hub."""

    def __init__(
        self,
        folder: Path,
        collection: Path,
        clock: Clock,
        limits: PackageLimits | None = None,
        flags: dict[str, object] | None = None,
    ) -> None:
        """`folder` is that of the hub, `flags` are settings of a new central collection."""
        self._limits = limits or PackageLimits()
        most = self._limits.max_bytes
        self._pieces = PieceStore(folder / "pieces", most, 2 * most)
        self._checked = folder / "packages" / "checked"
        self._checked.mkdir(parents=True, exist_ok=True)
        self._clock = clock
        self.merger = Merger(
            collection, folder / "packages", results=folder / "results", flags=flags, clock=clock
        )
        self._known = KnownBodies(collection, clock)
        self.on_merged: Callable[[str, MergeResult], None] | None = None

    def attach(self, hub: Hub) -> None:
        """Become the door of a hub: make the collection, and merge what is accepted already.
        Raises StoreError, OSError."""
        self.merger.prepare()
        hub.giving.salt = self._known.salt()
        self.on_merged = lambda package, result: _note(hub, package, result)
        hub.intake.door = self
        hub.intake.folder = self._checked
        self.tick()
        for row in hub.intake.pending():
            self.merge(row.id, row.job)

    def salt(self) -> str:
        """The salt of the central collection, for assignments; empty if there is none yet."""
        return self._known.salt()

    def close(self) -> None:
        """Stop merging after the current package."""
        self.merger.stop()
        self._known.close()

    def tick(self) -> None:
        """Note what was merged, keep the merging process running, delete old pieces."""
        for result in self.merger.take_results():
            if self.on_merged is not None:
                self.on_merged(f"{result.job}-{result.package[:32]}", result)
        self.merger.tick()
        self._pieces.free_old(self._clock.wall_us() - _PIECES_KEPT_US)

    # -- the door

    def missing_pieces(self, unit: str, job: str, digests: Sequence[str], /) -> list[int]:
        """Positions of pieces that the unit has to send. Raises UnitRefusal."""
        try:
            return self._pieces.missing(unit, job, digests)
        except PackageRefused as fault:
            raise UnitRefusal(400, str(fault), fault.reason) from None

    def missing_payloads(self, digests: Sequence[str], hosts: Sequence[str], /) -> list[int]:
        """Positions of bodies that the central collection does not have."""
        return self._known.missing(hosts, digests)

    def put_piece(self, unit: str, job: str, sha256: str, data: bytes, /) -> bool:
        """Store a piece; whether it is new. Raises UnitRefusal."""
        try:
            return self._pieces.put(unit, job, sha256, data)
        except PackageRefused as fault:
            status = _TOO_LARGE if fault.reason in ("size", "quota") else 400
            raise UnitRefusal(status, str(fault), fault.reason) from None

    def check(
        self,
        unit: str,
        notice: PackageNotice,
        spec: JobSpec,
        hosts: tuple[str, ...],
        package: str,
        /,
    ) -> TakenFacts:
        """Join the pieces of a package and check it. Raises UnitRefusal."""
        file = self._checked / f"{package}.wacz"
        try:
            pieces, job = notice.pieces, notice.job
            self._pieces.join(unit, job, pieces, notice.sha256, notice.size, file)
            given = (file, spec, hosts, self._limits)
            found = check_apart(*given, job=job, fence=notice.fence, salt=self._known.salt())
            write_durably(file.with_suffix(".json"), msgspec.json.encode(found))
        except PackageRefused as fault:
            file.unlink(missing_ok=True)
            status = 400 if fault.reason == "pieces" else _REFUSED
            raise UnitRefusal(status, str(fault), fault.reason) from None
        self._pieces.free(unit, job)
        sample = (SampledPage(url=p.url, status=p.status, digest=p.digest) for p in found.sample)
        return TakenFacts(
            pages=found.pages,
            crawled_bytes=found.crawled_bytes,
            robots=found.robots,
            sample=tuple(sample),
        )

    def merge(self, package: str, job: str, /) -> None:  # noqa: ARG002  # part of the contract
        """Hand a checked package to the merging process; nothing if that has it."""
        facts = self._checked / f"{package}.json"
        try:
            checked = msgspec.json.decode(facts.read_bytes(), type=CheckedPackage)
        except FileNotFoundError:
            return
        self.merger.submit(checked)
        facts.unlink(missing_ok=True)

    def drop(self, package: str) -> None:
        """Delete a package that is not to be merged."""
        for suffix in (".json", ".wacz"):
            (self._checked / f"{package}{suffix}").unlink(missing_ok=True)


def _note(hub: Hub, package: str, result: MergeResult) -> None:
    """A package that was not merged, or not with all its bodies, is no result."""
    if result.error:
        hub.merge_failed(package, result.error)
    elif result.lost:
        hub.merge_failed(package, f"{result.lost} bodies that the hub was to have are not there")
    else:
        hub.intake.note_merged(package)
