"""An update repository of a hub, small files to offer, and a unit that fetches them."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.base.clock import Clock, ManualClock, SystemClock
from gossamer.fleet.update.client import UpdateClient
from gossamer.fleet.update.repository import UpdateRepository
from gossamer.fleet.update.start_file import FACTS, this_python
from gossamer.fleet.update.versions import UpdateFolder
from support.update_source import FolderSource


def small_file(folder: Path, version: str, more: int = 5_000, **facts: str) -> Path:
    """A file as `gossamer hub bundle` makes them, without contents."""
    path = folder / f"unit-{version}.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(FACTS, json.dumps({**this_python(), "version": version, **facts}))
        archive.writestr("random", os.urandom(more))
    return path


@dataclass
class UpdateLab:
    """A hub's repository and a unit, in one folder."""

    path: Path
    clock: Clock = field(default_factory=SystemClock)
    hub: Path = Path()  # the folder `update` of the hub

    def __post_init__(self) -> None:
        self.hub = self.path / "hub" / "update"
        self.repository = UpdateRepository(self.hub, self.clock)
        self.repository.create(self.path / "root.pem")
        self.source = FolderSource(self.hub)
        self.root = self.repository.root_text()  # pinned on joining
        self.unit_clock = ManualClock()
        self.unit = UpdateFolder(self.path / "unit" / "update")

    def offer(self, version: str) -> bytes:
        file = small_file(self.path, version)
        self.repository.offer(file)
        return file.read_bytes()

    def client(self, version: str = "1.0") -> UpdateClient:
        return UpdateClient(
            self.unit, self.root, self.source, self.unit_clock, this_python(), version
        )

    def metadata(self, name: str) -> Path:
        return self.hub / "repository" / "metadata" / f"{name}.json"
