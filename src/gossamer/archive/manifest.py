"""The manifest of an archive: its files, and the salt of its URL keys.

`manifest.jsonl` is beside the WARC files. One line is one event, each with a checksum
(`base/checked_lines.py`):

    {"format": 1, "salt": "..."}                        the salt of the collection's URL keys
    {"begun": NAME}                                     a WARC file was begun
    {"sealed": NAME, "bytes": N, "crc32": "...", "cdxj": "..."}
                                                        it is complete, with the CRC-32 of the file
                                                        and of its CDXJ file
    {"removed": NAME}                                   it held no exchange and was deleted, or
                                                        another file has replaced it

Writers append one line with one write, so several processes may do so. The manifest tells a lost
file from one that never existed, even if the state is lost too. A collection of an older release
has no manifest until it is opened for writing; a file without a checksum was sealed by such a
release.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.base.checked_lines import checked_line, read_checked_line
from gossamer.base.files import sync_folder

NAME: Final = "manifest.jsonl"
FORMAT: Final = 1
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Listed:
    """The manifest's facts about a file. None: it was not sealed, or has no checksum."""

    bytes: int | None = None
    crc32: int | None = None
    cdxj: int | None = None  # CRC-32 of its CDXJ file


@dataclass(slots=True)
class ArchiveManifest:
    """The manifest as it was read."""

    is_there: bool = False
    salt: bytes = b""
    files: dict[str, Listed] = field(default_factory=dict)
    bad_lines: list[int] = field(default_factory=list)  # line numbers, from 1
    lines: int = 0

    @property
    def is_long(self) -> bool:
        """Whether most of its lines are about files that are sealed or gone."""
        return self.lines > 3 * len(self.files) + 100


def read_manifest(folder: Path) -> ArchiveManifest:
    """Read the manifest of an archive. Damaged lines are counted and are not an error."""
    manifest = ArchiveManifest()
    try:
        lines = (folder / NAME).read_bytes().splitlines(keepends=True)
    except (FileNotFoundError, NotADirectoryError):
        return manifest
    manifest.is_there = True
    manifest.lines = len(lines)
    for number, line in enumerate(lines, 1):
        if line == b"\n":
            continue
        record = read_checked_line(line)
        if record is None or not _take(manifest, record):
            manifest.bad_lines.append(number)
    return manifest


def _take(manifest: ArchiveManifest, record: Mapping[str, object]) -> bool:
    try:
        if "salt" in record:
            manifest.salt = bytes.fromhex(str(record["salt"]))
        elif "begun" in record:
            manifest.files.setdefault(_name(record["begun"]), Listed())
        elif "sealed" in record:
            sums = (record.get("crc32"), record.get("cdxj"))
            numbers = (int(str(one), 16) if one else None for one in sums)
            listed = Listed(int(str(record["bytes"])), *numbers)
            manifest.files[_name(record["sealed"])] = listed
        elif "removed" in record:
            manifest.files.pop(_name(record["removed"]), None)
    except (ValueError, KeyError):
        return False
    return True


def _name(value: object) -> str:
    name = str(value)
    if Path(name).name != name:
        raise ValueError(name)
    return name


def note_begun(folder: Path, name: str) -> None:
    """Record that a file was begun. Raises OSError, as all functions that write here."""
    _append(folder, {"begun": name})


def note_sealed(folder: Path, name: str, listed: Listed) -> None:
    """Record that a file is complete."""
    _append(folder, _sealed(name, listed))


def note_removed(folder: Path, name: str) -> None:
    """Record that a file without exchanges is deleted."""
    _append(folder, {"removed": name})


def _sealed(name: str, listed: Listed) -> dict[str, object]:
    record: dict[str, object] = {"sealed": name, "bytes": listed.bytes}
    for key, crc in (("crc32", listed.crc32), ("cdxj", listed.cdxj)):
        if crc is not None:
            record[key] = f"{crc:08x}"
    return record


def _append(folder: Path, record: Mapping[str, object]) -> None:
    """Append one line with one write. It is on disk when this returns. A full disk takes half of
    it: that is cut off again, or else ended by the next line.
    """
    line = checked_line(record)
    handle = os.open(folder / NAME, _FLAGS, 0o644)
    try:
        if start := os.lseek(handle, 0, os.SEEK_END):
            os.lseek(handle, -1, os.SEEK_END)
            line = line if os.read(handle, 1) == b"\n" else b"\n" + line
        _write(handle, line, start)
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(handle: int, line: bytes, start: int) -> None:
    written = 0
    try:
        while written < len(line):
            written += os.write(handle, line[written:])
    except OSError:
        if written and os.fstat(handle).st_size == start + written:  # no other process has written
            os.ftruncate(handle, start)
        raise


def replace_manifest(folder: Path, salt: bytes, files: Mapping[str, Listed]) -> None:
    """Rewrite the whole manifest. The caller must hold the lock of the collection."""
    lines = [checked_line({"format": FORMAT, "salt": salt.hex()})]
    for name, listed in sorted(files.items()):
        is_sealed = listed.bytes is not None
        lines.append(checked_line(_sealed(name, listed) if is_sealed else {"begun": name}))
    new = folder / f"{NAME}.new"
    with new.open("wb") as file:
        file.write(b"".join(lines))
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / NAME)
    sync_folder(folder)
