"""The processes of a crawl, as the kernel knows them. Linux only: see `need_linux`."""

from __future__ import annotations

import contextlib
from pathlib import Path

from gossamer.workers.crash_marker import read_marker

_STATE, _PARENT = 0, 1  # fields of /proc/PID/stat behind the name


def _stat(process: int) -> list[str]:
    """Nothing when it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_alive(process: int) -> bool:
    """Whether it can still do something: a zombie cannot."""
    found = _stat(process)
    return bool(found) and found[_STATE] not in "ZX"


def workers_of(node: int) -> list[int]:
    """The living worker processes of a node, the oldest first: forked by it, or started by name."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        stat = _stat(int(entry.name))
        if stat and int(stat[_PARENT]) == node and is_alive(int(entry.name)):
            line = _command_line(int(entry.name))
            if b"gossamer.workers.worker_main" in line or line == _command_line(node):
                found.append(int(entry.name))
    return sorted(found)


def _command_line(process: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def reading_workers(collection: Path) -> list[str]:
    """The names of the workers that are reading an exchange this very moment."""
    paths = (collection / "run").glob("marker-*")
    return [path.name.rpartition("-")[2] for path in paths if read_marker(path) is not None]


def open_files(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))
