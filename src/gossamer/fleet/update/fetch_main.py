"""A process that fetches an update and tries whether it starts: verify, stage, health check.

A unit starts it beside itself and works on meanwhile. It reads a `HubConnection` from stdin and
writes an `UpdateResult` to stdout.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.clock import SystemClock
from gossamer.base.processes import NULL, PIPE, StillRunning, die_with_parent, end, last_line, start
from gossamer.errors import UpdateLater, UpdateRefused
from gossamer.fleet.update.client import UpdateClient
from gossamer.fleet.update.connection import HubConnection, UpdateResult
from gossamer.fleet.update.running import running_version
from gossamer.fleet.update.start_file import this_python
from gossamer.fleet.update.versions import UpdateFolder, VersionFile

_HEALTH: Final = "gossamer.fleet.update.health_main"


def fetch(connection: HubConnection) -> UpdateResult:
    """Bring the newest version into the folder, ready to be switched to."""
    folder = UpdateFolder(Path(connection.directory))
    hub = connection.client()
    client = UpdateClient(
        folder, connection.root, hub, SystemClock(), this_python(), running_version()
    )
    try:
        file = client.stage()
        if file is None:
            return UpdateResult()
        problem = check_health(connection, Path(file.file))
        if problem:
            return _note_bad(folder, file, problem)
        folder.write(folder.read().with_staged(file))
        return UpdateResult(staged=file.version)
    except UpdateLater as fault:
        return UpdateResult(later=str(fault))
    except UpdateRefused as fault:
        return UpdateResult(refused=str(fault))
    finally:
        hub.close()


def _note_bad(folder: UpdateFolder, file: VersionFile, problem: str) -> UpdateResult:
    folder.write(folder.read().with_bad(file, problem))
    folder.tidy(None)
    return UpdateResult(refused=f"version {file.version} does not work here: {problem}")


def check_health(connection: HubConnection, file: Path) -> str:
    """Have a file poll the hub once; what went wrong, empty if nothing did."""
    try:
        process = start(_HEALTH, stdin=PIPE, stdout=NULL, stderr=PIPE, file=file)
    except OSError as fault:
        return f"it cannot be started ({fault.strerror})"
    try:
        _, errors = process.communicate(msgspec.json.encode(connection), connection.health_s)
    except StillRunning:
        return f"it did not poll the hub within {connection.health_s:g} s"
    finally:
        end(process)
    return "" if process.returncode == 0 else last_line(errors) or "it ended without a word"


if __name__ == "__main__":
    die_with_parent()
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=HubConnection)
    sys.stdout.buffer.write(msgspec.json.encode(fetch(asked)))
