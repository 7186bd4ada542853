"""The packages that wait to be merged, and what became of the others: files in a folder.

    waiting/NUMBER.json   a checked package; its number is the order of merging
    files/SHA256.wacz     the package itself
    results/NUMBER.json   what merging did; the hub reads and deletes it
    failed/SHA256.wacz    a package that could not be merged, for a person

The hub adds, the process that merges takes. Every step is one rename, so a kill at any instant
leaves either the state before it or the one after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from gossamer.base.files import sync_folder, write_durably
from gossamer.fleet.packages.format import CheckedPackage
from gossamer.fleet.protocol import JobReturns

_DIGITS: Final = 12


class MergeResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What merging a package did."""

    package: str
    job: str
    kind: JobReturns
    stored: int = 0  # exchanges
    known: int = 0  # exchanges that the collection had
    outcomes: int = 0  # URLs that failed or were refused
    # Exchanges without their body: it was deleted since the unit asked, or its digest is wrong.
    lost: int = 0
    took_s: float = 0.0
    error: str = ""  # why it could not be merged


class MergeProgress(msgspec.Struct, frozen=True):
    """The package that is being merged."""

    package: str
    exchanges: int  # read so far


class Waiting(NamedTuple):
    number: int
    checked: CheckedPackage


class MergeQueue:
    """The folder. The hub and the merging process have one each."""

    def __init__(self, folder: Path) -> None:
        self._waiting = folder / "waiting"
        self._files = folder / "files"
        self._results = folder / "results"
        self._failed = folder / "failed"
        for one in (self._waiting, self._files, self._results, self._failed):
            one.mkdir(parents=True, exist_ok=True)
        self._progress = folder / "progress.json"
        self._unsettled = folder / "unsettled"
        self.lock = folder / "merge.lock"

    # -- the hub

    def add(self, checked: CheckedPackage) -> bool:
        """Take over a checked package and its file; False if it waits or was merged already. Raises
        OSError."""
        target, source = self._files / f"{checked.package}.wacz", Path(checked.path)
        if self._is_waiting(checked.package):
            if source != target:
                source.unlink(missing_ok=True)
            return False
        if source != target and source.exists():
            source.replace(target)
            sync_folder(self._files)
        if not target.exists():  # it was merged before
            return False
        moved = msgspec.structs.replace(checked, path=str(target))
        number = max((*self._numbers(self._waiting), *self._numbers(self._results)), default=0) + 1
        write_durably(self._path(self._waiting, number), msgspec.json.encode(moved))
        return True

    def _is_waiting(self, package: str) -> bool:
        return any(one.checked.package == package for one in self.waiting())

    def take_results(self) -> list[MergeResult]:
        """The results since the last call."""
        found = []
        for number in self._numbers(self._results):
            path = self._path(self._results, number)
            found.append(msgspec.json.decode(path.read_bytes(), type=MergeResult))
            path.unlink()
        return found

    # -- both

    def waiting(self) -> Iterator[Waiting]:
        """Packages that wait, in order."""
        for number in self._numbers(self._waiting):
            try:
                data = self._path(self._waiting, number).read_bytes()
            except FileNotFoundError:
                continue
            yield Waiting(number, msgspec.json.decode(data, type=CheckedPackage))

    @property
    def is_empty(self) -> bool:
        return not self._numbers(self._waiting)

    @property
    def is_unsettled(self) -> bool:
        """Whether packages were merged, and what needs all pages was not built since."""
        return self._unsettled.exists()

    def progress(self) -> MergeProgress | None:
        """The package that is being merged, or was merged last."""
        try:
            return msgspec.json.decode(self._progress.read_bytes(), type=MergeProgress)
        except (OSError, msgspec.DecodeError):
            return None

    # -- the merging process

    def note_unsettled(self) -> None:
        self._unsettled.touch()

    def note_settled(self) -> None:
        self._unsettled.unlink(missing_ok=True)

    def note_progress(self, package: str, exchanges: int) -> None:
        temporary = self._progress.with_suffix(".part")
        temporary.write_bytes(msgspec.json.encode(MergeProgress(package, exchanges)))
        temporary.replace(self._progress)

    def begin(self, one: Waiting) -> int:
        """Note that merging begins; how often it began before."""
        path = self._waiting / f"{one.number:0{_DIGITS}d}.tries"
        tries = path.stat().st_size if path.exists() else 0
        with path.open("ab") as file:
            file.write(b".")
        return tries

    def end(self, one: Waiting, result: MergeResult) -> None:
        """The package is merged, and that is committed; or it cannot be merged (`error`)."""
        write_durably(self._path(self._results, one.number), msgspec.json.encode(result))
        file = Path(one.checked.path)
        if result.error and file.exists():
            file.replace(self._failed / file.name)
        (self._waiting / f"{one.number:0{_DIGITS}d}.tries").unlink(missing_ok=True)
        self._path(self._waiting, one.number).unlink(missing_ok=True)
        file.unlink(missing_ok=True)

    @staticmethod
    def _path(folder: Path, number: int) -> Path:
        return folder / f"{number:0{_DIGITS}d}.json"

    @staticmethod
    def _numbers(folder: Path) -> list[int]:
        stems = (path.stem for path in folder.glob("*.json"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())
