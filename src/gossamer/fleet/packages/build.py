"""Build the package of a job from its collection, which a node without graph and index has written.

    exchanges in order -> filter -> which bodies does the hub have? -> records -> one frame -> WACZ

One pass, in groups of exchanges: each group is one question to the hub, and its bodies are in
memory. The package appears under its name when it is complete; a second call returns it, so that an
interrupted transfer continues with the same pieces.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Final

import msgspec
from msgspec import structs

from gossamer.archive.wacz import ListedPage, WaczWriter
from gossamer.base.clock import Clock, SystemClock, iso_of
from gossamer.base.files import write_durably
from gossamer.fleet.packages.compress import packed
from gossamer.fleet.packages.differences import difference
from gossamer.fleet.packages.earlier import EarlierBodies, EarlierBody
from gossamer.fleet.packages.entries import PackageEntry, RecordIds, SentBody, entry_bytes
from gossamer.fleet.packages.filter import FilterVerdict, PackageFilter
from gossamer.fleet.packages.format import (
    ARCHIVE,
    FACTS,
    OUTCOMES,
    PACKAGE_FORMAT,
    SUMMARY,
    BuiltPackage,
    PackageFacts,
    UrlOutcome,
)
from gossamer.fleet.packages.hosts import JobHosts
from gossamer.fleet.packages.index_entries import PageReader
from gossamer.fleet.packages.job_exchanges import (
    JobExchange,
    archive_bytes,
    job_exchanges,
    job_outcomes,
)
from gossamer.fleet.packages.known import known_name
from gossamer.fleet.packages.summary import SiteSummary
from gossamer.fleet.protocol import Assignment, JobReturns
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome, Purpose
from gossamer.urls.keys import Keys

MissingOf = Callable[[Sequence[str]], Sequence[int]]

_GROUP: Final = 2_000  # exchanges of one question
_GROUP_BYTES: Final = 32 * 2**20  # of their bodies
_UNPACKED: Final = 8  # times the length of WARC files that are compressed record by record
_SPOOLED_BYTES: Final = 8 * 2**20  # of URLs that are left out, before they go to a file
_EARLIER_BYTES: Final = 256 * 2**20
_LEAST_SAVED: Final = 2  # a difference is sent if it has half of the bytes of the page at most


def build_package(
    collection: Path,
    assignment: Assignment,
    missing_of: MissingOf,
    out: Path,
    *,
    earlier: Path | None = None,
    clock: Clock | None = None,
) -> BuiltPackage:
    """Build the package of a job, or return the one that is complete in `out`.

    `missing_of` takes names of bodies (`known.py`) and returns the positions of those that the hub
    does not have; it is called only if the hub has pages of an earlier visit. `earlier` is a file
    in which bodies are kept for differences. Raises StoreError, UsageError for a filter that cannot
    be used, OSError, and what `missing_of` raises.
    """
    facts_path = out.with_name(f"{out.name}.json")
    done = _complete(out, facts_path)
    if done is not None:
        return done
    partial = out.with_name(f"{out.name}.part")
    with ExitStack() as stack:
        reader = stack.enter_context(CollectionReader.open(collection))
        bodies = stack.enter_context(EarlierBodies(earlier, _EARLIER_BYTES)) if earlier else None
        left_out = stack.enter_context(SpooledTemporaryFile(_SPOOLED_BYTES, dir=str(out.parent)))
        ask = missing_of if assignment.has_earlier else _all_missing
        builder = _Builder(reader, assignment, ask, bodies, clock or SystemClock(), left_out)
        with partial.open("wb") as file:
            facts = builder.write(WaczWriter(file, iso_of(builder.created_us)))
            file.flush()
            os.fsync(file.fileno())
    with partial.open("rb") as whole:
        sha256 = hashlib.file_digest(whole, "sha256").hexdigest()
    size = partial.stat().st_size
    built = BuiltPackage(out, facts.kind, facts.pages, facts.crawled_bytes, sha256, size)
    partial.replace(out)
    _write_facts(facts_path, built)
    return built


def _all_missing(names: Sequence[str]) -> Sequence[int]:
    return range(len(names))


class _Stored(msgspec.Struct, frozen=True):
    kind: JobReturns
    pages: int
    crawled_bytes: int
    sha256: str
    size: int


def _write_facts(path: Path, built: BuiltPackage) -> None:
    stored = _Stored(built.kind, built.pages, built.crawled_bytes, built.sha256, built.size)
    write_durably(path, msgspec.json.encode(stored))


def _complete(out: Path, facts_path: Path) -> BuiltPackage | None:
    """The package that an earlier call has built."""
    try:
        stored = msgspec.json.decode(facts_path.read_bytes(), type=_Stored)
        with out.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size = out.stat().st_size
    except (OSError, msgspec.DecodeError):
        return None
    if (sha256, size) != (stored.sha256, stored.size):
        return None
    return BuiltPackage(out, stored.kind, stored.pages, stored.crawled_bytes, sha256, size)


@dataclass(slots=True)
class _Builder:
    """One package that is being built."""

    reader: CollectionReader
    assignment: Assignment
    missing_of: MissingOf
    earlier: EarlierBodies | None
    clock: Clock
    left_out: SpooledTemporaryFile[bytes]  # lines of URLs that the filter excludes
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.created_us = self.clock.wall_us()
        self._hosts = JobHosts(self.assignment.hosts)
        self._filter = PackageFilter(self.assignment.spec.filter)
        self._kind = self.assignment.spec.returns
        salt = bytes.fromhex(self.assignment.salt)
        self._keys = Keys(salt) if salt else self.reader.keys
        self._pages = PageReader(self.reader.settings())
        self._ids = RecordIds()

    created_us: int = 0
    _hosts: JobHosts = field(init=False)
    _filter: PackageFilter = field(init=False)
    _kind: str = ""
    _keys: Keys = field(init=False)
    _pages: PageReader = field(init=False)
    _ids: RecordIds = field(init=False)

    def write(self, wacz: WaczWriter) -> PackageFacts:
        size = archive_bytes(self.reader) * _UNPACKED
        if self._kind == "summary":
            wacz.add_member(SUMMARY, packed(self._summary(), size // 16))
        else:
            wacz.add_member(ARCHIVE, packed(self._records(), size))
        wacz.add_member(OUTCOMES, packed(self._outcomes(), size // 16))
        facts = self._facts()
        wacz.add_member(FACTS, [msgspec.json.encode(facts)])
        at = iso_of(self.created_us)
        seeds = [ListedPage(seed, at, "") for seed in facts.seeds]
        wacz.add_pages(seeds)
        wacz.close(self.assignment.spec.name or self.assignment.job, seeds[0] if seeds else None)
        return facts

    def _facts(self) -> PackageFacts:
        return PackageFacts(
            format=PACKAGE_FORMAT,
            kind=self.assignment.spec.returns,
            job=self.assignment.job,
            fence=self.assignment.fence,
            created_us=self.created_us,
            seeds=self.assignment.spec.seeds,
            **self.counts,
        )

    def _count(self, name: str, more: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + more

    # -- exchanges

    def _records(self) -> Iterator[bytes]:
        for group in _groups(self._chosen()):
            for entry in self._entries(group):
                self._count("exchanges")
                yield entry_bytes(entry, self._ids)
            if self.earlier is not None:
                self.earlier.commit()

    def _chosen(self) -> Iterator[JobExchange]:
        """The exchanges that the filter allows."""
        for one in job_exchanges(self.reader, self._hosts):
            self._count("crawled_bytes", one.crawled_bytes)
            is_page = one.exchange.lease.purpose is Purpose.PAGE and one.answer is not None
            verdict = self._pages.judge(one, self._filter) if is_page else None
            if verdict is not None:
                self._leave_out(one, verdict)
                continue
            self._count("pages", int(is_page))
            yield self._pages.as_entry(one) if is_page and self._kind == "index" else one

    def _leave_out(self, one: JobExchange, verdict: FilterVerdict) -> None:
        self._count("left_out")
        lease, (reason, detail) = one.exchange.lease, verdict
        outcome = UrlOutcome(
            url=lease.url,
            outcome=Outcome.REFUSED.value,
            reason=reason.value,
            detail=detail,
            depth=lease.depth,
            via=lease.via,
            at_us=one.exchange.answer.at_us,
        )
        self.left_out.write(msgspec.json.encode(outcome) + b"\n")

    def _entries(self, group: Sequence[JobExchange]) -> Iterator[PackageEntry]:
        """The exchanges of a group, with the form in which each body is sent."""
        pages = [one for one in group if one.answer is not None and one.answer.body]
        keys = [self._keys.of(one.exchange.lease.url) for one in pages]
        names = [known_name(key, one.digest) for key, one in zip(keys, pages, strict=True)]
        missing = set(self.missing_of(names)) if names else set()
        known = {id(one) for at, one in enumerate(pages) if at not in missing}
        asked = [
            (one, key)
            for at, (one, key) in enumerate(zip(pages, keys, strict=True))
            if at in missing
        ]
        before = self._earlier_known(asked)
        for one in group:
            yield self._entry(one, is_known=id(one) in known, before=before.get(id(one)))

    def _earlier_known(self, asked: Sequence[tuple[JobExchange, bytes]]) -> dict[int, EarlierBody]:
        """Earlier bodies of these pages that the hub has, too."""
        if self.earlier is None or self._kind != "pages":
            return {}
        found = [(one, key, self.earlier.find(key)) for one, key in asked]
        have = [(one, key, body) for one, key, body in found if body is not None]
        names = [known_name(key, body.digest) for _, key, body in have]
        missing = set(self.missing_of(names)) if names else set()
        return {id(one): body for at, (one, _, body) in enumerate(have) if at not in missing}

    def _entry(
        self, one: JobExchange, *, is_known: bool, before: EarlierBody | None
    ) -> PackageEntry:
        exchange, answer = one.exchange, one.answer
        key = self._keys.of(exchange.lease.url)
        address = answer.address if answer is not None else ""
        lease = structs.replace(
            exchange.lease, number=0, key=key, address=address, is_trusted=False, previous=None
        )
        if answer is None:
            return PackageEntry(lease, exchange.answer, None)
        body = self._sent(one, answer.body, is_known=is_known, before=before)
        if self.earlier is not None and self._kind == "pages" and lease.purpose is Purpose.PAGE:
            self.earlier.put(key, one.digest, answer.body)
        return PackageEntry(lease, answer, body)

    def _sent(
        self, one: JobExchange, body: bytes, *, is_known: bool, before: EarlierBody | None
    ) -> SentBody:
        if is_known:
            self._count("known")
            return SentBody(one.digest, "known")
        if before is not None:
            data = difference(before.body, body)
            if len(data) * _LEAST_SAVED <= len(body):
                self._count("differences")
                return SentBody(one.digest, "difference", data, before.digest)
        return SentBody(one.digest, "whole", body)

    # -- the rest

    def _outcomes(self) -> Iterator[bytes]:
        self.left_out.seek(0)
        found = map(msgspec.json.encode, job_outcomes(self.reader, self._hosts))
        for line in chain(self.left_out, (line + b"\n" for line in found)):
            self._count("outcomes")
            yield line

    def _summary(self) -> Iterator[bytes]:
        summary = SiteSummary(self._pages)
        pages = map(summary.add, self._chosen())
        for line in chain.from_iterable((pages, summary.lines())):
            if line is not None:
                self._count("lines")
                yield msgspec.json.encode(line) + b"\n"


def _groups(exchanges: Iterable[JobExchange]) -> Iterator[list[JobExchange]]:
    group: list[JobExchange] = []
    size = 0
    for one in exchanges:
        group.append(one)
        size += len(one.answer.body) if one.answer is not None else 0
        if len(group) >= _GROUP or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
