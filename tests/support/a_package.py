"""Packages of jobs for tests: crawl as a unit does, build, check, merge as a hub does.

unit = a_job(tmp_path / "unit", site.url())
checked = checked_package(unit, tmp_path / "hub")
merge(tmp_path / "hub", checked)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.base.clock import SystemClock
from gossamer.fleet.hub.merging import Merger
from gossamer.fleet.merging.known_bodies import KnownBodies
from gossamer.fleet.merging.merge_process import MergeRun
from gossamer.fleet.merging.merge_queue import MergeQueue, MergeResult
from gossamer.fleet.packages.build import build_package
from gossamer.fleet.packages.check import check_package
from gossamer.fleet.packages.format import BuiltPackage, CheckedPackage, PackageLimits
from gossamer.fleet.protocol import Assignment, JobReturns, JobSpec, PageFilter
from gossamer.reader.collection_reader import CollectionReader
from gossamer.urls.canonical import host_of
from support.a_crawl import crawl

MissingOf = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class UnitJob:
    """A job that a unit has crawled."""

    folder: Path
    assignment: Assignment

    @property
    def collection(self) -> Path:
        return self.folder / "collection"


def a_job(
    folder: Path,
    seed: str,
    *,
    job: str = "job1",
    salt: str = "",
    returns: JobReturns = "pages",
    filter: PageFilter | None = None,
    has_earlier: bool = False,
    **settings: object,
) -> UnitJob:
    """Crawl a site into a collection without graph and index."""
    spec = JobSpec(kind="site", seeds=(seed,), returns=returns, filter=filter or PageFilter())
    crawl(folder / "collection", [seed], node__index=False, node__graph=False, **settings)
    assignment = Assignment(
        job=job, fence=1, spec=spec, lease_s=60, hosts=(host_of(seed),), salt=salt,
        has_earlier=has_earlier,
    )  # fmt: skip
    return UnitJob(folder, assignment)


def all_missing(names: Sequence[str]) -> Sequence[int]:
    return range(len(names))


def built_package(
    unit: UnitJob, missing_of: MissingOf = all_missing, earlier: Path | None = None
) -> BuiltPackage:
    """The package of a job."""
    out = unit.folder / f"{unit.assignment.job}.wacz"
    return build_package(unit.collection, unit.assignment, missing_of, out, earlier=earlier)


def checked_file(
    file: Path, assignment: Assignment, limits: PackageLimits | None = None
) -> CheckedPackage:
    """What a hub says of a file. Raises PackageRefused."""
    return check_package(
        file, assignment.spec, assignment.hosts, limits or PackageLimits(),
        job=assignment.job, fence=assignment.fence, salt=assignment.salt,
    )  # fmt: skip


def checked_package(
    unit: UnitJob, missing_of: MissingOf = all_missing, earlier: Path | None = None
) -> CheckedPackage:
    """Build the package of a job and check it."""
    built = built_package(unit, missing_of, earlier)
    return checked_file(built.path, unit.assignment)


def prepared(hub: Path) -> str:
    """Make the central collection of a hub; its salt."""
    merge(hub)
    return salt_of(hub)


def salt_of(hub: Path) -> str:
    known = KnownBodies(hub / "collection")
    try:
        return known.salt()
    finally:
        known.close()


def missing_in(hub: Path, unit: UnitJob) -> MissingOf:
    """The question of a unit, answered by the collection of a hub."""

    def missing_of(names: Sequence[str]) -> Sequence[int]:
        known = KnownBodies(hub / "collection")
        try:
            return known.missing(unit.assignment.hosts, names)
        finally:
            known.close()

    return missing_of


def merge(hub: Path, *packages: CheckedPackage) -> list[MergeResult]:
    """Merge packages in this process, and settle."""
    queue = MergeQueue(hub / "packages")
    for one in packages:
        queue.add(one)
    run = MergeRun(
        hub / "collection", queue, hub / "results", SystemClock(), 300.0, {}, threading.Event()
    )
    asyncio.run(run.run())
    return queue.take_results()


def merge_apart(hub: Path, *packages: CheckedPackage) -> Merger:
    """A merger with these packages; its process has been started."""
    merger = Merger(hub / "collection")
    for one in packages:
        merger.submit(one)
    return merger


Facts = dict[str, tuple[object, ...]]


def facts_of(collection: Path) -> Facts:
    """All that is said of each URL, without times and the salt."""
    with CollectionReader.open(collection) as reader:
        names = {reader.keys.of(row.url): row.url for row in reader.url_rows()}
        return {
            row.url: (
                row.outcome.value, row.reason, row.status, row.type, row.digest, row.title,
                row.language, row.depth, names.get(row.via, ""), row.redirect, row.out_links,
                row.size_bytes,
            )
            for row in reader.url_rows()
        }  # fmt: skip
