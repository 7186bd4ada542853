"""The manifest of the archive, kept up to what is there, and what is lost by it.

Writers note files as they begin and seal them (`archive/manifest.py`). Whoever opens the collection
for writing brings the list up to date: files that a kill left open are sealed, and a collection of
an older release gets its list. A file that is lost stays in it until somebody says that it is to be
given up (`rebuild all --without-lost`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.manifest import Listed, read_manifest, replace_manifest
from gossamer.archive.writer import disk_fault
from gossamer.base.checked_lines import crc32_of

_QUICK_BYTES: Final = 64 * 2**20  # a larger file that is in no list is not read for its checksum


@dataclass(frozen=True, slots=True)
class LostFile:
    """An archive file that is not there, or is shorter than it was."""

    path: Path
    wanted_bytes: int  # 0 where nobody knows
    found_bytes: int | None  # None: it is gone
    captures: int  # by its CDXJ file, where that is left

    @property
    def text(self) -> str:
        """What is lost, for people."""
        if self.found_bytes is not None:
            return f"{self.path} has {self.found_bytes} of its {self.wanted_bytes} bytes"
        size = f" with {self.wanted_bytes} bytes" if self.wanted_bytes else ""
        count = f" and {self.captures} captures" if self.captures else ""
        return f"{self.path} is gone{size}{count}"


def update_manifest(folder: Path, salt: bytes, ends: Mapping[str, int]) -> None:
    """Let the manifest have the salt, and every file that is there or that the state knows up to
    an end. For who holds the lock, while nobody writes to the archive. Raises DiskFault."""
    manifest = read_manifest(folder)
    files = dict(manifest.files)
    try:
        for path in folder.glob("*.warc.gz"):
            listed = files.get(path.name)
            if listed is None or listed.bytes is None:
                files[path.name] = _sealed(path, is_listed=listed is not None)
        for name, end in ends.items():
            listed = files.get(name)
            if end and (listed is None or listed.bytes is None):
                files[name] = Listed(end)
        for name, listed in tuple(files.items()):
            if listed.bytes is None and not (folder / name).exists():
                del files[name]  # begun, and deleted before any exchange came
        if files != manifest.files or salt != manifest.salt or manifest.bad_lines:
            replace_manifest(folder, salt, files)
    except OSError as error:
        raise disk_fault(f"the list of files in {folder} could not be written", error) from error


def new_manifest(folder: Path, salt: bytes, known: Mapping[str, Listed] | None = None) -> None:
    """Write the manifest of the files that are there, and of those `known`, which have not changed
    or are lost. Raises OSError."""
    files = dict(known or {})
    for path in folder.glob("*.warc.gz"):
        if path.name not in files:
            files[path.name] = _sealed(path, is_listed=True)
    replace_manifest(folder, salt, files)


def _sealed(path: Path, *, is_listed: bool) -> Listed:
    size, index = path.stat().st_size, cdxj_path(path)
    cdxj = crc32_of(index)[0] if index.exists() else None
    if not is_listed and size > _QUICK_BYTES:
        return Listed(size, None, cdxj)
    return Listed(size, crc32_of(path)[0], cdxj)


def lost_files(folder: Path, ends: Mapping[str, int]) -> list[LostFile]:
    """Files that the manifest, or the state up to an end, knows and that are not all there."""
    wanted = {name: listed.bytes or 0 for name, listed in read_manifest(folder).files.items()}
    for name, end in ends.items():
        if end:
            wanted[name] = max(wanted.get(name, 0), end)
    lost = []
    for name, size in sorted(wanted.items()):
        path = folder / name
        found = path.stat().st_size if path.exists() else None
        if found is None or found < size:
            lost.append(LostFile(path, size, found, _captures(path)))
    return lost


def _captures(path: Path) -> int:
    try:
        return cdxj_path(path).read_bytes().count(b"\n")
    except OSError:
        return 0
