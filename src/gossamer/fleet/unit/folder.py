"""The directory of a unit: everything that the unit has on its machine, and nothing elsewhere.

unit.json    hub, token and pinned certificate, readable by the owner only
unit.toml    settings of the owner, if any
jobs/ID/     a job: job.json, progress.json, its collection (`job_folder.py`)
kept/KEY/    collections of ended jobs, for the next visit of the same site
outbox/      packages on their way
update/      files of updates
bans.json    the banned list of the hub
usage.json   bytes of network traffic in this month
log          what the unit did, in lines; log.old is the part before
unpacked/    the program, if it runs from its single file
lock, command, status.json    of a running unit
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from gossamer.base.locks import try_lock
from gossamer.errors import StoreError, UsageError
from gossamer.fleet.settings import UnitSettings, read_settings

_Kind = TypeVar("_Kind")
FOLDER_MODE: Final = 0o700


class UnitIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What joining has brought."""

    hub_url: str
    unit: str
    token: str
    hub: str
    poll_s: float = 5.0
    authority: str = ""  # PEM; empty: those of the system
    client_certificate: str = ""  # PEM of key and certificate
    update_root: str = ""
    proxy: str = ""  # with which it joined, if unit.toml names none


@dataclass(frozen=True, slots=True)
class UnitFolder:
    """The paths of a unit."""

    path: Path

    @property
    def identity(self) -> Path:
        return self.path / "unit.json"

    @property
    def settings_file(self) -> Path:
        return self.path / "unit.toml"

    @property
    def jobs(self) -> Path:
        return self.path / "jobs"

    @property
    def kept(self) -> Path:
        return self.path / "kept"

    @property
    def outbox(self) -> Path:
        return self.path / "outbox"

    @property
    def update(self) -> Path:
        return self.path / "update"

    @property
    def bans(self) -> Path:
        return self.path / "bans.json"

    @property
    def bans_text(self) -> Path:
        """The same as lines, which crawls read."""
        return self.path / "bans.txt"

    @property
    def usage(self) -> Path:
        return self.path / "usage.json"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def command(self) -> Path:
        return self.path / "command"

    @property
    def status(self) -> Path:
        return self.path / "status.json"

    @property
    def authority(self) -> Path:
        """The hub's authority as a file, for libcurl."""
        return self.path / "hub-ca.pem"

    @property
    def client_certificate(self) -> Path:
        return self.path / "unit-cert.pem"

    @property
    def has_joined(self) -> bool:
        return self.identity.is_file()

    def read_identity(self) -> UnitIdentity:
        """Raises UsageError if the unit has not joined a hub."""
        found = read_json(self.identity, UnitIdentity)
        if found is None:
            raise UsageError(
                f"there is no unit in {self.path}; join a hub first with the line that the hub's "
                "page shows: `gossamer unit join URL CODE`"
            )
        return found

    def read_settings(self) -> UnitSettings:
        """Raises SettingsError."""
        return read_settings(UnitSettings, self.settings_file)

    def make(self) -> None:
        """Create the missing directories, for the owner only. Raises UsageError."""
        if self.path.is_dir() and not self.has_joined:
            strangers = {found.name for found in self.path.iterdir()} - _OURS
            if strangers:
                raise UsageError(
                    f"{self.path} contains other files ({min(strangers)}); choose an empty or new "
                    "directory with -d DIR: `unit delete` deletes all of it"
                )
        try:
            for folder in (self.path, self.jobs, self.kept, self.outbox, self.update):
                folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot create {self.path}: {fault.strerror}") from fault

    def save_identity(self, identity: UnitIdentity) -> None:
        """Write the secrets, for the owner only."""
        if identity.authority:
            write_private(self.authority, identity.authority.encode())
        if identity.client_certificate:
            write_private(self.client_certificate, identity.client_certificate.encode())
        write_private(self.identity, msgspec.json.format(msgspec.json.encode(identity)) + b"\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the one process that runs this unit. Raises StoreError."""
        path = self.path / "lock"
        with path.open("a+", encoding="ascii") as file:
            if not try_lock(file.fileno()):
                raise StoreError(
                    f"the unit in {self.path} is running; stop it with `gossamer unit stop`"
                )
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            try:
                yield
            finally:
                with suppress(OSError):
                    file.truncate(0)

    @property
    def is_running(self) -> bool:
        """Whether a process runs this unit."""
        try:
            with (self.path / "lock").open("a+", encoding="ascii") as file:
                return not try_lock(file.fileno())
        except OSError:
            return False

    def delete(self) -> None:
        """Delete all files of the unit. What is not ours stays, with its directory."""
        for name in sorted(_OURS):
            path = self.path / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
        with suppress(OSError):
            self.path.rmdir()


_OURS: Final = frozenset({
    "unit.json", "unit.toml", "jobs", "kept", "outbox", "update", "bans.json", "bans.txt",
    "usage.json", "log", "log.old", "lock", "command", "status.json", "hub-ca.pem",
    "unit-cert.pem", "unpacked",
    *(f"{name}.new" for name in (
        "unit.json", "bans.json", "bans.txt", "usage.json", "command", "status.json",
        "hub-ca.pem", "unit-cert.pem",
    )),
})  # fmt: skip


def write_private(path: Path, content: bytes) -> None:
    """Replace a file in one step; only the owner can read it."""
    new = path.with_name(f"{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def write_json(path: Path, value: object) -> None:
    """Replace a small file in one step. After a power cut the old one may be there."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(msgspec.json.encode(value))
    new.replace(path)


def read_json(path: Path, kind: type[_Kind]) -> _Kind | None:
    """The value in a file; None if there is none, or it is not whole."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None
