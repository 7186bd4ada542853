"""Keep the manifest of the archive up to date, and find lost files with it.

Writers add files when they begin and seal them (`archive/manifest.py`). Every process that opens
the collection for writing updates the list: it seals files that a kill left open, and a collection
of an older release gets its list. A lost file stays in the list until the operator accepts the loss
(`rebuild all --without-lost`).
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

# a larger unlisted file gets no checksum, because reading it takes long
_QUICK_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class LostFile:
    """An archive file that is missing, or shorter than it was."""

    path: Path
    wanted_bytes: int  # 0: unknown
    found_bytes: int | None  # None: missing
    captures: int  # from its CDXJ file, if that exists

    @property
    def text(self) -> str:
        """Describe the loss for people."""
        if self.found_bytes is not None:
            return f"{self.path} has {self.found_bytes} of its {self.wanted_bytes} bytes"
        size = f"{self.wanted_bytes} bytes" if self.wanted_bytes else ""
        count = f"{self.captures} captures" if self.captures else ""
        lost = ", ".join(part for part in (size, count) if part)
        return f"{self.path} is missing{f' ({lost})' if lost else ''}"


def update_manifest(folder: Path, salt: bytes, ends: Mapping[str, int]) -> None:
    """Write the manifest with the salt and all files that exist or that the state knows. The
    caller holds the lock, and no process writes to the archive. Raises DiskFault."""
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
                del files[name]  # begun, and deleted before the first exchange
        is_right = files == manifest.files and salt == manifest.salt and not manifest.bad_lines
        if not is_right or manifest.is_long:
            replace_manifest(folder, salt, files)
    except OSError as error:
        raise disk_fault(f"cannot write the list of files in {folder}", error) from error


def new_manifest(folder: Path, salt: bytes, known: Mapping[str, Listed] | None = None) -> None:
    """Write the manifest of the existing files, and of those `known`, which are unchanged or lost.
    Raises OSError."""
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
    """Return files that the manifest or the state lists and that are missing or too short."""
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
