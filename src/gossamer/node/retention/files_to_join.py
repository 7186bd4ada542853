"""Choose the archive files that are worth writing anew.

Either enough of a file belongs to deleted captures (`archive.prune_share`), or there are many small
files: each start of a crawl begins one per worker. Sixteen files of a similar size become one, as
with the links (`graph/tiers.py`). So an exchange is copied at most once per fourfold growth, and
about a hundred files remain, however often a crawl is restarted.

Only files that are complete, and that graph and index have read to the end, are chosen.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.manifest import read_manifest
from gossamer.archive.reader import iter_exchanges
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import CollectionPaths
from gossamer.frontier.meta_keys import IMPORT_PREFIX, PRUNED_PREFIX
from gossamer.frontier.store import StateTable, Store
from gossamer.graph import manifest as manifests
from gossamer.settings import Settings

MERGED_FILES: Final = 16
_SMALLEST_BYTES: Final = 64 * 2**10  # smaller files are of one size
_GROWTH: Final = 4
_INDEX_BYTES: Final = 12 * 2**20  # of the CDXJ files of one new file: about 40,000 captures


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    size: int
    deleted: int  # bytes of deleted captures, about
    index: int  # bytes of its CDXJ file

    @property
    def left(self) -> int:
        return max(0, self.size - self.deleted)

    @property
    def tier(self) -> int:
        return int(math.log(max(self.left, _SMALLEST_BYTES) / _SMALLEST_BYTES, _GROWTH))


def deleted_bytes(store: Store) -> Mapping[str, int]:
    """Return for each WARC file the bytes of deleted captures that it still holds, about."""
    rows = store.scan(StateTable.META, PRUNED_PREFIX, PRUNED_PREFIX + b"\xff", 1_000_000)
    return {key[len(PRUNED_PREFIX) :].decode(): int.from_bytes(row, "big") for key, row in rows}


def files_to_join(
    paths: CollectionPaths,
    store: Store,
    settings: Settings,
    share: float,
    held: Collection[str] = (),
    fresh: Collection[str] = (),
) -> list[list[Path]]:
    """Return groups of files to be written anew as one file each; `held` are left as they are.
    Graph and index have read the exchanges of `fresh`, even if they do not say so yet.

    Raises CorruptFile if graph or index are damaged.
    """
    complete = _complete_files(paths, store, settings, fresh)
    files = [one for one in complete if one.path.name not in held]
    tiers: defaultdict[int, list[_File]] = defaultdict(list)
    for one in files:
        if one.left < settings.archive.roll_bytes // _GROWTH:
            tiers[one.tier].append(one)
    groups = [group for tier in tiers.values() for group in _merges(tier, settings)]
    used = {one.path for group in groups for one in group}
    worth = (one for one in files if one.deleted and one.deleted >= share * one.size)
    groups += [[one] for one in worth if one.path not in used]
    return [[one.path for one in group] for group in groups]


def _merges(files: list[_File], settings: Settings) -> Iterator[list[_File]]:
    """Yield groups of files of a similar size, the oldest first."""
    waiting = sorted(files, key=lambda one: one.path.name.split("-")[-2:])
    group: list[_File] = []
    while len(waiting) + len(group) >= MERGED_FILES and waiting:
        group.append(waiting.pop(0))
        is_large = sum(one.left for one in group) >= settings.archive.roll_bytes
        has_many = sum(one.index for one in group) >= _INDEX_BYTES
        if len(group) == MERGED_FILES or is_large or has_many:
            if len(group) > 1:
                yield group
            group = []


def _complete_files(
    paths: CollectionPaths, store: Store, settings: Settings, fresh: Collection[str]
) -> Iterator[_File]:
    listed, deleted = read_manifest(paths.archive).files, deleted_bytes(store)
    reached = []
    if settings.node.graph:
        reached.append(manifests.read(paths.graph).covered)
    if settings.node.index:
        from gossamer.index.reader import covered  # loads tantivy

        reached.append(covered(paths.index))
    for name, end in sorted(known_ends(store).items()):
        path = paths.archive / name
        index = cdxj_path(path)
        is_whole = name in listed and listed[name].bytes == end and path.exists()
        if not is_whole or not index.exists() or path.stat().st_size != end:
            continue
        if name in fresh or all(one.get(name, 0) >= end for one in reached):
            yield _File(path, end, min(end, deleted.get(name, 0)), index.stat().st_size)


def held_files(paths: CollectionPaths, store: Store) -> set[str]:
    """Return files that must not change: other records or lists contain offsets in them.

    These are imported exchanges, the captures whose body they repeat, and pages that crash the
    parser.
    """
    deaths = paths.run / "deaths"
    noted = deaths.read_text(encoding="utf-8", errors="replace") if deaths.exists() else ""
    held = {path.name for path in paths.archive.glob("*.warc.gz") if path.name in noted}
    if store.scan(StateTable.META, IMPORT_PREFIX, IMPORT_PREFIX + b"\xff" * 17, 1):
        for path in paths.archive.glob("*.warc.gz"):
            for exchange in iter_exchanges(path):
                if exchange.lease.source:
                    held.add(path.name)
                if exchange.body_at is not None:
                    held.add(exchange.body_at[0])
    return held
