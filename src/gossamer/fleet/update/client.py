"""Fetch and verify an update, by The Update Framework.

The rules are those of `tuf`: a root that was pinned on joining, signatures of all parts, versions
that never fall, expiry, one consistent snapshot, length and SHA-256 of the file. Here are only the
transfer, which resumes and must not be too slow, our own rule that a unit does not go back to an
older version, and one sentence for each refusal.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NoReturn, Protocol

from tuf.api import exceptions as faults
from tuf.api.metadata import TargetFile
from tuf.ngclient import FetcherInterface, Updater, UpdaterConfig

from gossamer.base.clock import Clock
from gossamer.base.files import sync_folder
from gossamer.errors import GossamerError, UpdateLater, UpdateRefused
from gossamer.fleet.update.targets import FILE_NAME, MAX_FILE_BYTES, is_newer, target_name
from gossamer.fleet.update.versions import UpdateFolder, VersionFile

_METADATA_BYTES: Final = 2_000_000
_BASE: Final = "update:/"
# A transfer must bring this much in each interval: 28 MB then take at most two hours.
_LEAST_BYTES_S: Final = 4_000
_INTERVAL_S: Final = 60.0


class UpdateSource(Protocol):
    """Where the files of the repository come from."""

    def fetch_update(self, path: str, most: int) -> bytes:
        """A small file. Raises GossamerError, with `status` if the hub has answered."""
        ...

    def download_update(self, path: str, start: int, take: Callable[[bytes], None]) -> None:
        """A file from an offset on, in pieces. What `take` raises comes back. Raises the same."""
        ...


class UpdateClient:
    """Brings the file on offer into the folder of the unit."""

    def __init__(
        self,
        folder: UpdateFolder,
        root: str,
        source: UpdateSource,
        clock: Clock,
        here: Mapping[str, str],
        version: str,
    ) -> None:
        """`root` was pinned on joining. `here`: `python` and `platform`; `version` is running."""
        self._folder = folder
        self._root = root
        self._fetcher = _Fetcher(folder.partial, source, clock)
        self._target = target_name(here["platform"], here["python"])
        self._version = version

    def stage(self) -> VersionFile | None:
        """Download and verify a newer version; None if there is none. Raises UpdateRefused or
        UpdateLater.
        """
        if not self._root:
            raise UpdateRefused("the hub had no update keys when this unit joined; join it again")
        for folder in (self._folder.metadata, self._folder.partial):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return self._staged()
        except (faults.RepositoryError, faults.DownloadError, ValueError) as fault:
            _refuse(fault)
        except OSError as fault:
            raise UpdateLater(f"the update cannot be stored: {fault.strerror or fault}") from fault

    def _staged(self) -> VersionFile | None:
        updater = Updater(
            str(self._folder.metadata),
            f"{_BASE}metadata/",
            str(self._folder.partial),
            f"{_BASE}targets/",
            self._fetcher,
            UpdaterConfig(max_root_rotations=64, targets_max_length=_METADATA_BYTES),
            bootstrap=self._root.encode(),
        )
        updater.refresh()
        info = updater.get_targetinfo(self._target)
        if info is None:
            return None
        version, sha256 = _facts_of(info)
        if version == self._version or self._folder.read().is_bad(sha256):
            return None
        if not is_newer(version, self._version):
            raise UpdateRefused(
                f"the hub offers version {version}, and this unit has {self._version}: it does not "
                "go back"
            )
        place = self._folder.folder_of(version) / FILE_NAME
        if updater.find_cached_target(info, str(place)) is None:
            self._download(updater, info, place)
        return VersionFile(version=version, sha256=sha256, file=str(place))

    def _download(self, updater: Updater, info: TargetFile, place: Path) -> None:
        new = self._folder.partial / "verified"
        try:
            updater.download_target(info, str(new))
        except faults.LengthOrHashMismatchError:
            self._fetcher.forget()  # it would be wrong again
            raise
        shutil.rmtree(place.parent, ignore_errors=True)
        place.parent.mkdir(mode=0o700, parents=True)
        with new.open("rb") as file:
            os.fsync(file.fileno())
        new.chmod(0o700)
        new.replace(place)
        sync_folder(place.parent)
        self._fetcher.forget()


def _facts_of(info: TargetFile) -> tuple[str, str]:
    custom = info.custom if isinstance(info.custom, dict) else {}
    version, sha256 = str(custom.get("version", "")), info.hashes.get("sha256", "")
    if not sha256 or not 0 < info.length <= MAX_FILE_BYTES:
        raise UpdateRefused("the update is refused: it has no SHA-256, or no possible length")
    return version, sha256


def _refuse(fault: Exception) -> NoReturn:
    """Say in one sentence why there is no update."""
    if isinstance(fault, faults.ExpiredMetadataError):
        what = "it has expired: the hub is old or is prevented from telling the newest version"
    elif isinstance(fault, faults.BadVersionNumberError):
        what = "its parts do not belong together, or are older than those seen before"
    elif isinstance(fault, faults.UnsignedMetadataError):
        what = "it is not signed with the keys of the hub"
    elif isinstance(fault, faults.LengthOrHashMismatchError):
        what = "the file differs from the one that was signed"
    elif isinstance(fault, faults.DownloadLengthMismatchError):
        what = "a file is longer than it was signed to be"
    elif isinstance(fault, faults.DownloadError):
        cause = fault.__cause__ or fault
        raise UpdateLater(f"the update was not downloaded: {cause}") from fault
    else:
        what = "it is not valid"
    raise UpdateRefused(f"the update is refused: {what} ({fault})") from fault


class _Fetcher(FetcherInterface):
    """Requests to the hub. A file that was downloaded in part is continued."""

    def __init__(self, folder: Path, source: UpdateSource, clock: Clock) -> None:
        self._folder = folder
        self._source = source
        self._clock = clock

    def forget(self) -> None:
        """Delete downloads that are not complete."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)

    def _fetch(self, url: str) -> Iterator[bytes]:
        path = url.removeprefix(_BASE)
        try:
            if path.startswith("metadata/"):
                return iter([self._source.fetch_update(path, _METADATA_BYTES)])
            return self._file(path)
        except GossamerError as fault:
            raise _failed(fault) from fault

    def _file(self, path: str) -> Iterator[bytes]:
        """The file on disk, after it was completed."""
        part = self._folder / path.rpartition("/")[2]
        for other in self._folder.iterdir():
            if other != part:
                other.unlink()
        with part.open("ab") as file:
            speed = _SpeedCheck(self._clock)

            def take(piece: bytes) -> None:
                file.write(piece)
                speed.note(len(piece))
                if file.tell() > MAX_FILE_BYTES:
                    raise UpdateRefused("the file of the update never ends; nothing was changed")

            try:
                self._source.download_update(path, file.tell(), take)
            except UpdateRefused:
                raise
            except GossamerError as fault:
                raise _failed(fault) from fault
        with part.open("rb") as whole:
            while piece := whole.read(2**20):
                yield piece


class _SpeedCheck:
    """Ends a transfer that is too slow, which would hold an old version for ever."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since_s = clock.now_s()
        self._bytes = 0

    def note(self, size: int) -> None:
        self._bytes += size
        passed_s = self._clock.now_s() - self._since_s
        if passed_s < _INTERVAL_S:
            return
        if self._bytes < _LEAST_BYTES_S * passed_s:
            raise faults.SlowRetrievalError(
                f"{self._bytes / passed_s:.0f} bytes per second are too slow; it continues later"
            )
        self._since_s, self._bytes = self._clock.now_s(), 0


def _failed(fault: GossamerError) -> faults.DownloadError:
    status = getattr(fault, "status", 0)
    return (
        faults.DownloadHTTPError(str(fault), status) if status else faults.DownloadError(str(fault))
    )
