"""Replace archive files by one that was written anew.

The new file is complete in archive/staged/ before one batch of the state moves all captures to it.
This batch decides: before it the old files are valid, after it the new one. The same batch has a
row that names the files, so that a killed replacement is completed by the next writer, and every
step here may be repeated. Readers find the files meanwhile (`archive/replaced.py`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from msgspec import Struct

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.manifest import Listed, note_removed, note_sealed, read_manifest
from gossamer.archive.replaced import REPLACED, STAGED
from gossamer.base.files import sync_folder
from gossamer.base.packing import pack, unpacker
from gossamer.frontier.meta_keys import REPLACING_KEY
from gossamer.frontier.store import StateTable, Store


class FileReplacement(Struct, array_like=True, frozen=True):
    """A new archive file, and the files that it replaces."""

    new: str  # empty if no exchange is left
    old: tuple[str, ...]
    size_bytes: int
    crc32: int
    cdxj: int  # CRC-32 of its CDXJ file

    def encode(self) -> bytes:
        return pack(self)


_unpack = unpacker(FileReplacement)


def find_replacement(store: Store) -> FileReplacement | None:
    """Return the replacement that the state has decided and that may not be complete."""
    row = store.find(StateTable.META, REPLACING_KEY)
    return _unpack(row) if row else None


def complete_replacement(folder: Path, one: FileReplacement, now_s: float) -> None:
    """Put the new file in its place, and the old ones aside. Raises OSError; may be repeated."""
    listed = read_manifest(folder).files
    if one.new:
        staged = folder / STAGED / one.new
        for source in (cdxj_path(staged), staged):
            if source.exists():
                source.replace(folder / source.name)
        sync_folder(folder)
    if one.new and one.new not in listed:
        note_sealed(folder, one.new, Listed(one.size_bytes, one.crc32, one.cdxj))
    aside = folder / REPLACED
    aside.mkdir(exist_ok=True)
    for name in one.old:
        if name in listed:
            note_removed(folder, name)
        path = folder / name
        if path.exists():
            path.replace(aside / name)
            os.utime(aside / name, (now_s, now_s))  # from now on it is kept for readers
        cdxj_path(path).unlink(missing_ok=True)
    sync_folder(aside)
    sync_folder(folder)


def settle_replacement(folder: Path, store: Store, now_s: float) -> None:
    """Complete what a killed writer has begun, and delete what it had not decided. The caller
    holds the lock. Raises OSError, DiskFault."""
    one = find_replacement(store)
    if one is not None:
        complete_replacement(folder, one, now_s)
        store.write({StateTable.META: {REPLACING_KEY: None}})
    if (folder / STAGED).exists():
        shutil.rmtree(folder / STAGED)


def has_staged(folder: Path) -> bool:
    """Whether a replacement is in progress or was killed."""
    return (folder / STAGED).exists()


def delete_replaced(folder: Path, before_s: float) -> int:
    """Delete replaced files that were put aside before a time; return their bytes."""
    freed, aside = 0, folder / REPLACED
    if not aside.exists():
        return 0
    for path in aside.iterdir():
        found = path.stat()
        if found.st_mtime <= before_s:
            freed += found.st_size if found.st_nlink == 1 else 0
            path.unlink()
    if not any(aside.iterdir()):
        aside.rmdir()
    return freed
