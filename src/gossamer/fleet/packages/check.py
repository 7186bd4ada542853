"""Check a package that a unit has sent, before anything of it is used.

The outer form (`layout.py`), every digest, every URL against the hosts of the job, dates, counts,
and that it is for this job, fence and collection. Streams: memory does not depend on the length of
the package. A hub calls `check_apart` (`check_process.py`), which does this in a process of its own
with limits on memory and CPU time.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from gossamer.archive.warc import payload_digest
from gossamer.base.clock import SystemClock
from gossamer.fetch.head import Head
from gossamer.fleet.packages.entries import PackageEntry
from gossamer.fleet.packages.format import (
    ARCHIVE,
    FACTS,
    LISTS,
    OUTCOMES,
    PACKAGE_FORMAT,
    PAGES,
    SUMMARY,
    CheckedPackage,
    PackageFacts,
    PackageLimits,
    PackageRefused,
    SentPage,
    UrlOutcome,
)
from gossamer.fleet.packages.hosts import JobHosts
from gossamer.fleet.packages.known import read_name
from gossamer.fleet.packages.layout import PackageLayout, read_layout
from gossamer.fleet.packages.unpack import package_entries, package_lines
from gossamer.fleet.protocol import MAX_ROBOTS, MAX_ROBOTS_CHARS, JobSpec, SharedRobots
from gossamer.frontier.rows import MAX_DEPTH
from gossamer.records import Fetched, Outcome, Purpose, Reason
from gossamer.urls.canonical import NormalForm, origin_of
from gossamer.urls.keys import Keys

_PURPOSES: Final = frozenset({Purpose.PAGE, Purpose.ROBOTS, Purpose.SITEMAP})
_REASONS: Final = frozenset(reason.value for reason in Reason)
_SAMPLE: Final = 1_000
_STATUSES: Final = range(100, 1000)
_MAX_DETAIL_CHARS: Final = 4_096
_LINE_KINDS: Final = frozenset({"page", "folder", "links", "counts"})
_READ_BYTES: Final = 1 << 20
_FORM: Final = NormalForm()


def check_package(
    file: Path,
    spec: JobSpec,
    hosts: Sequence[str],
    limits: PackageLimits,
    *,
    job: str,
    fence: int,
    salt: str = "",
    now_us: int = 0,
) -> CheckedPackage:
    """Check a package of a job. `salt` is that of the central collection, `now_us` the time (0:
    that of the clock). Raises PackageRefused and OSError."""
    layout = read_layout(file, limits.max_bytes)
    facts = _facts(layout)
    _check_facts(facts, spec, job, fence)
    _check_members(layout, facts)
    check = _Check(facts, hosts, limits, salt, now_us or SystemClock().wall_us())
    if layout.has(ARCHIVE):
        for entry in package_entries(layout.member(ARCHIVE), limits):
            check.entry(entry)
    if layout.has(SUMMARY):
        for line in package_lines(layout.member(SUMMARY), limits):
            check.summary_line(line)
    for line in package_lines(layout.member(OUTCOMES), limits):
        check.outcome(line)
    check.end()
    with file.open("rb") as whole:
        sha256 = hashlib.file_digest(whole, "sha256").hexdigest()
    return CheckedPackage(
        package=sha256,
        path=str(file),
        size=file.stat().st_size,
        kind=facts.kind,
        job=job,
        fence=fence,
        hosts=tuple(hosts),
        seeds=spec.seeds,
        exchanges=facts.exchanges,
        pages=facts.pages,
        known=facts.known,
        differences=facts.differences,
        outcomes=facts.outcomes,
        crawled_bytes=facts.crawled_bytes,
        robots=tuple(check.robots.values()),
        sample=check.sample(),
    )


def _facts(layout: PackageLayout) -> PackageFacts:
    try:
        return msgspec.json.decode(layout.small(FACTS), type=PackageFacts)
    except msgspec.DecodeError as fault:
        raise PackageRefused("facts", f"{FACTS} cannot be read: {fault}") from None


def _check_facts(facts: PackageFacts, spec: JobSpec, job: str, fence: int) -> None:
    if facts.format != PACKAGE_FORMAT:
        what = f"the package has format {facts.format}, but this hub reads {PACKAGE_FORMAT}"
        raise PackageRefused("format", what)
    if facts.job != job:
        raise PackageRefused("job", "the package is of another job")
    if facts.fence != fence:
        raise PackageRefused("fence", f"the package is of lease {facts.fence}, not {fence}")
    if facts.kind != spec.returns:
        raise PackageRefused("kind", f"the job returns {spec.returns}, not {facts.kind}")
    if facts.seeds != spec.seeds:
        raise PackageRefused("job", "the package has other seeds than the job")
    counts = (facts.exchanges, facts.pages, facts.outcomes, facts.lines, facts.crawled_bytes)
    if min(*counts, facts.known, facts.differences) < 0:
        raise PackageRefused("count", "the package has a negative count")


def _check_members(layout: PackageLayout, facts: PackageFacts) -> None:
    """The members that the kind needs are there, no others, and the list of them is right."""
    content = SUMMARY if facts.kind == "summary" else ARCHIVE
    wanted = {content, OUTCOMES, FACTS, PAGES, *LISTS}
    if set(layout.members) != wanted:
        odd = min(wanted ^ set(layout.members))
        raise PackageRefused("layout", f"a package of the kind {facts.kind}: {odd}")
    listed = layout.small(LISTS[0])
    try:
        found = msgspec.json.decode(listed, type=_DataPackage)
        digest = msgspec.json.decode(layout.small(LISTS[1]), type=_Digest)
    except msgspec.DecodeError as fault:
        raise PackageRefused("layout", f"the list of members cannot be read: {fault}") from None
    if digest.hash != f"sha256:{hashlib.sha256(listed).hexdigest()}":
        raise PackageRefused("digest", f"{LISTS[0]} does not match its digest")
    if {one.path for one in found.resources} != wanted - set(LISTS):
        raise PackageRefused("layout", f"{LISTS[0]} lists other members than there are")
    for one in found.resources:
        sha256, size = _digest_of(layout, one.path)
        if (one.hash, one.bytes) != (f"sha256:{sha256}", size):
            raise PackageRefused("digest", f"{one.path} does not match its digest")


class _Resource(msgspec.Struct):
    path: str
    hash: str
    bytes: int


class _DataPackage(msgspec.Struct):
    resources: list[_Resource]


class _Digest(msgspec.Struct):
    hash: str


def _digest_of(layout: PackageLayout, name: str) -> tuple[str, int]:
    sha256, size = hashlib.sha256(), 0
    with layout.member(name).open("rb") as file:
        while data := file.read(_READ_BYTES):
            sha256.update(data)
            size += len(data)
    return sha256.hexdigest(), size


class _Check:
    """Checks what the members hold."""

    def __init__(
        self,
        facts: PackageFacts,
        hosts: Sequence[str],
        limits: PackageLimits,
        salt: str,
        now_us: int,
    ) -> None:
        self._facts = facts
        self._hosts = JobHosts(hosts)
        self._limits = limits
        self._keys = Keys(bytes.fromhex(salt)) if salt else None
        self._latest_us = now_us + round(limits.max_ahead_s * 1e6)
        self._earliest_us = now_us - round(limits.max_age_s * 1e6)
        self._found = {
            "exchanges": 0, "pages": 0, "known": 0, "differences": 0, "outcomes": 0, "lines": 0
        }  # fmt: skip
        self.robots: dict[str, SharedRobots] = {}
        # A heap of the pages whose URLs have the smallest digests: two units choose the same ones.
        self._sample: list[tuple[int, str, SentPage]] = []

    def entry(self, entry: PackageEntry) -> None:
        lease, answer = entry.lease, entry.answer
        self._count("exchanges", self._limits.max_exchanges)
        for url in (lease.url, answer.url):
            self._check_url(url)
        if lease.purpose not in _PURPOSES or lease.source or lease.previous is not None:
            raise PackageRefused("damaged", f"an exchange of {lease.url[:200]} is of another kind")
        self._check_path(lease.depth, lease.via, lease.tries, lease.url)
        self._check_date(answer.at_us, lease.url)
        if self._keys is not None and lease.key != self._keys.of(lease.url):
            raise PackageRefused("salt", "the keys of URLs are not those of this collection")
        if isinstance(answer, Fetched):
            self._response(entry, answer)
        elif len(answer.detail) > _MAX_DETAIL_CHARS:
            raise PackageRefused("damaged", f"the reason for {lease.url[:200]} is too long")

    def _response(self, entry: PackageEntry, answer: Fetched) -> None:
        lease, body = entry.lease, entry.body
        if body is None or answer.status not in _STATUSES or answer.took_s < 0:
            raise PackageRefused("damaged", f"the response of {lease.url[:200]} is not valid")
        for digest in filter(None, (body.digest, body.from_digest)):
            if read_name(f"{'0' * 32}/{digest}") is None:
                raise PackageRefused("digest", f"{digest[:60]!r} is not a digest")
        if body.form == "whole" and payload_digest(body.data) != body.digest:
            raise PackageRefused("digest", f"the body of {lease.url[:200]} has another digest")
        if body.form == "known":
            self._count("known", self._limits.max_exchanges)
        if body.form == "difference":
            self._count("differences", self._limits.max_exchanges)
        if lease.purpose is Purpose.ROBOTS:
            self._note_robots(answer)
        if lease.purpose is Purpose.PAGE:
            self._count("pages", self._limits.max_exchanges)
            self._note_sample(lease.url, answer.status, body.digest)

    def outcome(self, line: bytes) -> None:
        self._count("outcomes", self._limits.max_outcomes)
        try:
            found = msgspec.json.decode(line, type=UrlOutcome)
        except msgspec.DecodeError as fault:
            raise PackageRefused("damaged", f"{OUTCOMES} cannot be read: {fault}") from None
        self._check_url(found.url)
        self._check_path(found.depth, found.via, found.tries, found.url)
        self._check_date(found.at_us, found.url)
        is_known = found.outcome in (Outcome.FAILED.value, Outcome.REFUSED.value)
        is_sound = found.reason in _REASONS and len(found.detail) <= _MAX_DETAIL_CHARS
        if not (is_known and is_sound):
            raise PackageRefused("damaged", f"the outcome of {found.url[:200]} is not known")

    def summary_line(self, line: bytes) -> None:
        self._count("lines", self._limits.max_outcomes)
        try:
            found = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
            kind = msgspec.json.decode(found.get("kind", b'""'), type=str)
            url = msgspec.json.decode(found.get("url", b'""'), type=str)
        except msgspec.DecodeError as fault:
            raise PackageRefused("damaged", f"{SUMMARY} cannot be read: {fault}") from None
        if kind not in _LINE_KINDS:
            raise PackageRefused("damaged", f"{SUMMARY} has a line of the kind {kind[:40]!r}")
        if kind == "page":
            self._check_url(url)

    def end(self) -> None:
        """All was read: the counts must be right."""
        facts = msgspec.structs.asdict(self._facts)
        wanted = dict(self._found)
        if self._facts.kind == "summary":
            del wanted["pages"]
        for name, count in wanted.items():
            if facts[name] != count:
                what = f"the package says that it has {facts[name]} {name}, but it has {count}"
                raise PackageRefused("count", what)

    def sample(self) -> tuple[SentPage, ...]:
        return tuple(page for _, _, page in sorted(self._sample, reverse=True))

    def _count(self, name: str, most: int) -> None:
        self._found[name] += 1
        if self._found[name] > most:
            raise PackageRefused("entries", f"the package has more than {most} {name}")

    def _check_url(self, url: str) -> None:
        if _FORM.find(url) != url:
            raise PackageRefused("url", f"{url[:200]!r} is not a URL in canonical form")
        if not self._hosts.has_url(url):
            raise PackageRefused("host", f"{url[:200]} is not of a host of this job")

    def _check_path(self, depth: int, via: str, tries: int, url: str) -> None:
        if not 0 <= depth <= MAX_DEPTH or not 0 <= tries <= MAX_DEPTH:
            raise PackageRefused("damaged", f"the depth or tries of {url[:200]} are not possible")
        if via and _FORM.find(via) != via:
            raise PackageRefused("url", f"{via[:200]!r} is not a URL in canonical form")

    def _check_date(self, at_us: int, url: str) -> None:
        if not self._earliest_us <= at_us <= self._latest_us:
            raise PackageRefused("date", f"the date of {url[:200]} is not possible")

    def _note_robots(self, answer: Fetched) -> None:
        """Keep a robots.txt for other units. Redirects are followed by the unit that fetched."""
        body = answer.body if not Head(answer.head).first("content-encoding") else b""
        text = body[:MAX_ROBOTS_CHARS].decode("utf-8", "replace")
        origin = origin_of(answer.url)
        if 300 <= answer.status < 400 or (len(self.robots) >= MAX_ROBOTS):
            return
        self.robots[origin] = SharedRobots(
            origin=origin, status=answer.status, body=text, fetched_us=answer.at_us
        )

    def _note_sample(self, url: str, status: int, digest: str) -> None:
        number = int.from_bytes(hashlib.sha256(url.encode()).digest()[:8], "big")
        one = (-number, url, SentPage(url=url, status=status, digest=digest))
        if len(self._sample) < _SAMPLE:
            heapq.heappush(self._sample, one)
        elif one[:2] > self._sample[0][:2]:
            heapq.heapreplace(self._sample, one)
