"""The process that finds what to delete and writes archive files anew, with low priority.

It only reads the collection, and writes to archive/staged/. Each line of its output is a JSON
object that the node (`pruner.py`) carries out and commits; then the node answers with a line, and
the process continues. It ends when its input ends, which happens when the node dies, too.

    {"drop": ..., "count", "bytes"}           captures to delete: their keys, in base 64
    {"new", "old", "size_bytes", ..., "captures": ...}   a file in archive/staged/, see `JoinedFile`
    {"problem": ...}                          why a file was left as it is
    {"done": true}
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from gossamer.archive.manifest import read_manifest
from gossamer.archive.replaced import REPLACED, STAGED
from gossamer.base.garbage import return_freed_memory
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.stored_settings import stored_settings
from gossamer.errors import GossamerError
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable, Store
from gossamer.node.retention.captures_to_drop import captures_to_drop
from gossamer.node.retention.files_to_join import files_to_join, held_files
from gossamer.node.retention.join_files import HasImports, join
from gossamer.policies.retention import RetentionRule
from gossamer.settings import Settings
from gossamer.urls.keys import Keys

_NICE: Final = 10
_DROPPED_AT_ONCE: Final = 2_000  # captures in one commit
_ROUNDS: Final = 8  # a merged file may be merged again


def steps(
    paths: CollectionPaths, store: Store, rule: RetentionRule, now_us: int, share: float
) -> Iterator[dict[str, Any]]:
    """Yield what to do. The caller carries out each step, and refreshes `store`, before the next.

    Raises CorruptFile, OSError.
    """
    yield from _drops(paths, store, rule, now_us)
    held, fresh = held_files(paths, store), set[str]()
    for _ in range(_ROUNDS):
        settings = stored_settings(store) or Settings()
        groups = files_to_join(paths, store, settings, share, held, fresh)
        for group in groups:
            try:
                step = _joined(paths, store, settings, group, is_thinned=not rule.keeps_all)
                fresh.add(step["new"])
                yield step
            except (HasImports, GossamerError) as fault:
                held |= {path.name for path in group}
                yield {"problem": str(fault)}
        if not groups:
            return


def _drops(
    paths: CollectionPaths, store: Store, rule: RetentionRule, now_us: int
) -> Iterator[dict[str, Any]]:
    """Yield captures to delete, those of one URL always together."""
    keys: list[bytes] = []
    size_bytes = 0
    for dropped in captures_to_drop(store, paths.archive, rule, now_us):
        keys += dropped.rows
        size_bytes += dropped.size_bytes
        if len(keys) >= _DROPPED_AT_ONCE:
            yield _drop(keys, size_bytes)
            keys, size_bytes = [], 0
    if keys:
        yield _drop(keys, size_bytes)


def _drop(keys: Sequence[bytes], size_bytes: int) -> dict[str, Any]:
    text = base64.b64encode(b"".join(keys)).decode()
    return {"drop": text, "count": len(keys), "bytes": size_bytes}


def _joined(
    paths: CollectionPaths,
    store: Store,
    settings: Settings,
    group: Sequence[Path],
    *,
    is_thinned: bool,
) -> dict[str, Any]:
    staged = paths.archive / STAGED
    staged.mkdir(exist_ok=True)
    new = staged / _new_name(paths.archive, group[0].name)
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    level = settings.archive.gzip_level
    joined = join(group, new, store, keys, level, is_thinned=is_thinned)
    return {
        "new": new.name if joined.size_bytes else "",
        "old": [path.name for path in group],
        "size_bytes": joined.size_bytes,
        "crc32": joined.crc32,
        "cdxj": joined.cdxj,
        "captures": _places_text(joined.captures),
        "sitemaps": _places_text(joined.sitemaps),
    }


def _places_text(places: Iterable[tuple[bytes, int]]) -> str:
    joined = b"".join(key + offset.to_bytes(8, "big") for key, offset in places)
    return base64.b64encode(joined).decode()


def _new_name(folder: Path, first: str) -> str:
    """Return an unused name with the date of the first input: names are in order of time."""
    listed = read_manifest(folder).files
    moment = first.split("-")[-2] if first.count("-") >= 2 else "0" * 14
    serial = 0
    while True:
        name = f"gossamer-kept-{moment}-{serial:05d}.warc.gz"
        used = (folder / name, folder / STAGED / name, folder / REPLACED / name)
        if name not in listed and not any(path.exists() for path in used):
            return name
        serial += 1


def main(arguments: Sequence[str]) -> int:
    """Print the steps, and wait for the node after each."""
    folder, rule, now_us, share = arguments
    if hasattr(os, "nice"):
        os.nice(_NICE)
    return_freed_memory()
    paths = CollectionPaths(Path(folder))
    store = RocksStore.open_to_read(paths.state)
    try:
        store.refresh()
        read = RetentionRule.read(rule)
        for step in steps(paths, store, read, int(now_us), float(share)):
            print(json.dumps(step), flush=True)
            if not sys.stdin.readline():
                return 0  # the node has ended
            store.refresh()
        print(json.dumps({"done": True}), flush=True)
    except OSError as fault:
        print(json.dumps({"problem": f"the archive cannot be rewritten ({fault})"}), flush=True)
        return 1
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
