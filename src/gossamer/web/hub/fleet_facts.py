"""What the pages of the fleet show, as plain values. The caller holds no lock; each function takes
the hub's for as long as it reads."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any, Final

from gossamer.base.clock import iso_of
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.rows import JobRow, PackageRow, UnitRow
from gossamer.fleet.protocol import JobProgress, UnitReport

MOST_URLS: Final = 200  # of each kind, on the overview
MOST_ROWS: Final = 500  # of orders and packages
_STATES: Final = ("unallocated", "allocated", "done", "failed")


def time_of(at_us: int) -> str:
    """A time for people and `<time>`; empty if there is none."""
    return iso_of(at_us) if at_us else ""


def saved_text(sent: int, crawled: int) -> str:
    """`83 %`: the share of the crawled bytes that was not sent."""
    return f"{100 * (1 - sent / crawled):.0f} %" if crawled else "–"


def by_state(hub: Hub) -> dict[str, int]:
    """Jobs of people, by state."""
    with hub.state.lock:
        counted = Counter(job.state for job in hub.state.jobs)
    return {state: counted[state] for state in _STATES}


def overview(hub: Hub, long_jobs: int) -> dict[str, Any]:
    machines = machine_rows(hub)
    counted = by_state(hub)
    with hub.state.lock:
        jobs = list(hub.state.jobs)
        running = list(hub.giving.progress.values())
    sent = sum(job.sent_bytes for job in jobs)
    crawled = sum(job.crawled_bytes for job in jobs)
    return {
        "machines": sum(not one["is_gone"] for one in machines),
        "working": sum(one["state"] == "working" for one in machines),
        "silent": sum(one["state"] == "silent" for one in machines),
        "pages_per_s": sum(one.pages_per_s for one in running),
        "pages": sum(job.fetched for job in jobs),
        "crawled_bytes": crawled,
        "sent_bytes": sent,
        "saved": saved_text(sent, crawled),
        "jobs": len(jobs),
        "by_state": counted,
        "long": long_jobs,
        "recent": newest(running, "recent"),
        "unresolved": newest(running, "unresolved"),
        "robots_refused": newest(running, "robots_refused"),
    }


def newest(running: list[JobProgress], kind: str) -> list[str]:
    """One list of URLs of all machines."""
    found = dict.fromkeys(url for one in running for url in reversed(getattr(one, kind)))
    return list(found)[:MOST_URLS]


# -- machines


def machine_rows(hub: Hub) -> list[dict[str, Any]]:
    """Every machine that has not left, those that work first."""
    with hub.state.lock:
        rows = [machine_row(hub, unit) for unit in hub.state.units if not unit.is_deleted]
    order = ("working", "idle", "waiting", "draining", "stopped", "silent", "revoked")
    return sorted(rows, key=lambda row: (order.index(row["state"]), row["name"]))


def machine_row(hub: Hub, unit: UnitRow) -> dict[str, Any]:
    machine, jobs = unit.machine, hub.giving.allocated_to(unit.id)
    job = jobs[0] if jobs else None
    progress = hub.giving.progress.get(job.id) if job is not None else None
    seen_s = hub.seen_s.get(unit.id)
    silent_s = None if seen_s is None else max(0.0, hub.clock.now_s() - seen_s)
    if seen_s is None and unit.seen_us:
        silent_s = max(0.0, (hub.clock.wall_us() - unit.seen_us) / 1e6)
    poll = hub.unit_states.get(unit.id)
    place = machine.place
    return {
        "unit": unit.id,
        "name": machine.name or unit.id,
        "state": machine_state(hub, unit, silent_s),
        "is_gone": unit.is_revoked,
        "why": poll.why if poll is not None else "",
        "job": job.id if job is not None else "",
        "site": job.name if job is not None else "",
        "started_at": time_of(job.given_us) if job is not None else "",
        "fetched": progress.fetched if progress is not None else 0,
        "queued": progress.queued if progress is not None else 0,
        "pages_per_s": progress.pages_per_s if progress is not None else 0.0,
        "jobs_done": unit.jobs_done,
        "jobs_failed": unit.jobs_failed,
        "pages": unit.pages + (progress.fetched if progress is not None else 0),
        "bytes": unit.bytes,
        "sent_bytes": unit.sent_bytes,
        "silent_s": silent_s,
        "place": place.label or coordinates(place.latitude, place.longitude),
        "latitude": place.latitude,
        "longitude": place.longitude,
        "is_trusted": hub.is_trusted(unit),
        "good_in_row": unit.good_in_row,
        "faults": unit.faults,
        "version": machine.version,
        "platform": machine.platform,
        "python": machine.python,
        "cores": machine.cores,
        "memory_bytes": machine.memory_bytes,
        "free_disk_bytes": machine.free_disk_bytes,
        "joined_at": time_of(unit.joined_us),
    }


def machine_state(hub: Hub, unit: UnitRow, silent_s: float | None) -> str:
    """What a person wants to know first."""
    if unit.is_revoked:
        return "revoked"
    if silent_s is None or silent_s > max(hub.settings.lease_s, 3 * hub.settings.wait_s):
        return "silent"
    if hub.giving.allocated_to(unit.id):
        return "working"
    if unit.is_draining:
        return "draining"
    poll = hub.unit_states.get(unit.id)
    return poll.state if poll is not None else "idle"


def coordinates(latitude: float | None, longitude: float | None) -> str:
    if latitude is None or longitude is None:
        return ""
    north = "N" if latitude >= 0 else "S"
    east = "E" if longitude >= 0 else "W"
    return f"{abs(latitude):.1f}° {north}, {abs(longitude):.1f}° {east}"


# -- the tree


def tree(hub: Hub) -> list[dict[str, Any]]:
    """The machines below this hub, each with those below it."""
    nodes = []
    for one in machine_rows(hub):
        below = hub.below.get(one["unit"], ())
        node = {name: one[name] for name in ("name", "state", "fetched", "queued", "jobs_done")}
        node |= {"job": one["site"], "bytes": one["bytes"], "below": branches(one["unit"], below)}
        nodes.append(node)
    return nodes


def branches(above: str, reports: tuple[UnitReport, ...], level: int = 8) -> list[dict[str, Any]]:
    """The reports of a relay as a tree; a circle among them ends at `level`."""
    if not level:
        return []
    names = {one.unit for one in reports}
    mine = [one for one in reports if one.above == above or (level == 8 and one.above not in names)]
    return [
        {
            "name": one.name or one.unit,
            "state": one.state,
            "job": one.job,
            "fetched": one.fetched,
            "queued": one.queued,
            "bytes": one.bytes,
            "jobs_done": one.jobs_done,
            "below": branches(one.unit, reports, level - 1),
        }
        for one in mine
    ]


def count_nodes(nodes: list[dict[str, Any]]) -> int:
    """All machines of a tree."""
    return sum(1 + count_nodes(one["below"]) for one in nodes)


# -- jobs


def job_rows(hub: Hub, state: str, offset: int, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Jobs of a state, the newest first, and how many there are."""
    with hub.state.lock:
        chosen = [job for job in hub.state.jobs if not state or job.state == state]
        chosen.sort(key=lambda job: -job.number)
        return [job_row(hub, job) for job in chosen[offset : offset + limit]], len(chosen)


def job_row(hub: Hub, job: JobRow) -> dict[str, Any]:
    progress = hub.giving.progress.get(job.id)
    unit = hub.state.units.get(job.unit) if job.unit else None
    return {
        "job": job.id,
        "name": job.name,
        "state": job.state,
        "is_held": job.is_held,
        "reason": job.reason,
        "machine": unit.machine.name if unit is not None else "",
        "started_at": time_of(job.given_us),
        "ran_s": progress.ran_s if progress is not None else job.ran_s,
        "fetched": job.fetched,
        "queued": progress.queued if progress is not None else 0,
        "failed": job.failed,
        "refused": job.refused,
        "bytes": job.bytes,
        "sent_bytes": job.sent_bytes,
        "fence": job.fence,
        "tries": job.tries,
        "phase": progress.phase if progress is not None else "",
    }


def long_jobs(hub: Hub) -> list[dict[str, Any]]:
    """Jobs that take unexpectedly long, the longest first, with the likely cause."""
    with hub.state.lock:
        usual_s = usual_time_s(hub)
        limit_s = max(hub.settings.long_least_s, hub.settings.long_factor * usual_s)
        rows = []
        for name, progress in hub.giving.progress.items():
            row = job_row(hub, hub.state.jobs[name])
            if row["ran_s"] > limit_s:
                rows.append({**row, "usual_s": usual_s, "loops": progress.loops})
    return sorted(rows, key=lambda row: -row["ran_s"])


def usual_time_s(hub: Hub) -> float:
    """The median time of jobs that are done."""
    times = [job.ran_s for job in hub.state.jobs if job.state == "done" and job.ran_s]
    return median(times) if times else 0.0


# -- packages, bans and orders


def package_row(hub: Hub, one: PackageRow) -> dict[str, Any]:
    unit = hub.state.units.get(one.unit)
    return {
        "taken_at": time_of(one.taken_us),
        "job": one.job,
        "machine": unit.machine.name if unit is not None else one.unit,
        "kind": one.kind,
        "state": one.state,
        "reason": one.reason,
        "pages": one.pages,
        "crawled_bytes": one.crawled_bytes,
        "size": one.size,
        "share": f"{100 * one.size / one.crawled_bytes:.1f} %" if one.crawled_bytes else "–",
    }


def package_rows(hub: Hub) -> dict[str, Any]:
    with hub.state.lock:
        rows = sorted(hub.state.packages, key=lambda one: -one.taken_us)
        sent, crawled = sum(one.size for one in rows), sum(one.crawled_bytes for one in rows)
        return {
            "packages": [package_row(hub, one) for one in rows[:MOST_ROWS]],
            "total": len(rows),
            "merged": sum(one.state == "merged" for one in rows),
            "refused": sum(one.state == "refused" for one in rows),
            "crawled_bytes": crawled,
            "sent_bytes": sent,
            "saved": saved_text(sent, crawled),
        }


def order_rows(hub: Hub) -> list[dict[str, Any]]:
    with hub.state.lock:
        rows = sorted(hub.state.orders, key=lambda one: -one.number)[:MOST_ROWS]
        return [
            {
                "kind": one.kind,
                "machine": unit.machine.name if (unit := hub.state.units.get(one.unit)) else "",
                "job": one.job,
                "made_at": time_of(one.made_us),
                "by": one.by,
                "state": "done" if one.done_us else "told" if one.told_us else "waiting",
                "note": one.note,
            }
            for one in rows
        ]


def ban_rows(hub: Hub) -> list[dict[str, Any]]:
    with hub.state.lock:
        rows = sorted(hub.state.bans, key=lambda one: one.line)
        return [{"line": one.line, "made_at": time_of(one.made_us), "by": one.by} for one in rows]
