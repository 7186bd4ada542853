"""Commands about a unit from another process: stop it, delete it, show what it does."""

from __future__ import annotations

import threading
from typing import Any, Final

import msgspec

from gossamer.base.clock import Clock, SystemClock, iso_of
from gossamer.base.sizes import size_text
from gossamer.errors import StoreError
from gossamer.fleet.unit.folder import UnitFolder, read_json
from gossamer.fleet.unit.orders import give_command
from gossamer.fleet.unit.status import UnitStatus

_STOP_S: Final = 120.0  # a job may need a while to commit
_LOOK_S: Final = 0.1


def stop_unit(folder: UnitFolder, *, is_after: bool, clock: Clock | None = None) -> str:
    """Stop a running unit, now or after its job; the sentence for its owner. Raises StoreError."""
    if not folder.is_running:
        return f"The unit in {folder.path} is not running."
    give_command(folder, "stop-after" if is_after else "stop")
    if is_after:
        return "The unit stops after its job."
    _wait_for_end(folder, clock or SystemClock())
    return "The unit has stopped. Its jobs can be resumed."


def delete_unit(folder: UnitFolder, clock: Clock | None = None) -> str:
    """Delete all of a unit; a running one stops first and tells the hub. Raises StoreError."""
    if folder.is_running:
        give_command(folder, "delete")
        _wait_for_end(folder, clock or SystemClock())
    folder.delete()
    if folder.path.exists():
        return f"The unit was deleted. {folder.path} has other files, which were left."
    return "The unit was deleted, and nothing of it is left."


def _wait_for_end(folder: UnitFolder, clock: Clock) -> None:
    until_s = clock.now_s() + _STOP_S
    while folder.path.is_dir() and folder.is_running:
        if clock.now_s() > until_s:
            raise StoreError(
                f"the unit in {folder.path} does not stop; end its process, and try again"
            )
        threading.Event().wait(_LOOK_S)


def status_of(folder: UnitFolder) -> dict[str, Any]:
    """What a unit does now, as JSON. Raises UsageError."""
    identity = folder.read_identity()
    status = read_json(folder.status, UnitStatus) if folder.is_running else None
    if status is None:
        return {"hub": identity.hub_url, "unit": identity.unit, "state": "not running"}
    found: dict[str, Any] = msgspec.to_builtins(status)
    return found


def status_text(facts: dict[str, Any]) -> str:
    """The same for people."""
    lines = [f"Unit {facts['unit']} of {facts['hub']}: {facts['state']}"]
    if facts.get("why"):
        lines.append(f"It waits: {facts['why']}.")
    if facts.get("trouble"):
        lines.append(f"Trouble with the hub: {facts['trouble']}.")
    lines += [
        f"Job {job['job']} ({job['name']}), {job['phase']}: {job['fetched']} fetched, "
        f"{job['queued']} queued, {job['failed']} failed, {job['refused']} refused"
        for job in facts.get("jobs", ())
    ]
    if facts.get("answered_us"):
        lines.append(f"Last answer of the hub: {iso_of(facts['answered_us'])}")
    if "month_bytes" in facts:
        lines.append(
            f"Traffic this month: {size_text(facts['month_bytes'])}; disk space: "
            f"{size_text(facts['disk_bytes'])}; jobs done since the start: {facts['jobs_done']}"
        )
    if facts.get("page"):
        lines.append(f"Local page: {facts['page']}")
    return "\n".join(lines)
