"""Check that every archive file of the manifest exists with the bytes that were written.

`archive/manifest.py` describes the manifest. `check_archive.py` finds damage inside records and its
place; a checksum finds the rest, such as a flipped byte in a header that no reader uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.manifest import NAME, Listed, read_manifest
from gossamer.archive.padding import SALT_FIELD
from gossamer.archive.reader import read_info
from gossamer.base.checked_lines import crc32_of
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import GossamerError
from gossamer.upkeep.check_state import Problem
from gossamer.upkeep.rebuild_archive import WITHOUT_LOST

REBUILD: Final = "run `gossamer rebuild archive`: it recreates the list from the WARC files"
FROM_BACKUP: Final = f"restore the file from a backup, or accept the loss: {WITHOUT_LOST}"
_OTHER_BYTES: Final = "checksum mismatch: its bytes have changed"


def manifest_problems(paths: CollectionPaths, salt: bytes = b"") -> Iterator[Problem]:
    """Yield files that differ from the manifest, and faults of the manifest itself. `salt` is the
    state's."""
    folder = paths.archive
    manifest, where = read_manifest(folder), str(folder / NAME)
    if not manifest.is_there:
        if any(map(_has_salt, folder.glob("*.warc.gz"))):
            yield Problem(where, "the list of archive files is missing", REBUILD)
        return
    for number in manifest.bad_lines:
        yield Problem(f"{where}, line {number}", _OTHER_BYTES, REBUILD)
    if salt and manifest.salt != salt and not manifest.bad_lines:
        yield Problem(where, "its salt differs from the state's", REBUILD)
    for name, listed in manifest.files.items():
        if listed.bytes is not None:
            yield from _file_problems(folder / name, listed)


def _file_problems(path: Path, listed: Listed) -> Iterator[Problem]:
    if not path.exists():
        if path.name not in read_manifest(path.parent).files:
            return  # a crawl has replaced it in the meantime
        yield Problem(str(path), f"the file is missing ({listed.bytes} bytes)", FROM_BACKUP)
        return
    if path.stat().st_size < (listed.bytes or 0):
        what = f"it has {path.stat().st_size} bytes, but {listed.bytes} were written"
        yield Problem(str(path), what, FROM_BACKUP)
    elif listed.crc32 is not None and crc32_of(path, listed.bytes)[0] != listed.crc32:
        yield Problem(str(path), _OTHER_BYTES, FROM_BACKUP)
    index = cdxj_path(path)
    if listed.cdxj is not None and index.exists() and crc32_of(index)[0] != listed.cdxj:
        yield Problem(str(index), _OTHER_BYTES, REBUILD)


def _has_salt(path: Path) -> bool:
    try:
        return SALT_FIELD in read_info(path)
    except (GossamerError, OSError):
        return False
