"""The audit log of a hub: one line of JSON for each act of a person and each important event.

    {"at": "2026-01-31T12:00:00Z", "who": "operator", "act": "revoke", "unit": "u7"}

Lines are appended and never changed. Secrets are not written. When the file has 64 MB, it becomes
audit.1.jsonl, and the one before is deleted.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import Clock, iso_of

_MOST_BYTES: Final = 64 * 2**20
_LONGEST: Final = 2_000  # characters of one value: units send texts, too


class AuditLog:
    """Appends to audit.jsonl. Thread-safe."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._writing = threading.Lock()
        self._newest: deque[dict[str, Any]] = deque(self._read_newest(), maxlen=1_000)

    def note(self, who: str, act: str, **facts: object) -> None:
        """Write a line. Raises OSError."""
        line: dict[str, object] = {"at": iso_of(self._clock.wall_us()), "who": who, "act": act}
        line |= {name: _short(value) for name, value in facts.items()}
        data = json.dumps(line, ensure_ascii=True).encode() + b"\n"
        with self._writing:
            self._newest.append(line)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, data)
                size = os.fstat(handle).st_size
            finally:
                os.close(handle)
            if size > _MOST_BYTES:
                self._path.replace(self._path.with_suffix(".1.jsonl"))

    def newest(self, most: int = 100) -> list[dict[str, Any]]:
        """The last lines, newest first."""
        with self._writing:
            return list(self._newest)[::-1][:most]

    def _read_newest(self) -> list[dict[str, Any]]:
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - 256 * 2**10))
                lines = file.read().splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue  # the first is cut off; the last one may be, after a power failure
        return [line for line in found if isinstance(line, dict)]


def _short(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, list | tuple):
        return [_short(one) for one in value[:100]]
    return value
