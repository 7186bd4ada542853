"""Checksums of files whose formats have none, or not for every byte: `sums.json`.

    {"version": 1, "is_open": false, "files": {"state/000009.sst": [BYTES, "CRC-32"], ...}}

Written when a writer releases the collection (`root.locked`), so that `verify` finds every byte
that changed afterwards. During a write, and after a kill, `is_open` is true: then only files that
never change after they are written are checked. The checksum of such a file is kept from one writer
to the next, so that a writer does not take damaged bytes for correct ones.

    state   RocksDB's files, but its LOG
    index   `current` and tantivy's files; texts and anchors have checksums of their own
    graph   parts of links and their manifest; ranks have checksums of their own (`ranks.json`)
    log     acts.jsonl, which only grows; crawl.jsonl has its checksum in the state
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.base.checked_lines import checked_line, crc32_of, read_checked_line
from gossamer.base.files import NO_FILE, stamp_of, sync_folder
from gossamer.errors import CorruptFile

NAME: Final = "sums.json"
_VERSION: Final = 1
ACTS: Final = "log/acts.jsonl"
_IDENTITY: Final = "state/IDENTITY"  # a new IDENTITY means a new state with other files
_LEFT_OUT: Final = re.compile(
    r"state/(LOG.*|LOCK|half-made|rocksdict-config\.json)|index/anchors|index/g\d+/texts|index/g\d+/words/\..*lock"
    r"|graph/ranks.*|.*\.new"
)
_FIXED: Final = re.compile(r"state/\d+\.(sst|blob)|index/g\d+/words/[0-9a-f].*|graph/links-.*")

Sum = tuple[int, int]  # bytes and CRC-32


@dataclass(slots=True)
class Checksums:
    """The checksums as stored on the disk."""

    files: dict[str, Sum] = field(default_factory=dict)
    is_open: bool = False


def find_sums(root: Path) -> Checksums | None:
    """Return the checksums of a collection, or None if it has none. Raises CorruptFile."""
    path = root / NAME
    try:
        line = path.read_bytes()
    except FileNotFoundError:
        return None
    record = read_checked_line(line)
    try:
        if record is None or record["version"] != _VERSION:
            raise ValueError("its own checksum is wrong" if record is None else "another version")
        files = {name: (int(size), int(crc, 16)) for name, (size, crc) in record["files"].items()}
        return Checksums(files, bool(record["is_open"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        found = f"the checksums cannot be used ({error}); run `gossamer rebuild archive` to write"
        raise CorruptFile(path, 0, f"{found} them again") from None


@dataclass(frozen=True, slots=True)
class Before:
    """The checksums at the start of a writer, of the files that existed then."""

    files: Mapping[str, Sum] = field(default_factory=dict)
    actions: tuple[int, int] = NO_FILE  # identity of the file acts.jsonl


def begin_writing(root: Path) -> Before:
    """Mark the files as being changed. Raises OSError."""
    try:
        sums = find_sums(root) or Checksums()
    except CorruptFile:
        sums = Checksums()
    if not sums.is_open:
        _write(root, Checksums(sums.files, is_open=True))
    files = {name: one for name, one in sums.files.items() if (root / name).exists()}
    return Before(files, (stamp_of(root / ACTS)[0], 0))


def end_writing(root: Path, before: Before) -> None:
    """Write the checksums of all files after the last write. Raises OSError."""
    if (root / "state" / "CURRENT").exists():
        _write(root, Checksums(dict(_sums_of(root, before))))


def is_fixed(name: str) -> bool:
    """Whether a file never changes after it is written."""
    return _FIXED.fullmatch(name) is not None


def covered_files(root: Path) -> Iterator[str]:
    """Yield the names of all files that have checksums here."""
    if (root / ACTS).exists():
        yield ACTS
    for part in ("state", "index", "graph"):
        for folder, _, names in os.walk(root / part):
            inside = Path(folder).relative_to(root).as_posix()
            for name in names:
                if _LEFT_OUT.fullmatch(f"{inside}/{name}") is None:
                    yield f"{inside}/{name}"


def _sums_of(root: Path, before: Before) -> Iterator[tuple[str, Sum]]:
    identity = _sum_of(root / _IDENTITY)
    is_same_state = before.files.get(_IDENTITY) == identity
    for name in sorted(covered_files(root)):
        is_kept = is_fixed(name) and (is_same_state or not name.startswith("state/"))
        is_damaged = name == ACTS and _is_damaged(root / name, before)
        if name in before.files and (is_kept or is_damaged):
            yield name, before.files[name]
        elif (found := _sum_of(root / name)) is not None:
            yield name, found


def _is_damaged(path: Path, before: Before) -> bool:
    """Whether earlier lines of acts.jsonl have changed. A deliberate rewrite creates a new file."""
    if ACTS not in before.files or stamp_of(path)[0] != before.actions[0]:
        return False
    size, crc = before.files[ACTS]
    return crc32_of(path, size) != (crc, size)


def _sum_of(path: Path) -> Sum | None:
    with suppress(FileNotFoundError):  # RocksDB or tantivy has just deleted it
        crc, size = crc32_of(path)
        return size, crc
    return None


def _write(root: Path, sums: Checksums) -> None:
    files = {name: [size, f"{crc:08x}"] for name, (size, crc) in sums.files.items()}
    new = root / f"{NAME}.new"
    with new.open("wb") as file:
        file.write(checked_line({"version": _VERSION, "is_open": sums.is_open, "files": files}))
        file.flush()
        os.fsync(file.fileno())
    new.replace(root / NAME)
    sync_folder(root)
