"""What people and programs can do with a hub: one function each, for HTTP and command line alike.

Every function takes the hub, who acts, and plain values, and returns a plain object. What changes
something is durable when `call` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gossamer.base.clock import iso_of
from gossamer.errors import NotKnown, UsageError
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.shown import reports
from gossamer.fleet.hub.shown.job_files import FORMATS, read_jobs


@dataclass(frozen=True, slots=True)
class FleetOperation:
    """One operation: where HTTP has it, and what it does."""

    method: str
    path: str  # below /api/fleet
    does: str
    run: Callable[..., dict[str, Any]]

    @property
    def changes(self) -> bool:
        return self.method != "GET"


def call(hub: Hub, name: str, who: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Do an operation. Raises UsageError, NotKnown, StoreError, DiskFault."""
    operation = OPERATIONS[name]
    found = operation.run(hub, who, **values)
    if operation.changes:
        hub.flush()
    return found


# -- reading


def _status(hub: Hub, _who: str) -> dict[str, Any]:
    return reports.status(hub)


def _machines(hub: Hub, _who: str) -> dict[str, Any]:
    return {"machines": reports.machines(hub)}


def _jobs(
    hub: Hub, _who: str, state: str = "", limit: int = 100, offset: int = 0
) -> dict[str, Any]:
    return reports.jobs(hub, state, limit, offset)


def _job(hub: Hub, _who: str, job: str) -> dict[str, Any]:
    return {"job": reports.one_job(hub, job)}


def _long(hub: Hub, _who: str) -> dict[str, Any]:
    return {"jobs": reports.long_jobs(hub)}


def _tree(hub: Hub, _who: str) -> dict[str, Any]:
    return {"units": reports.tree(hub)}


def _packages(hub: Hub, _who: str, limit: int = 100, offset: int = 0) -> dict[str, Any]:
    return reports.packages(hub, limit, offset)


def _bans(hub: Hub, _who: str) -> dict[str, Any]:
    with hub.state.lock:
        rows = sorted(hub.state.bans, key=lambda row: (row.made_us, row.line))
        shown = [
            {"line": row.line, "made": iso_of(row.made_us), "by": row.by, "note": row.note}
            for row in rows
        ]
        return {"version": hub.bans.version, "bans": shown}


def _orders(hub: Hub, _who: str, limit: int = 100) -> dict[str, Any]:
    with hub.state.lock:
        rows = sorted(hub.state.orders, key=lambda row: -row.number)[:limit]
        return {"orders": [msgspec.to_builtins(row) for row in rows]}


def _codes(hub: Hub, _who: str) -> dict[str, Any]:
    with hub.state.lock:
        now_us = hub.clock.wall_us()
        rows = sorted(hub.state.codes, key=lambda row: -row.made_us)
        shown = [
            {
                "code": row.digest[:8], "note": row.note, "made": iso_of(row.made_us),
                "ends": iso_of(row.ends_us), "unit": row.unit, "scopes": list(row.scopes),
                "is_open": not (row.used_us or row.is_revoked) and row.ends_us > now_us,
            }
            for row in rows
        ]  # fmt: skip
        return {"codes": shown}


def _tokens(hub: Hub, _who: str) -> dict[str, Any]:
    with hub.state.lock:
        rows = sorted(hub.state.people, key=lambda row: row.name)
        shown = [{"name": r.name, "scope": r.scope, "made": iso_of(r.made_us)} for r in rows]
        return {"tokens": shown}


def _audit(hub: Hub, _who: str, limit: int = 100) -> dict[str, Any]:
    return {"acts": hub.audit.newest(limit)}


# -- changing


def _add(
    hub: Hub,
    who: str,
    text: str = "",
    format: str = "txt",
    where: str = "the list",
    fields: Mapping[str, Any] | None = None,
    priority: int = 0,
) -> dict[str, Any]:
    if format not in FORMATS:
        raise UsageError(f"{format!r} is not a format of jobs; use one of {', '.join(FORMATS)}")
    specs = read_jobs(text, format, fields or {}, where)
    made = hub.add_jobs(specs, who, priority)
    shown = [{"task": job.id, "site": job.name, "kind": job.kind} for job in made[:1_000]]
    return {"added": len(made), "jobs": shown}


def _ban(
    hub: Hub, who: str, add: Sequence[str] = (), lift: Sequence[str] = (), note: str = ""
) -> dict[str, Any]:
    found = hub.ban(add, lift, who, note)
    return {"version": found.version, "bans": list(found.lines)}


def _ban_loop(hub: Hub, who: str, job: str, pattern: str = "") -> dict[str, Any]:
    """Ban the pattern that makes a job long."""
    with hub.state.lock:
        found = reports.one_job(hub, job)
    known = [loop["pattern"] for loop in found["loops"]]
    chosen = pattern or next(iter(known), "")
    if not chosen:
        raise NotKnown(f"{job} tells no pattern that loops; ban one with `gossamer hub ban`")
    return {**_ban(hub, who, add=(chosen,), note=f"loop of {job}"), "pattern": chosen}


def _order(hub: Hub, who: str, unit: str = "", kind: str = "", job: str = "") -> dict[str, Any]:
    if not unit and not job:
        raise UsageError("name a unit (or `*` for all), or a job to stop")
    if kind in ("again", "resume_job"):
        return _again(hub, who, job)
    if kind == "stop_job" and job:
        unit = ""
    given = hub.order(unit, kind, who, job)
    shown = [{"order": row.number, "unit": row.unit, "kind": row.kind} for row in given]
    return {"orders": shown}


def _again(hub: Hub, who: str, job: str) -> dict[str, Any]:
    return {"job": reports.job_facts(hub, hub.again(job, who))}


def _invite(
    hub: Hub, who: str, note: str = "", relay: bool = False, hours: float = 0.0
) -> dict[str, Any]:
    scopes: Any = ("work", "relay") if relay else ("work",)
    code, row = hub.invite(who, note=note, scopes=scopes, valid_s=hours * 3600)
    line = f"gossamer unit join {hub.url} {code}"
    return {"url": hub.url, "code": code, "ends": iso_of(row.ends_us), "line": line}


def _revoke(hub: Hub, who: str, name: str) -> dict[str, Any]:
    """A unit, a token of a person, or a join code by the first characters that a list shows."""
    with hub.state.lock:
        if name in hub.state.people:
            hub.joining.revoke_person(who, name)
            return {"revoked": name, "kind": "token"}
        is_code = len(name) == 8 and any(r.digest.startswith(name) for r in hub.state.codes)
        if is_code:
            hub.joining.revoke_code(who, name)
            return {"revoked": name, "kind": "code"}
    return {"revoked": hub.revoke(name, who).id, "kind": "unit"}


def _add_token(hub: Hub, who: str, name: str, scope: str = "read") -> dict[str, Any]:
    if scope not in ("read", "manage"):
        raise UsageError(f"{scope!r} is not a scope; use read or manage")
    with hub.state.lock:
        token = hub.joining.add_person(who, name, "manage" if scope == "manage" else "read")
    return {"name": name, "scope": scope, "token": token}


OPERATIONS: Final[dict[str, FleetOperation]] = {
    "status": FleetOperation("GET", "/status", "The fleet in figures.", _status),
    "machines": FleetOperation("GET", "/machines", "Every machine with its job.", _machines),
    "jobs": FleetOperation("GET", "/jobs", "Jobs, and counts by state.", _jobs),
    "job": FleetOperation("GET", "/jobs/{job}", "One job with all that is known of it.", _job),
    "long": FleetOperation("GET", "/long-jobs", "Jobs that take unexpectedly long.", _long),
    "tree": FleetOperation("GET", "/tree", "Every unit with the one above it.", _tree),
    "packages": FleetOperation("GET", "/packages", "Packages, and bytes saved.", _packages),
    "bans": FleetOperation("GET", "/bans", "The banned list.", _bans),
    "orders": FleetOperation("GET", "/orders", "Orders, the newest first.", _orders),
    "codes": FleetOperation("GET", "/codes", "Join codes.", _codes),
    "tokens": FleetOperation("GET", "/tokens", "Tokens of people and programs.", _tokens),
    "audit": FleetOperation("GET", "/audit", "The audit log, the newest first.", _audit),
    "add": FleetOperation("POST", "/jobs", "Add jobs.", _add),
    "ban": FleetOperation("POST", "/bans", "Change the banned list.", _ban),
    "ban_loop": FleetOperation(
        "POST", "/long-jobs/ban", "Ban the URL pattern that makes a job long.", _ban_loop
    ),
    "order": FleetOperation("POST", "/orders", "Give an order to a unit, or to all.", _order),
    "again": FleetOperation("POST", "/again", "Give a job out again.", _again),
    "invite": FleetOperation("POST", "/codes", "Make a join code.", _invite),
    "revoke": FleetOperation("POST", "/revoke", "Revoke a unit, a token or a code.", _revoke),
    "token": FleetOperation("POST", "/tokens", "Make a token for the JSON API.", _add_token),
}
