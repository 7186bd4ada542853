"""The parts of a package and their limits. `docs/formats/package.md` explains them.

    archive/pages.warc.zst     exchanges; plain WARC records in one Zstandard frame
    fleet/outcomes.jsonl.zst   URLs that failed or were refused, with their reasons
    fleet/summary.jsonl.zst    of a package of the kind `summary`, in the place of the archive
    fleet/package.json         facts: job, fence, kind, counts
    pages/pages.jsonl          the seeds, for readers of WACZ files
    datapackage.json           names, lengths and SHA-256 of these

Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from gossamer.errors import GossamerError
from gossamer.fleet.protocol import JobReturns, SharedRobots

PACKAGE_FORMAT: Final = 1
ARCHIVE: Final = "archive/pages.warc.zst"
OUTCOMES: Final = "fleet/outcomes.jsonl.zst"
SUMMARY: Final = "fleet/summary.jsonl.zst"
FACTS: Final = "fleet/package.json"
PAGES: Final = "pages/pages.jsonl"
LISTS: Final = ("datapackage.json", "datapackage-digest.json")
MEMBERS: Final = frozenset({ARCHIVE, OUTCOMES, SUMMARY, FACTS, PAGES, *LISTS})

# Of a `revisit` record: the body of an exchange is a difference to an earlier body of its URL,
# which the header DIFFERENCE_FROM names by its digest.
DIFFERENCE: Final = "urn:gossamer:difference"
DIFFERENCE_FROM: Final = "Gossamer-Difference-From"

WINDOW_LOG: Final = 27  # the largest window of a frame: 128 MB, as readers of WARC files allow
MAX_LINE_BYTES: Final = 1 << 20  # of outcomes and summaries


class PackageRefused(GossamerError):
    """A package is not accepted. `reason` is one word for a program."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class PackageFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a package says about itself."""

    format: int
    kind: JobReturns
    job: str
    fence: int
    created_us: int
    seeds: tuple[str, ...] = ()
    exchanges: int = 0
    pages: int = 0  # responses to requests for pages
    known: int = 0  # of these, pages whose body the hub has
    differences: int = 0  # of these, pages that are sent as a difference
    outcomes: int = 0
    lines: int = 0  # of a summary
    left_out: int = 0  # pages that the filter of the job excludes
    crawled_bytes: int = 0  # heads and bodies of all responses


class UrlOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A URL without a page: one line of `fleet/outcomes.jsonl.zst`."""

    url: str
    outcome: str  # failed or refused
    reason: str
    detail: str = ""
    depth: int = 0
    via: str = ""  # URL of the page that links to it
    at_us: int = 0
    tries: int = 0


@dataclass(frozen=True, slots=True)
class BuiltPackage:
    """A package in a file of the unit."""

    path: Path
    kind: JobReturns
    pages: int
    crawled_bytes: int
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageLimits:
    """Limits under which a hub reads a package."""

    max_bytes: int = 8 * 2**30
    max_unpacked_bytes: int = 256 * 2**30
    # Pages of one template are nearly equal, and a hundred of them take the space of one. A bomb
    # has a ratio of 10,000 and more.
    max_ratio: int = 1_000
    free_bytes: int = 64 * 2**20  # no ratio is checked below this size
    max_record_bytes: int = 64 * 2**20
    max_exchanges: int = 20_000_000
    max_outcomes: int = 20_000_000
    max_ahead_s: float = 3_600.0  # of a date before now; clocks of machines differ
    max_age_s: float = 366 * 86_400.0  # of a date: a job does not take longer
    max_memory_bytes: int = 1 << 30  # of the process that checks
    max_cpu_s: float = 3_600.0


class SentPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a package, to compare the work of two units."""

    url: str
    status: int
    digest: str


class CheckedPackage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A package that the hub has checked, and what merging needs to know about it."""

    package: str  # SHA-256 of the file
    path: str
    size: int
    kind: JobReturns
    job: str
    fence: int
    hosts: tuple[str, ...]
    seeds: tuple[str, ...] = ()
    exchanges: int = 0
    pages: int = 0
    known: int = 0
    differences: int = 0
    outcomes: int = 0
    crawled_bytes: int = 0
    robots: tuple[SharedRobots, ...] = ()  # for other units; at most MAX_ROBOTS
    sample: tuple[SentPage, ...] = ()  # pages, chosen by a digest of their URLs; at most 1,000
