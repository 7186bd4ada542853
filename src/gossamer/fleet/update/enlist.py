"""Bring a unit to a machine by SSH, and remove it again. Nobody logs in there.

    look      Python, home, whether a unit is there
    copy      the single file into the unit's directory, checked by its SHA-256
    join      with a fresh code that can be used once, passed on stdin
    start     as a systemd user service, else with nohup now and by cron after a reboot

All files are in the unit's directory, but for the service file or the line of cron, which `remove`
deletes, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.base.processes import Ended, last_line
from gossamer.errors import StoreError, UsageError
from gossamer.fleet.update.bundle import read_facts
from gossamer.fleet.update.remote_scripts import COPY, JOIN, LOOK, REMOVE, START
from gossamer.fleet.update.ssh import SshHost

DIRECTORY: Final = ".gossamer-unit"  # in the home of the user
_LOOK_S: Final = 90.0
_COPY_S: Final = 3_600.0
_JOIN_S: Final = 180.0
_START_S: Final = 120.0
_REMOVE_S: Final = 300.0
_START_NAMES: Final = {
    "systemd": "a systemd user service",
    "systemd-session": "a systemd user service, which runs while that user is logged in; "
    "`loginctl enable-linger` there makes it permanent",
    "cron": "nohup now, and cron after a reboot",
    "nohup": "nohup now; after a reboot it must be started again",
}


@dataclass(frozen=True, slots=True)
class Invitation:
    """Of the hub: its address and a code for one unit."""

    url: str
    code: str


@dataclass(frozen=True, slots=True)
class Enlisted:
    """A unit that works."""

    host: str
    directory: str
    python: str
    start: str
    said: str  # by the unit when it joined


def enlist(
    host: SshHost, file: Path, invite: Callable[[], Invitation], directory: str = DIRECTORY
) -> Enlisted:
    """Bring a unit to a machine. Raises UsageError or StoreError, and then leaves nothing there."""
    facts = read_facts(file)
    found = _checked(host.run(LOOK, directory, facts["python"], within_s=_LOOK_S), host)
    told = dict(line.partition("=")[::2] for line in found.splitlines() if "=" in line)
    python = _python_for(host, facts, told)
    if told.get("unit") == "yes":
        raise UsageError(
            f"{host.host} has a unit in {directory}; remove it first with "
            f"`gossamer hub enlist {host.host} --remove`, or choose another --unit-directory"
        )
    if told.get("unit") == "other":
        raise UsageError(
            f"{directory} on {host.host} has other files; choose a new one with --unit-directory"
        )
    try:
        content = file.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        copied = host.send(content, COPY, directory, python, digest, within_s=_COPY_S)
        _checked(copied, host)
        offer = invite()
        joined = host.send(
            f"{offer.code}\n".encode(), JOIN, directory, python, offer.url, within_s=_JOIN_S
        )
        said = _checked(joined, host).strip()
        start = _checked(host.run(START, directory, python, within_s=_START_S), host).strip()
    except BaseException:
        remove(host, directory)
        raise
    how = _START_NAMES.get(start.rpartition("\n")[2], start)
    return Enlisted(host.host, directory, python, how, said)


def remove(host: SshHost, directory: str = DIRECTORY) -> str:
    """Stop a unit and delete everything of it; the sentence for the operator. Raises StoreError."""
    ended = host.run(REMOVE, directory, within_s=_REMOVE_S)
    said = _checked(ended, host).strip().rpartition("\n")[2]
    if said == "left":
        return f"{host.host} has other files in {directory}, which were left. The unit is gone."
    return f"{host.host} has nothing of the unit any more."


def _python_for(host: SshHost, facts: dict[str, str], told: dict[str, str]) -> str:
    """The interpreter that can run the file. Raises UsageError."""
    seen = []
    for name, value in told.items():
        if name.startswith("python:"):
            version, _, platform = value.partition(" ")
            if (version, platform) == (facts["python"], facts["platform"]):
                return name.partition(":")[2]
            seen.append(f"{version} on {platform}")
    has = f"has Python {', '.join(sorted(set(seen)))}" if seen else "has no Python 3"
    raise UsageError(
        f"{host.host} {has}, and the file is for Python {facts['python']} on {facts['platform']}; "
        "build one for that machine with `gossamer hub bundle --platform --python`"
    )


def _checked(ended: Ended, host: SshHost) -> str:
    if ended.code:
        said = ended.error or last_line(ended.output) or f"exit code {ended.code}"
        raise StoreError(f"{host.host}: {said.removeprefix('gossamer: ')}")
    return ended.output.decode(errors="replace")
