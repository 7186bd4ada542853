"""Every message between a unit and the hub, with the limits of each. Read this file first.

A unit only sends requests; the hub never calls a unit. All paths begin with `/fleet/v1`. Bodies are
JSON, except pieces, which are bytes. Every request but `join`, `ca` and the files of updates has
`Authorization: Bearer TOKEN`. A fault is `FleetFault` with the status that `FAULTS` names.

    GET  /ca                 the certificate of the hub's authority (PEM); the join code pins it
    POST /join     Join              -> Joined
    POST /poll     Poll              -> PollAnswer   state, progress, heartbeat in; orders, job out
    POST /have     HaveQuestion      -> MissingDigests   of bodies or pieces
    PUT  /pieces/JOB/FENCE/SHA256    bytes, at most PIECE_BYTES -> PieceStored
    POST /package  PackageNotice     -> PackageAccepted  pieces of a package in order, its facts
    GET  /bans                       -> BannedLines  the whole list, when it has changed
    GET  /update/...                 files of the update repository (TUF)

A lease has a fence: the number of times that a job was given out. The hub accepts nothing for a
fence that is not the current one, so a unit that was silent and returns cannot overwrite the work
of its successor. What such a unit has done is used all the same, if the job is still open: the hub
accepts its package under the old fence only when no other unit has started the job.

Frozen structs; a unit and a hub ignore fields they do not know, and `version` decides whether they
can work together. Nothing here does I/O.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

PROTOCOL: Final = 1
PREFIX: Final = "/fleet/v1"

PIECE_BYTES: Final = 4 * 2**20
MESSAGE_BYTES: Final = 8 * 2**20  # any JSON body
MAX_SEEDS: Final = 10_000  # of a job
MAX_HOSTS: Final = 10_000  # that a job may request
MAX_DIGESTS: Final = 50_000  # of one question
MAX_PIECES: Final = 65_536  # of a package: 256 GiB
MAX_BELOW: Final = 1_000  # units below a relay, in one report
MAX_LOOPS: Final = 20  # URL patterns in one report
MAX_ROBOTS: Final = 50  # robots.txt files in one poll or assignment
MAX_ROBOTS_CHARS: Final = 512 * 2**10  # of one; RFC 9309 wants 500 KiB to be read
MAX_DEPTH: Final = 8  # of the tree

JobKind = Literal["site", "list", "page"]
JobState = Literal["unallocated", "allocated", "done", "failed"]
JobReturns = Literal["pages", "index", "summary"]
UnitState = Literal["idle", "working", "waiting", "draining", "stopped"]
OrderKind = Literal["report", "stop_job", "stop_after_job", "drain", "resume", "delete", "update"]
JobEnding = Literal["done", "failed", "stopped", "released"]

# Statuses of faults, each with what the unit does then.
FAULTS: Final = {
    400: "the message is invalid: the unit gives the job back and reports its own fault",
    401: "the token is unknown or revoked: the unit stops and says so",
    403: "not allowed to this unit: another job, another site, a wrong scope",
    404: "no such job or file",
    409: "the lease is not current: the unit stops the job and keeps what it has",
    413: "too large",
    422: "the package is refused; `reason` says why",
    426: "the unit must update first",
    429: "too many requests: wait `retry_s`",
    503: "the hub is busy or has no disk space: wait `retry_s`",
}


class FleetMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all messages."""


class FleetFault(FleetMessage, frozen=True, kw_only=True):
    """The answer to a request that failed: one sentence for a person, one word for a program."""

    error: str
    reason: str = ""
    retry_s: float = 0.0


# -- joining


class UnitPlace(FleetMessage, frozen=True, kw_only=True):
    """Where a unit is: set by its owner, or unknown."""

    label: str = ""  # such as `de` or `eu-west`; compared with that of a job
    latitude: float | None = None
    longitude: float | None = None


class MachineFacts(FleetMessage, frozen=True, kw_only=True):
    """What a unit says about itself."""

    name: str
    platform: str  # such as `linux-x86_64`
    python: str
    version: str  # of Gossamer
    cores: int = 1
    memory_bytes: int = 0
    free_disk_bytes: int = 0
    place: UnitPlace = UnitPlace()
    is_relay: bool = False


class Join(FleetMessage, frozen=True, kw_only=True):
    """A new unit. The code (`join_code.py`) can be used once."""

    code: str
    machine: MachineFacts
    version: int = PROTOCOL


class Joined(FleetMessage, frozen=True, kw_only=True):
    """The secret token of the unit. It is told once; the hub stores only its hash."""

    unit: str  # its id
    token: str
    hub: str  # id of the hub
    poll_s: float
    update_root: str = ""  # the first root metadata of the update repository (TUF), pinned from now
    # PEM of a private key and its certificate, if the hub asks for one in every connection (mTLS).
    client_certificate: str = ""


# -- jobs


class PageFilter(FleetMessage, frozen=True, kw_only=True):
    """Which pages of a job are sent. An empty field excludes nothing."""

    extensions: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    min_bytes: int = 0
    max_bytes: int = 0  # 0: no limit
    languages: tuple[str, ...] = ()
    include: tuple[str, ...] = ()  # URL patterns, as in the scope of a crawl
    exclude: tuple[str, ...] = ()
    topic: str = ""  # words: only pages with at least one of them


class WantedAnalysis(FleetMessage, frozen=True, kw_only=True):
    """An analysis that the unit makes: its name, and the version that the hub offers."""

    name: str
    version: str = ""
    sha256: str = ""  # of its code, if it is not part of Gossamer; it comes with an update


class JobSpec(FleetMessage, frozen=True, kw_only=True):
    """What is to be done. `options` are options of `gossamer crawl` (`hub/job_options.py` has the
    allowed ones); a unit refuses others. Fixed when the job is made."""

    kind: JobKind
    seeds: tuple[str, ...]
    name: str = ""  # for people: the site, or the name of the list
    options: dict[str, object] = {}
    filter: PageFilter = PageFilter()
    returns: JobReturns = "pages"
    analyses: tuple[WantedAnalysis, ...] = ()
    depth: int = 0  # of the tree: 0 crawls here, more hands parts to units below
    place: UnitPlace = UnitPlace()
    max_pages: int = 0
    max_bytes: int = 0
    max_time_s: float = 0.0


class SharedRobots(FleetMessage, frozen=True, kw_only=True):
    """A robots.txt that another unit has fetched lately."""

    origin: str
    status: int
    body: str
    fetched_us: int


class Assignment(FleetMessage, frozen=True, kw_only=True):
    """A job for a unit, under a lease."""

    job: str
    fence: int
    spec: JobSpec
    lease_s: float  # from now; each poll renews it
    hosts: tuple[str, ...]  # it may request these alone; `.example.org` means with all subdomains
    # Host -> seconds from now until it may be requested: another unit has just requested it.
    host_waits: dict[str, float] = {}
    robots: tuple[SharedRobots, ...] = ()
    salt: str = ""  # hex; of the URL keys of the central collection
    has_earlier: bool = False  # the hub has pages of an earlier visit: ask which


# -- polling


class UrlLoop(FleetMessage, frozen=True, kw_only=True):
    """A URL pattern that has brought many URLs and little new text."""

    pattern: str
    urls: int
    fetched: int
    example: str = ""


class UsedHost(FleetMessage, frozen=True, kw_only=True):
    """A host that a job requests: the delay that the unit keeps (crawl-delay and slow answers
    included), and the seconds since its last request ended. The next unit waits for the rest."""

    host: str
    delay_s: float
    since_s: float = 0.0


class JobProgress(FleetMessage, frozen=True, kw_only=True):
    """Of a job that is running, or has just ended."""

    job: str
    fence: int
    fetched: int = 0
    queued: int = 0
    failed: int = 0
    refused: int = 0
    unchanged: int = 0
    bytes: int = 0
    pages_per_s: float = 0.0
    ran_s: float = 0.0
    phase: Literal["crawl", "package", "send"] = "crawl"
    sent_bytes: int = 0
    to_send_bytes: int = 0
    addresses: tuple[str, ...] = ()  # that it requests
    used: tuple[UsedHost, ...] = ()  # of hosts requested since the last poll
    unresolved: tuple[str, ...] = ()  # URLs; the newest few
    robots_refused: tuple[str, ...] = ()  # URLs; the newest few
    recent: tuple[str, ...] = ()  # URLs fetched lately, for the list of the centre
    loops: tuple[UrlLoop, ...] = ()
    ending: JobEnding | None = None  # set once, at the end
    reason: str = ""  # of `failed` and `released`


class UnitReport(FleetMessage, frozen=True, kw_only=True):
    """One unit of the tree below a relay."""

    unit: str
    above: str  # the unit above it
    name: str
    state: UnitState
    level: int
    jobs_done: int = 0
    job: str = ""  # name of its job
    fetched: int = 0
    queued: int = 0
    bytes: int = 0
    seen_us: int = 0


class OrderDone(FleetMessage, frozen=True, kw_only=True):
    """An order that the unit has carried out."""

    order: int
    note: str = ""


class RoundTrip(FleetMessage, frozen=True, kw_only=True):
    """Time to connect to a host, measured on request."""

    host: str
    ms: float  # negative: not reached


class Poll(FleetMessage, frozen=True, kw_only=True):
    """What a unit tells. With `wants_job` it asks for the next job in the same request."""

    state: UnitState
    wants_job: bool = False
    progress: tuple[JobProgress, ...] = ()
    orders_done: tuple[OrderDone, ...] = ()
    bans_version: int = 0
    version: str = ""  # of Gossamer
    protocol: int = PROTOCOL
    why: str = ""  # why it does not work: `user is active`, `on battery`, ...
    round_trips: tuple[RoundTrip, ...] = ()
    below: tuple[UnitReport, ...] = ()
    robots: tuple[SharedRobots, ...] = ()  # fetched since the last poll, for the next unit
    machine: MachineFacts | None = None  # when it has changed


class UnitOrder(FleetMessage, frozen=True, kw_only=True):
    """An order to a unit. It is repeated until the unit says that it is done."""

    order: int
    kind: OrderKind
    job: str = ""


class SharedPace(FleetMessage, frozen=True, kw_only=True):
    """Several units request this address: each waits this many times its delay."""

    address: str
    factor: float


class PollAnswer(FleetMessage, frozen=True, kw_only=True):
    """The answer to a poll. No job: wait `wait_s` and poll again."""

    wait_s: float
    orders: tuple[UnitOrder, ...] = ()
    job: Assignment | None = None
    stop: tuple[str, ...] = ()  # jobs whose lease this unit no longer has
    renewed: dict[str, float] = {}  # job -> seconds of its lease from now
    bans_version: int = 0
    offers: str = ""  # version of Gossamer that the hub offers
    pace: tuple[SharedPace, ...] = ()
    probe: tuple[str, ...] = ()  # hosts whose round-trip time is wanted


class BannedLines(FleetMessage, frozen=True, kw_only=True):
    """The whole banned list: hosts, URL prefixes and patterns, as `gossamer ban` takes them."""

    version: int
    lines: tuple[str, ...]


# -- packages


class HaveQuestion(FleetMessage, frozen=True, kw_only=True):
    """Which of these are missing? Payload digests of pages, or SHA-256 of pieces."""

    job: str
    fence: int
    kind: Literal["payload", "piece"]
    digests: tuple[str, ...]


class MissingDigests(FleetMessage, frozen=True, kw_only=True):
    """Positions in the list of the question."""

    missing: tuple[int, ...]


class PackagePiece(FleetMessage, frozen=True, kw_only=True):
    sha256: str
    size: int


class PackageNotice(FleetMessage, frozen=True, kw_only=True):
    """A complete package. The hub checks it and answers at once; merging follows."""

    job: str
    fence: int
    kind: Literal["pages", "index", "summary"]
    pieces: tuple[PackagePiece, ...]
    sha256: str  # of the joined pieces
    size: int
    pages: int = 0
    crawled_bytes: int = 0  # bytes of responses: what a conventional crawler would have sent
    is_last: bool = True  # a job may send several


class PieceStored(FleetMessage, frozen=True, kw_only=True):
    is_new: bool


class PackageAccepted(FleetMessage, frozen=True, kw_only=True):
    """The hub has the package. One that it has already is accepted again, and counted once."""

    package: str
    is_new: bool
