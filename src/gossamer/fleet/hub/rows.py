"""The rows that the hub keeps: in memory while it runs, and in the store (`store.py`).

A row is changed in one place, the hub (`hub.py` and what it calls), and then put into its table
again, so that it is written. Fields are only added, each with a default.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from gossamer.fleet.protocol import (
    JobKind,
    JobReturns,
    JobState,
    MachineFacts,
    OrderKind,
    UnitPlace,
)

PackageState = Literal["checking", "accepted", "merged", "refused"]
UnitScope = Literal["work", "relay"]
PersonScope = Literal["read", "manage"]


class HubRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Base of all rows."""


class JobRow(HubRow):
    """A job without its specification, which is a row of its own (`specs`)."""

    id: str  # the task code of reports
    number: int  # in the order of making
    name: str
    kind: JobKind
    returns: JobReturns = "pages"
    state: JobState = "unallocated"
    hosts: tuple[str, ...] = ()  # while it is open
    site: str = ""  # the first of its hosts, also later
    priority: int = 0  # smaller comes first
    depth: int = 0
    place: UnitPlace | None = None
    seeds: int = 0
    fence: int = 0  # how often it was given out
    unit: str = ""  # that has it, or had it last
    holders: tuple[str, ...] = ()  # units of the last fences, the newest last
    has_started: bool = False  # its unit has reported progress under this fence
    is_held: bool = False  # a person stopped it; it is given out again when a person says so
    tries: int = 0  # that failed
    not_for: tuple[str, ...] = ()  # units that may not get it
    check_of: str = ""  # the job of which this one repeats a part
    made_us: int = 0
    given_us: int = 0
    ended_us: int = 0
    ran_s: float = 0.0
    reason: str = ""
    fetched: int = 0
    failed: int = 0
    refused: int = 0
    bytes: int = 0
    sent_bytes: int = 0  # of its accepted packages
    crawled_bytes: int = 0  # what a conventional crawler would have sent
    parent: str = ""  # on a relay: the job of the hub above of which this is a part

    @property
    def is_open(self) -> bool:
        return self.state in ("unallocated", "allocated")


class UnitRow(HubRow):
    """A machine that has joined."""

    id: str
    number: int
    machine: MachineFacts
    token_sha256: str = ""
    scopes: tuple[UnitScope, ...] = ("work",)
    joined_us: int = 0
    seen_us: int = 0
    is_revoked: bool = False
    is_deleted: bool = False  # it has deleted all its data
    is_draining: bool = False
    jobs_done: int = 0
    jobs_failed: int = 0
    pages: int = 0
    bytes: int = 0
    sent_bytes: int = 0
    good_in_row: int = 0
    faults: int = 0


class CodeRow(HubRow):
    """A join code; only the digest of its secret is kept."""

    digest: str
    made_us: int
    ends_us: int
    note: str = ""
    scopes: tuple[UnitScope, ...] = ("work",)
    used_us: int = 0
    unit: str = ""
    is_revoked: bool = False


class PersonRow(HubRow):
    """A token of a person or program for the JSON API."""

    name: str
    token_sha256: str
    scope: PersonScope = "read"
    made_us: int = 0
    is_revoked: bool = False


class OrderRow(HubRow):
    """An order to a unit; repeated until the unit says that it is done."""

    number: int
    unit: str
    kind: OrderKind
    job: str = ""
    by: str = ""
    made_us: int = 0
    told_us: int = 0  # when it was told first
    done_us: int = 0
    note: str = ""


class PackageRow(HubRow):
    """A package that was accepted or refused."""

    id: str
    job: str
    fence: int
    unit: str
    sha256: str
    kind: str = "pages"
    size: int = 0
    pages: int = 0
    crawled_bytes: int = 0
    is_last: bool = True
    taken_us: int = 0
    state: PackageState = "accepted"
    reason: str = ""


class BanRow(HubRow):
    """A line of the banned list."""

    line: str
    made_us: int = 0
    by: str = ""
    note: str = ""


class FreeHostRow(HubRow):
    """A host that was requested lately: no unit may request it before this time."""

    host: str
    free_us: int
    delay_s: float = 0.0


class SampledPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a package, as far as two units are compared."""

    url: str
    status: int
    digest: str


class CheckRow(HubRow):
    """A job whose result is compared with that of other units."""

    job: str
    unit: str
    package: str
    sample: tuple[SampledPage, ...]
    made_us: int = 0
    check_jobs: tuple[str, ...] = ()  # at most two: the second decides between the others
    second_unit: str = ""
    second: tuple[SampledPage, ...] = ()
    verdict: str = ""  # empty while it is open


class NumberRow(HubRow):
    """A counter or a short text of the hub itself."""

    name: str
    value: int = 0
    text: str = ""


# Table -> its rows. The key of a row is its first field.
TABLES: Final[dict[str, type[HubRow]]] = {
    "jobs": JobRow,
    "units": UnitRow,
    "codes": CodeRow,
    "people": PersonRow,
    "orders": OrderRow,
    "packages": PackageRow,
    "bans": BanRow,
    "hosts": FreeHostRow,
    "checks": CheckRow,
    "numbers": NumberRow,
}
SPECS: Final = "specs"  # job -> JobSpec; read when a job is given out
