"""Check the graph against its manifest, the archive and the state.

Every file is read from end to end. Pages that the graph does not cover yet are not a problem: a
running crawl, or the next start, adds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import is_in_use
from gossamer.errors import StoreError
from gossamer.frontier.meta_keys import CLEAN_KEY
from gossamer.frontier.store import StateTable
from gossamer.graph import manifest as manifests
from gossamer.graph.arrow import pq
from gossamer.graph.manifest import REBUILD, Manifest, MergedSet
from gossamer.graph.ranks import store as rank_store
from gossamer.graph.sorted_files import groups_of
from gossamer.graph.tables import fault_of
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.check_state import Checked, Problem, problem_of


def read_manifest(folder: Path) -> Manifest | Problem:
    """The manifest, or the problem with it."""
    try:
        return manifests.read(folder)
    except StoreError as error:
        return Problem(
            str(folder / manifests.NAME), str(error).removesuffix(f"; {REBUILD}"), REBUILD
        )


def graph_problems(
    reader: CollectionReader, manifest: Manifest, checked: Checked
) -> Iterator[Problem]:
    """Yield files that differ from the manifest, which was read before the state was opened."""
    folder = reader.paths.graph
    is_whole = True
    for name, rows in manifest.files.items():
        checked.parts += 1
        for what in _file_faults(folder / name, rows):
            is_whole = False
            yield Problem(str(folder / name), what, REBUILD)
    if is_whole:
        for merged in manifest.sets:
            yield from _set_problems(folder, merged)
    yield from _end_problems(reader, manifest)
    for damage in rank_store.faults_in(folder):
        yield problem_of(damage)


def _file_faults(path: Path, rows: int) -> Iterator[str]:
    fault = fault_of(path)
    if fault:
        yield fault
        return
    found = pq.read_metadata(path).num_rows
    if found != rows:
        yield f"it has {found} rows, but the manifest says {rows}"


def _set_problems(folder: Path, merged: MergedSet) -> Iterator[Problem]:
    """Yield sorted files that are out of order: a lookup would miss links in them."""
    for name, column in ((merged.by_target, "target"), (merged.by_source, "source")):
        for before, after in pairwise(groups_of(folder / name, column)):
            if before.greatest > after.least:
                what = f"its rows are not in order from group {after.number} on"
                yield Problem(str(folder / name), what, REBUILD)
                break
    if merged.links > merged.rows:
        what = f"{merged.name} has {merged.links} links by target, but {merged.rows} by source"
        yield Problem(str(folder / manifests.NAME), what, REBUILD)


def _end_problems(reader: CollectionReader, manifest: Manifest) -> Iterator[Problem]:
    """Yield files that the graph covers further than state or archive reach."""
    where = str(reader.paths.graph / manifests.NAME)
    ends = known_ends(reader.store)
    for file, covered in manifest.covered.items():
        path = reader.paths.archive / file
        size = path.stat().st_size if path.exists() else 0
        if file not in ends and not path.exists():
            continue  # another file has replaced it, and the next commit says so here
        if covered > ends.get(file, 0):
            what = f"it covers {file} up to byte {covered}, but the state to {ends.get(file, 0)}"
            yield Problem(where, what, REBUILD)
        elif covered > size:
            what = f"it covers {file} up to byte {covered}, but the file has {size} bytes"
            yield Problem(where, what, REBUILD)
    is_clean = reader.store.find(StateTable.META, CLEAN_KEY) == b"1" and not is_in_use(reader.paths)
    if is_clean and reader.settings().node.graph:
        newest = manifests.read(reader.paths.graph)  # `manifest` may be older than the state
        behind = [file for file, end in ends.items() if newest.covered.get(file, 0) < end]
        if behind:
            what = f"it does not cover the end of the archive ({behind[0]})"
            yield Problem(where, what, REBUILD)
