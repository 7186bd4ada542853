"""How much disk space each part of a collection takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes of the files of each part."""

    archive: int = 0
    state: int = 0
    graph: int = 0
    index: int = 0
    log: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        return sum(asdict(self).values())

    def as_json(self) -> dict[str, int]:
        return {**asdict(self), "total": self.total}


_PARTS = frozenset(one.name for one in fields(DiskUse))


def disk_use(root: Path) -> DiskUse:
    """Return the disk space of a collection. Files that are deleted meanwhile do not count."""
    sums = dict.fromkeys(_PARTS, 0)
    for path, size in _files(root):
        part = path.split(os.sep, 1)[0]
        sums[part if part in _PARTS else "other"] += size
    return DiskUse(**sums)


def _files(root: Path) -> Iterator[tuple[str, int]]:
    for folder, _, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        for name in names:
            with suppress(OSError):
                size = os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
                yield os.path.normpath(f"{inside}{os.sep}{name}"), size
