"""Until when requests may be sent, if another process decides that.

A unit of a fleet requests the hosts of a job only while its lease holds. The process that renews
the lease writes the end into a small file, and every process that sends requests reads it before
each of them: memory shared by the kernel, which takes a microsecond. The time is that of
`boot_ns`, so a process that was stopped or a machine that slept finds the permit ended.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import Final, Protocol

from gossamer.base.clock import boot_ns
from gossamer.errors import UsageError
from gossamer.settings import Fetch

_FORM: Final = struct.Struct("<q")


class Permit(Protocol):
    def is_valid(self) -> bool:
        """Whether a request may be sent now."""
        ...

    def close(self) -> None: ...


class Always:
    """No other process decides."""

    def is_valid(self) -> bool:
        return True

    def close(self) -> None:
        pass


ALWAYS: Final = Always()


class FilePermit:
    """The permit in a file."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError."""
        try:
            with path.open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), _FORM.size, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as fault:
            raise UsageError(f"fetch.permit_file: cannot read {path}: {fault}") from fault

    def is_valid(self) -> bool:
        until_ns: int = _FORM.unpack_from(self._bytes)[0]
        return boot_ns() < until_ns

    def close(self) -> None:
        self._bytes.close()


class PermitWriter:
    """Renews the permit in a file. A new file permits nothing."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(descriptor, _FORM.size)
            self._bytes = mmap.mmap(descriptor, _FORM.size)
        finally:
            os.close(descriptor)
        self.end()

    def until(self, end_ns: int) -> None:
        """Permit requests until a time of `boot_ns`."""
        _FORM.pack_into(self._bytes, 0, end_ns)

    def end(self) -> None:
        """Permit no more requests."""
        self.until(0)

    def close(self) -> None:
        self.end()
        self._bytes.close()


def permit_of(settings: Fetch) -> Permit:
    """The permit that the settings name. Raises UsageError."""
    return FilePermit(Path(settings.permit_file)) if settings.permit_file else ALWAYS
