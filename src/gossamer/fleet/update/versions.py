"""Which version of the single file a unit runs, which one it tries, and which ones failed.

    update/state.json         this, replaced as a whole
    update/metadata/          what the update repository has told, remembered (TUF)
    update/partial/           a download that is not complete
    update/versions/VERSION/  a file, and what it unpacked
    update/unpacked/          what the file unpacked with which the unit was started first

    started with -> staged -> tried -> confirmed          it polled the hub: the one before is kept
                                    -> bad                it did not: the one before runs again

A state is a value; every change makes a new one. The launcher and the unit write it in turn: the
unit stages and confirms while it runs, the launcher tries and rolls back while no unit runs.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.files import replace_file

MAX_BAD: Final = 50  # remembered


class VersionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A verified file."""

    version: str
    sha256: str
    file: str  # absolute path


class BadVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version that is not tried again, unless its file is another one."""

    version: str
    sha256: str
    why: str


class UpdateState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`current` None: the file with which the unit was started."""

    current: VersionFile | None = None
    previous: VersionFile | None = None
    staged: VersionFile | None = None
    is_trial: bool = False  # `current` has not polled the hub yet
    bad: tuple[BadVersion, ...] = ()

    def is_bad(self, sha256: str) -> bool:
        return any(one.sha256 == sha256 for one in self.bad)

    def with_staged(self, file: VersionFile) -> UpdateState:
        return msgspec.structs.replace(self, staged=file)

    def tried(self) -> UpdateState:
        """The staged version is the current one, on trial."""
        if self.staged is None:
            return self
        return msgspec.structs.replace(
            self, current=self.staged, previous=self.current, staged=None, is_trial=True
        )

    def confirmed(self) -> UpdateState:
        return msgspec.structs.replace(self, is_trial=False)

    def rolled_back(self, why: str) -> UpdateState:
        """The version before is the current one again."""
        if not self.is_trial or self.current is None:
            return self
        return msgspec.structs.replace(
            self.with_bad(self.current, why), current=self.previous, previous=None, is_trial=False
        )

    def with_bad(self, file: VersionFile, why: str) -> UpdateState:
        entry = BadVersion(version=file.version, sha256=file.sha256, why=why)
        is_staged = self.staged is not None and self.staged.sha256 == file.sha256
        return msgspec.structs.replace(
            self,
            bad=(*(one for one in self.bad if one.sha256 != file.sha256), entry)[-MAX_BAD:],
            staged=None if is_staged else self.staged,
        )


class UpdateFolder:
    """The folder `update` of a unit."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def metadata(self) -> Path:
        return self.path / "metadata"

    @property
    def partial(self) -> Path:
        return self.path / "partial"

    def folder_of(self, version: str) -> Path:
        return self.path / "versions" / version

    def read(self) -> UpdateState:
        """The state; a new one if there is none that can be read."""
        try:
            return msgspec.json.decode((self.path / "state.json").read_bytes(), type=UpdateState)
        except (OSError, msgspec.MsgspecError):
            return UpdateState()

    def write(self, state: UpdateState) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self.path / "state.json", msgspec.json.encode(state), 0o600)

    def tidy(self, running: Path | None) -> None:
        """Delete versions that are no longer needed. `running`: a file that a process runs from."""
        state = self.read()
        kept = {
            Path(one.file).parent for one in (state.current, state.previous, state.staged) if one
        }
        if running is not None:
            kept.add(running.parent)
        versions = self.path / "versions"
        for folder in versions.iterdir() if versions.is_dir() else ():
            if folder not in kept:
                shutil.rmtree(folder, ignore_errors=True)
