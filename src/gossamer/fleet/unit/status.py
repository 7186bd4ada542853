"""What a unit does now, for `gossamer unit status` and the local page."""

from __future__ import annotations

import msgspec


class JobStatus(msgspec.Struct, kw_only=True):
    job: str
    name: str
    phase: str = "crawl"
    fetched: int = 0
    queued: int = 0
    failed: int = 0
    refused: int = 0
    bytes: int = 0
    pages_per_s: float = 0.0
    ran_s: float = 0.0
    is_suspended: bool = False
    recent: tuple[str, ...] = ()


class UnitStatus(msgspec.Struct, kw_only=True):
    """`pid` is the process of the unit."""

    hub: str
    unit: str
    name: str
    version: str
    state: str
    why: str = ""  # it does not work
    trouble: str = ""  # with the hub
    pid: int = 0
    at_us: int = 0
    answered_us: int = 0  # the last answer of the hub
    jobs: tuple[JobStatus, ...] = ()
    jobs_done: int = 0  # since the start
    month_bytes: int = 0
    disk_bytes: int = 0
    is_stopping_after: bool = False
    page: str = ""  # URL of the local page
