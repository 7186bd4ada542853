"""Open a consistent set of files that a running crawl may replace at any moment.

A small file, replaced as a whole, names the current files (`manifest.json`, `ranks.json`,
`current`, tantivy's `meta.json`). This module reads it, opens the files that it names, and reads it
again. If it has not changed, all open files belong together, and they stay readable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.base.copying import copy_bytes
from gossamer.errors import StoreError
from gossamer.graph import manifest as manifests
from gossamer.graph.ranks import store as rank_store
from gossamer.index.folder import ANCHORS, COMMIT, CURRENT, TEXTS, WORDS, find_current

_TRIES: Final = 200  # a commit every few seconds changes the names; opening takes milliseconds
_MANAGED: Final = ".managed.json"


@dataclass(frozen=True, slots=True)
class Held:
    """A file as it was at one moment. `is_shared`: it is never written again."""

    path: Path
    file: BinaryIO | None
    size: int
    is_shared: bool
    content: bytes = b""  # if there is no file

    def copy_to(self, target: Path) -> None:
        """Write its content to a new file. Raises OSError."""
        if self.file is not None:
            copy_bytes(self.file, target, self.size)
            return
        with target.open("wb") as file:
            file.write(self.content)
            file.flush()
            os.fsync(file.fileno())


def hold_graph(folder: Path, stack: ExitStack) -> list[Held]:
    """Open the current files of links and ranks."""
    return _held(lambda: _graph_names(folder), stack)


def hold_index(folder: Path, stack: ExitStack) -> list[Held]:
    """Open the current files of the index; return none if there is no index. Raises CorruptFile."""
    return _held(lambda: _index_names(folder), stack)


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the current files: small files by content, others by path."""

    small: dict[Path, bytes]
    shared: tuple[Path, ...] = ()
    growing: tuple[Path, ...] = ()


def _held(names: Callable[[], _Names], stack: ExitStack) -> list[Held]:
    for _ in range(_TRIES):
        with ExitStack() as trial:
            try:
                found = names()
                held = list(_opened(found, trial))
                if names() == found:
                    stack.push(trial.pop_all())
                    return held
            except FileNotFoundError:
                continue  # it was replaced a moment ago
    raise StoreError("the collection changes faster than it can be copied; try again")


def _opened(names: _Names, stack: ExitStack) -> Iterator[Held]:
    for paths, is_shared in ((names.shared, True), (names.growing, False)):
        for path in paths:
            file = stack.enter_context(path.open("rb"))
            yield Held(path, file, os.fstat(file.fileno()).st_size, is_shared)
    for path, content in names.small.items():
        yield Held(path, None, len(content), False, content)


def _graph_names(folder: Path) -> _Names:
    if not (folder / manifests.NAME).exists():
        return _Names({})
    small = {folder / manifests.NAME: (folder / manifests.NAME).read_bytes()}
    manifest = manifests.read(folder)
    files = list(manifest.files)
    ranks = rank_store.find_info(folder)
    if ranks is not None:
        small[folder / rank_store.NAME] = (folder / rank_store.NAME).read_bytes()
        files += ranks.files
    return _Names(small, tuple(folder / name for name in files))


def _index_names(folder: Path) -> _Names:
    generation = find_current(folder)
    if generation is None:
        return _Names({})
    words = generation / WORDS
    commit = (words / COMMIT).read_bytes()
    small = {folder / CURRENT: (folder / CURRENT).read_bytes(), words / COMMIT: commit}
    if (words / _MANAGED).exists():
        small[words / _MANAGED] = (words / _MANAGED).read_bytes()
    parts = {one["segment_id"].replace("-", "") for one in json.loads(commit)["segments"]}
    shared = sorted(path for path in words.iterdir() if path.name.partition(".")[0] in parts)
    return _Names(small, tuple(shared), (generation / TEXTS, folder / ANCHORS))
