"""Merge packages into the central collection.

    open the collection with the seeds of all jobs -> each package -> commit -> ... -> settle

One process is the writer of the collection, as in a crawl. A package is read in one pass, one
exchange in memory. What needs all pages (ranks, anchor texts, merged links) is built once for many
packages. Everything may be interrupted: a package that was begun is merged again, and what it
brought before is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
from msgspec import structs

from gossamer.archive.warc import payload_digest
from gossamer.base.clock import Clock
from gossamer.collection.configure import configure
from gossamer.collection.crawl_log import note_action
from gossamer.collection.directory import CollectionPaths
from gossamer.fleet.merging.merge_queue import MergeResult
from gossamer.fleet.merging.result_intake import ResultIntake
from gossamer.fleet.packages.differences import with_difference
from gossamer.fleet.packages.entries import PackageEntry
from gossamer.fleet.packages.format import (
    ARCHIVE,
    OUTCOMES,
    SUMMARY,
    CheckedPackage,
    PackageLimits,
    PackageRefused,
    UrlOutcome,
)
from gossamer.fleet.packages.hosts import JobHosts
from gossamer.fleet.packages.layout import read_layout
from gossamer.fleet.packages.unpack import package_entries, package_lines
from gossamer.frontier.rows import HostRow
from gossamer.frontier.store import StateTable
from gossamer.node.build import Opened, open_node
from gossamer.records import Answer, Fetched, Found, Outcome, Reason
from gossamer.settings import Settings

OnMerged = Callable[[str, int], None]  # the package, and how many exchanges were read

_PROGRESS_EVERY: Final = 200
_SCANNED: Final = 10_000


def _silent(_package: str, _count: int) -> None:
    """The default: no progress report."""


@dataclass(slots=True)
class CentralCollection:
    """The central collection, open for merging. Use it as an async context manager."""

    path: Path
    seeds: Sequence[str]
    clock: Clock
    limits: PackageLimits = field(default_factory=PackageLimits)
    flags: dict[str, object] = field(default_factory=dict)  # settings of a new collection
    on_progress: OnMerged = _silent
    _stack: ExitStack = field(default_factory=ExitStack)
    _opened: Opened | None = None

    async def __aenter__(self) -> Self:
        paths = CollectionPaths(self.path)
        is_new = not paths.exists

        def settings_for(stored: Settings | None) -> Settings:
            given = self.flags if is_new else {}
            return configure(self.path, given, base=stored).settings

        self._opened = open_node(
            paths, settings_for, self.seeds, self.clock, self._stack, is_import=True
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async with AsyncExitStack() as both:
            both.callback(self._stack.close)
            if self._opened is not None:
                both.push_async_callback(self._opened.node.aclose)

    async def settle(self, *, is_whole: bool) -> None:
        """Build what needs all pages; if not `is_whole`, only what a clean end needs. Nothing can
        be merged afterwards. Raises DiskFault."""
        await self._node.node.settle(is_whole=is_whole)

    @property
    def _node(self) -> Opened:
        assert self._opened is not None, "it is open"
        return self._opened

    @property
    def _intake(self) -> ResultIntake:
        assert self._node.intake is not None, "opened for an import"
        return ResultIntake(self._node.intake)

    def judge_hosts(self, hosts: Sequence[str]) -> None:
        """URLs of these hosts that were out of scope before their job was added are judged
        again."""
        job, intake = JobHosts(hosts), self._intake.intake
        for host_key in self._host_keys(job, hosts):
            intake.frontier.judge_host(host_key, self.clock.wall_us())
        intake.commit()

    def _host_keys(self, job: JobHosts, hosts: Sequence[str]) -> list[bytes]:
        intake = self._intake.intake
        if not any(host.startswith(".") for host in hosts):
            return [intake.keys.host(host.lower()) for host in hosts]
        found, start, store = list[bytes](), b"", intake.frontier.state.store
        while rows := store.scan(StateTable.HOST, start, None, _SCANNED):
            found += (key for key, row in rows if job.has(HostRow.decode(row).name))
            start = rows[-1][0] + b"\0"
        return found

    def merge(self, checked: CheckedPackage) -> MergeResult:
        """Merge a package, and commit. Raises DiskFault, and PackageRefused if it cannot be
        read."""
        started_s, intake = self.clock.now_s(), self._intake
        merged = _Merged(intake, self.limits)
        if not intake.is_merged(checked.package):
            layout = read_layout(Path(checked.path), self.limits.max_bytes)
            for count, entry in enumerate(package_entries(layout.member(ARCHIVE), self.limits)):
                merged.take(entry)
                if count % _PROGRESS_EVERY == 0:
                    self.on_progress(checked.package, count)
            for line in package_lines(layout.member(OUTCOMES), self.limits):
                merged.take_outcome(line)
            intake.note_merged(checked.package)
            action = {"package": checked.package, "job": checked.job, "pages": checked.pages}
            now_us = self.clock.wall_us()
            note_action(CollectionPaths(self.path).actions, now_us, "merge", **action)
            intake.intake.commit()
        return MergeResult(
            package=checked.package,
            job=checked.job,
            kind=checked.kind,
            stored=merged.stored,
            known=merged.known,
            outcomes=merged.outcomes,
            lost=merged.lost,
            took_s=round(self.clock.now_s() - started_s, 3),
        )


@dataclass(slots=True)
class _Merged:
    """Takes the content of one package."""

    intake: ResultIntake
    limits: PackageLimits
    stored: int = 0
    known: int = 0
    outcomes: int = 0
    lost: int = 0

    def take(self, entry: PackageEntry) -> None:
        if self.intake.is_forgotten(entry.lease.url) or self.intake.is_forgotten(entry.answer.url):
            self.known += 1
            return
        try:
            answer = self._whole(entry)
        except PackageRefused:
            answer = None
        if answer is None:
            self.lost += 1
        elif self.intake.put(entry.lease, answer):
            self.stored += 1
        else:
            self.known += 1

    def _whole(self, entry: PackageEntry) -> Answer | None:
        """The answer with its body; None if the collection does not have what it refers to."""
        answer, body = entry.answer, entry.body
        if body is None or not isinstance(answer, Fetched) or body.form == "whole":
            return answer
        url = entry.lease.url
        if body.form == "known":
            found = self.intake.find_body(url, body.digest)
        else:
            earlier = self.intake.find_body(url, body.from_digest)
            if earlier is None:
                return None
            found = with_difference(earlier, body.data, self.limits.max_record_bytes)
            if payload_digest(found) != body.digest:
                return None
        return structs.replace(answer, body=found) if found is not None else None

    def take_outcome(self, line: bytes) -> None:
        one = msgspec.json.decode(line, type=UrlOutcome)
        if self.intake.is_forgotten(one.url):
            return
        keys = self.intake.intake.keys
        via = keys.of(one.via) if one.via else b""
        found = Found(one.url, keys.of(one.url), one.depth, via)
        given = (Outcome(one.outcome), Reason(one.reason), one.detail, one.at_us, one.tries)
        self.outcomes += self.intake.put_outcome(found, *given)


def store_summary(checked: CheckedPackage, folder: Path, limits: PackageLimits) -> MergeResult:
    """Write the lines of a summary to `JOB.jsonl` in a folder. Raises PackageRefused, OSError."""
    layout = read_layout(Path(checked.path), limits.max_bytes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{checked.job}.jsonl"
    temporary, stored = path.with_suffix(".part"), 0
    with temporary.open("wb") as file:
        for line in package_lines(layout.member(SUMMARY), limits):
            file.write(line + b"\n")
            stored += 1
        for line in package_lines(layout.member(OUTCOMES), limits):
            file.write(b'{"kind":"outcome",' + line[1:] + b"\n")
    temporary.replace(path)
    return MergeResult(package=checked.package, job=checked.job, kind="summary", stored=stored)
