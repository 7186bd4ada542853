"""The directory of a hub, and the hub that is opened in it.

    hub.toml        settings                     audit.jsonl   audit log
    hub.sqlite      state (or PostgreSQL)        pieces/, packages/, results/
    ca/, tls/       certificates                 update/       update repository
    run/            lock, and how the command line reaches a running hub
    collection/     the central collection, unless `collection` names another

One process at a time opens it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gossamer.base.clock import Clock
from gossamer.base.locks import try_lock
from gossamer.errors import StoreError, UsageError
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.secure.audit import AuditLog
from gossamer.fleet.hub.store import HubStore
from gossamer.fleet.settings import HubSettings, read_settings


class HubInUse(StoreError):
    """Another process has opened the hub."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"the hub in {folder} is in use by another process; wait until it ends, or stop it"
        )


@dataclass(frozen=True, slots=True)
class HubFolder:
    """Paths of a hub."""

    path: Path

    @property
    def settings_file(self) -> Path:
        return self.path / "hub.toml"

    @property
    def database(self) -> Path:
        return self.path / "hub.sqlite"

    @property
    def audit(self) -> Path:
        return self.path / "audit.jsonl"

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def access(self) -> Path:
        """How the command line reaches the running hub; only its owner can read it."""
        return self.run / "access.json"

    @property
    def pieces(self) -> Path:
        return self.path / "pieces"

    @property
    def packages(self) -> Path:
        return self.path / "packages"

    @property
    def update(self) -> Path:
        return self.path / "update"

    def collection(self, settings: HubSettings) -> Path:
        return Path(settings.collection) if settings.collection else self.path / "collection"

    @property
    def exists(self) -> bool:
        return self.database.exists() or self.settings_file.exists() or self.audit.exists()

    def settings(self, **given: object) -> HubSettings:
        """The settings of hub.toml and the given ones. Raises SettingsError."""
        return read_settings(HubSettings, self.settings_file, **given)

    def make(self) -> None:
        """Create the directory; only its owner can read it. Raises UsageError."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.run.mkdir(mode=0o700, exist_ok=True)
        except OSError as fault:
            raise UsageError(f"cannot create {self.path}: {fault.strerror}") from fault

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the directory. Raises HubInUse."""
        handle = os.open(self.run / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not try_lock(handle):
                raise HubInUse(self.path)
            yield
        finally:
            os.close(handle)


@contextmanager
def open_hub(folder: HubFolder, settings: HubSettings, clock: Clock) -> Iterator[Hub]:
    """Open the hub of a directory, alone. Everything is written at the end. Raises HubInUse,
    StoreError."""
    folder.make()
    with folder.locked():
        store = HubStore.open(settings.dsn or folder.database)
        try:
            hub = Hub(store, settings, clock, AuditLog(folder.audit, clock))
            hub.intake.folder = folder.path
            yield hub
            hub.flush()
        finally:
            store.close()
