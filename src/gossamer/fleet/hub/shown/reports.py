"""What people see of a hub, as plain objects for JSON, tables and pages. Reads; changes nothing.

The report of machines has the columns of the source: machine, task code, site, start, jobs done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gossamer.base.clock import iso_of
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.rows import JobRow, UnitRow
from gossamer.fleet.hub.shown.long_jobs import AllocatedJob, LongJob, find_long, loops_of
from gossamer.fleet.protocol import JobProgress

_RECENT_DONE = 500  # jobs that are done, for the median


def _when(us: int) -> str | None:
    return iso_of(us) if us else None


def machines(hub: Hub) -> list[dict[str, Any]]:
    """Every machine with its job, in the order of joining."""
    with hub.state.lock:
        return [_machine(hub, unit) for unit in sorted(hub.state.units, key=lambda u: u.number)]


def _machine(hub: Hub, unit: UnitRow) -> dict[str, Any]:
    jobs = hub.giving.allocated_to(unit.id)
    job = jobs[0] if jobs else None
    told = hub.unit_states.get(unit.id)
    facts = unit.machine
    return {
        "machine": facts.name,
        "task": job.id if job else "",
        "site": job.name if job else "",
        "start": _when(job.given_us) if job else None,
        "jobs_done": unit.jobs_done,
        "unit": unit.id,
        "state": unit_state(hub, unit),
        "why": told.why if told else "",
        "tasks": [one.id for one in jobs],
        "seen": _when(unit.seen_us),
        "joined": _when(unit.joined_us),
        "jobs_failed": unit.jobs_failed,
        "pages": unit.pages,
        "bytes": unit.bytes,
        "sent_bytes": unit.sent_bytes,
        "platform": facts.platform,
        "version": (told.version if told else "") or facts.version,
        "cores": facts.cores,
        "memory_bytes": facts.memory_bytes,
        "free_disk_bytes": facts.free_disk_bytes,
        "place": facts.place.label,
        "latitude": facts.place.latitude,
        "longitude": facts.place.longitude,
        "is_relay": "relay" in unit.scopes,
        "is_draining": unit.is_draining,
        "is_trusted": hub.is_trusted(unit),
        "good_in_row": unit.good_in_row,
        "faults": unit.faults,
        "orders": [row.kind for row in hub.ordering.open_of(unit.id)],
    }


def unit_state(hub: Hub, unit: UnitRow) -> str:
    """What a person sees: deleted, revoked, silent, or what the unit said last."""
    if unit.is_revoked:
        return "deleted" if unit.is_deleted else "revoked"
    seen_s = hub.seen_s.get(unit.id)
    silent_s = max(hub.settings.lease_s, 3 * hub.settings.wait_s)
    if seen_s is None or hub.clock.now_s() - seen_s > silent_s:
        return "silent"
    told = hub.unit_states.get(unit.id)
    return told.state if told else "idle"


def job_facts(hub: Hub, job: JobRow) -> dict[str, Any]:
    """A job with its newest progress."""
    told = hub.giving.progress.get(job.id)
    unit = hub.state.units.get(job.unit)
    return {
        "task": job.id,
        "site": job.name,
        "kind": job.kind,
        "state": job.state,
        "is_held": job.is_held,
        "unit": job.unit,
        "machine": unit.machine.name if unit else "",
        "start": _when(job.given_us),
        "ended": _when(job.ended_us),
        "made": _when(job.made_us),
        "fence": job.fence,
        "tries": job.tries,
        "reason": job.reason,
        "returns": job.returns,
        "priority": job.priority,
        "depth": job.depth,
        "check_of": job.check_of,
        "fetched": job.fetched,
        "queued": told.queued if told else 0,
        "failed": job.failed,
        "refused": job.refused,
        "bytes": job.bytes,
        "ran_s": job.ran_s,
        "pages_per_s": told.pages_per_s if told else 0.0,
        "phase": told.phase if told else "",
        "sent_bytes": job.sent_bytes,
        "crawled_bytes": job.crawled_bytes,
        "lease_left_s": round(hub.giving.lease_left_s(job), 1),
    }


def jobs(hub: Hub, state: str = "", limit: int = 100, offset: int = 0) -> dict[str, Any]:
    """Jobs in the order of making, and their counts by state."""
    with hub.state.lock:
        counts = {"unallocated": 0, "allocated": 0, "done": 0, "failed": 0}
        for job in hub.state.jobs:
            counts[job.state] += 1
        chosen = [job for job in hub.state.jobs if not state or job.state == state]
        chosen.sort(key=lambda job: job.number)
        shown = [job_facts(hub, job) for job in chosen[offset : offset + limit]]
        return {"total": len(chosen), "counts": counts, "jobs": shown}


def one_job(hub: Hub, name: str) -> dict[str, Any]:
    """A job with its specification, URLs and patterns. Raises NotKnown."""
    import msgspec

    with hub.state.lock:
        job = hub.giving.job(name)
        told = hub.giving.progress.get(job.id)
        return {
            **job_facts(hub, job),
            "spec": msgspec.to_builtins(hub.state.spec_of(job.id)),
            "hosts": list(job.hosts),
            "holders": list(job.holders),
            "recent": list(told.recent) if told else [],
            "unresolved": list(told.unresolved) if told else [],
            "robots_refused": list(told.robots_refused) if told else [],
            "loops": [msgspec.to_builtins(loop) for loop in loops_of(told)],
        }


def long_jobs(hub: Hub) -> list[dict[str, Any]]:
    """Jobs that take unexpectedly long, with the pattern to ban."""
    import msgspec

    with hub.state.lock:
        found = _find_long(hub)
        return [
            {
                **job_facts(hub, hub.state.jobs[long.job]),
                "ran_s": round(long.ran_s, 1),
                "expected_s": round(long.expected_s, 1),
                "why": long.why,
                "loops": [msgspec.to_builtins(loop) for loop in long.loops],
                "pattern": long.loops[0].pattern if long.loops else "",
            }
            for long in found
        ]


def _find_long(hub: Hub) -> list[LongJob]:
    now_us = hub.clock.wall_us()
    running = [
        AllocatedJob(
            job.id, job.kind, (now_us - job.given_us) / 1e6, hub.giving.progress.get(job.id)
        )
        for job in hub.state.jobs
        if job.state == "allocated" and not job.check_of
    ]
    done = [job for job in hub.state.jobs if job.state == "done" and job.unit and not job.check_of]
    done.sort(key=lambda job: -job.ended_us)
    times = [(job.kind, (job.ended_us - job.given_us) / 1e6) for job in done[:_RECENT_DONE]]
    return find_long(
        running, times, factor=hub.settings.long_factor, least_s=hub.settings.long_least_s
    )


def tree(hub: Hub) -> list[dict[str, Any]]:
    """Every unit with the one above it; units of the hub have none."""
    with hub.state.lock:
        found = []
        for unit in sorted(hub.state.units, key=lambda unit: unit.number):
            if unit.is_revoked:
                continue
            jobs = hub.giving.allocated_to(unit.id)
            told = [hub.giving.progress[job.id] for job in jobs if job.id in hub.giving.progress]
            found.append(
                {
                    "unit": unit.id, "above": "", "name": unit.machine.name, "level": 1,
                    "state": unit_state(hub, unit), "jobs_done": unit.jobs_done,
                    "job": jobs[0].name if jobs else "", "seen": _when(unit.seen_us),
                    "fetched": _sum(told, lambda one: one.fetched),
                    "queued": _sum(told, lambda one: one.queued),
                    "bytes": _sum(told, lambda one: one.bytes),
                }
            )  # fmt: skip
            found += [
                {
                    "unit": f"{unit.id}/{below.unit}",
                    "above": f"{unit.id}/{below.above}" if below.above else unit.id,
                    "name": below.name, "level": below.level + 1, "state": below.state,
                    "jobs_done": below.jobs_done, "job": below.job, "seen": _when(below.seen_us),
                    "fetched": below.fetched, "queued": below.queued, "bytes": below.bytes,
                }
                for below in hub.below.get(unit.id, ())
            ]  # fmt: skip
        return found


def _sum(told: list[JobProgress], count: Callable[[JobProgress], int]) -> int:
    return sum(count(one) for one in told)


def packages(hub: Hub, limit: int = 100, offset: int = 0) -> dict[str, Any]:
    """Packages, the newest first, and how many bytes the fleet has saved."""
    with hub.state.lock:
        rows = sorted(hub.state.packages, key=lambda row: -row.taken_us)
        good = [row for row in rows if row.state != "refused"]
        sent, crawled = sum(r.size for r in good), sum(r.crawled_bytes for r in good)
        return {
            "total": len(rows),
            "sent_bytes": sent,
            "crawled_bytes": crawled,
            "saved_bytes": max(0, crawled - sent),
            "packages": [
                {
                    "package": row.id, "job": row.job, "unit": row.unit, "fence": row.fence,
                    "kind": row.kind, "size": row.size, "pages": row.pages, "state": row.state,
                    "crawled_bytes": row.crawled_bytes, "reason": row.reason,
                    "taken": _when(row.taken_us),
                }
                for row in rows[offset : offset + limit]
            ],
        }  # fmt: skip


def status(hub: Hub) -> dict[str, Any]:
    """The hub in figures."""
    with hub.state.lock:
        units = [unit for unit in hub.state.units if not unit.is_revoked]
        states = [unit_state(hub, unit) for unit in units]
        counted = jobs(hub, limit=0)["counts"]
        packed = packages(hub, limit=0)
        return {
            "hub": hub.id,
            "machines": len(units),
            "machine_states": {name: states.count(name) for name in sorted(set(states))},
            "jobs": counted,
            "waiting": hub.giving.waiting,
            "fetched": sum(job.fetched for job in hub.state.jobs if not job.check_of),
            "bans": len(hub.state.bans),
            "bans_version": hub.bans.version,
            "checks": len(hub.state.checks),
            "offers": hub.offers,
            "shared_addresses": dict(hub.giving.addresses.users()),
            "packages_waiting": sum(
                one.state in ("accepted", "checking") for one in hub.state.packages
            ),
            **{name: packed[name] for name in ("sent_bytes", "crawled_bytes", "saved_bytes")},
        }
