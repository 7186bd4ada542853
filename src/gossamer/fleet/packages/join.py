"""Join several packages into one, without what is double among them.

A relay does this with the packages of the units below it. An exchange is double if another one has
its URL and its body, or its URL and time. Packages are read one after the other under the limits of
a hub; memory holds 24 bytes for each exchange.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from gossamer.archive.wacz import ListedPage, WaczWriter
from gossamer.base.clock import Clock, SystemClock, iso_of
from gossamer.base.files import sync_folder
from gossamer.fleet.packages.compress import packed
from gossamer.fleet.packages.entries import PackageEntry, RecordIds, entry_bytes
from gossamer.fleet.packages.format import (
    ARCHIVE,
    FACTS,
    OUTCOMES,
    PACKAGE_FORMAT,
    SUMMARY,
    BuiltPackage,
    PackageFacts,
    PackageLimits,
    UrlOutcome,
)
from gossamer.fleet.packages.layout import PackageLayout, read_layout
from gossamer.fleet.packages.unpack import package_entries, package_lines
from gossamer.fleet.protocol import Assignment
from gossamer.records import Fetched, Purpose
from gossamer.urls.keys import Keys

_UNPACKED: Final = 10  # times the length of packages
_DIGEST_BYTES: Final = 12


def join_packages(
    files: Sequence[Path],
    assignment: Assignment,
    out: Path,
    *,
    limits: PackageLimits | None = None,
    clock: Clock | None = None,
) -> BuiltPackage:
    """Join checked packages into one of the job of the relay. Of a URL that one unit has fetched,
    refusals of others are left out. Raises PackageRefused, OSError."""
    layouts = [read_layout(one, (limits or PackageLimits()).max_bytes) for one in files]
    joining = _Joining(layouts, assignment, limits or PackageLimits(), clock or SystemClock())
    partial = out.with_name(f"{out.name}.part")
    with partial.open("wb") as file:
        facts = joining.write(file, sum(one.stat().st_size for one in files) * _UNPACKED)
        file.flush()
        os.fsync(file.fileno())
    with partial.open("rb") as whole:
        sha256 = hashlib.file_digest(whole, "sha256").hexdigest()
    size = partial.stat().st_size
    partial.replace(out)
    sync_folder(out.parent)
    return BuiltPackage(out, facts.kind, facts.pages, facts.crawled_bytes, sha256, size)


@dataclass(slots=True)
class _Joining:
    layouts: Sequence[PackageLayout]
    assignment: Assignment
    limits: PackageLimits
    clock: Clock
    counts: dict[str, int] = field(default_factory=dict)
    seen: set[bytes] = field(default_factory=set)
    fetched: set[bytes] = field(default_factory=set)

    def write(self, file: object, size: int) -> PackageFacts:
        now_us = self.clock.wall_us()
        wacz = WaczWriter(file, iso_of(now_us))  # type: ignore[arg-type]  # a binary file
        if self.assignment.spec.returns == "summary":
            wacz.add_member(SUMMARY, packed(self._summary(), size))
        else:
            wacz.add_member(ARCHIVE, packed(self._records(), size))
        wacz.add_member(OUTCOMES, packed(self._outcomes(), size // 16))
        facts = self._facts(now_us)
        wacz.add_member(FACTS, [msgspec.json.encode(facts)])
        pages = [ListedPage(seed, iso_of(now_us), "") for seed in facts.seeds]
        wacz.add_pages(pages)
        wacz.close(self.assignment.spec.name or facts.job, pages[0] if pages else None)
        return facts

    def _facts(self, now_us: int) -> PackageFacts:
        told = [msgspec.json.decode(one.small(FACTS), type=PackageFacts) for one in self.layouts]
        if self.assignment.spec.returns == "summary":
            self.counts["pages"] = sum(one.pages for one in told)
        return PackageFacts(
            format=PACKAGE_FORMAT,
            kind=self.assignment.spec.returns,
            job=self.assignment.job,
            fence=self.assignment.fence,
            created_us=now_us,
            seeds=self.assignment.spec.seeds,
            left_out=sum(one.left_out for one in told),
            crawled_bytes=sum(one.crawled_bytes for one in told),
            **self.counts,
        )

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def _is_new(self, *parts: object) -> bool:
        name = hashlib.blake2b(repr(parts).encode(), digest_size=_DIGEST_BYTES).digest()
        is_new = name not in self.seen
        self.seen.add(name)
        return is_new

    def _records(self) -> Iterator[bytes]:
        ids, salt = RecordIds(), bytes.fromhex(self.assignment.salt)
        keys = Keys(salt) if salt else None
        for layout in self.layouts:
            for entry in package_entries(layout.member(ARCHIVE), self.limits):
                if self._takes(entry):
                    if keys is not None:
                        key = keys.of(entry.lease.url)
                        lease = structs.replace(entry.lease, key=key)
                        entry = PackageEntry(lease, entry.answer, entry.body)  # noqa: PLW2901
                    yield entry_bytes(entry, ids)

    def _takes(self, entry: PackageEntry) -> bool:
        """Whether an exchange is the first of its URL and body; it is counted then."""
        lease, answer, body = entry.lease, entry.answer, entry.body
        what = body.digest if body is not None else answer.at_us
        if not self._is_new(lease.purpose.value, lease.url, what):
            return False
        self._count("exchanges")
        if isinstance(answer, Fetched) and lease.purpose is Purpose.PAGE:
            self._count("pages")
            self.fetched.add(_name(lease.url))
        if body is not None and body.form != "whole":
            self._count("known" if body.form == "known" else "differences")
        return True

    def _outcomes(self) -> Iterator[bytes]:
        for layout in self.layouts:
            for line in package_lines(layout.member(OUTCOMES), self.limits):
                one = msgspec.json.decode(line, type=UrlOutcome)
                if _name(one.url) not in self.fetched and self._is_new("outcome", one.url):
                    self._count("outcomes")
                    yield line + b"\n"

    def _summary(self) -> Iterator[bytes]:
        for layout in self.layouts:
            for line in package_lines(layout.member(SUMMARY), self.limits):
                if self._is_new("line", line):
                    self._count("lines")
                    yield line + b"\n"


def _name(url: str) -> bytes:
    return hashlib.blake2b(url.encode(), digest_size=_DIGEST_BYTES).digest()
