"""Check that the bytes of state, index and graph are those that were written (`checksums.py`).

Every file that has a checksum is read from end to end. `Checked.unsure` lists the files without a
checksum and the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.archive.manifest import read_manifest
from gossamer.base.checked_lines import crc32_of
from gossamer.collection.checksums import ACTS, NAME, Checksums, covered_files, find_sums, is_fixed
from gossamer.collection.directory import CollectionPaths, is_in_use
from gossamer.collection.log_lines import unreadable_lines
from gossamer.errors import CorruptFile
from gossamer.frontier.rocks import REBUILD as REBUILD_STATE
from gossamer.graph.manifest import REBUILD as REBUILD_GRAPH
from gossamer.index.folder import REBUILD as REBUILD_INDEX
from gossamer.upkeep.check_state import Checked, Problem

REBUILD_ARCHIVE = "run `gossamer rebuild archive`: it writes the checksums again"
_TODO = {
    "state": REBUILD_STATE,
    "index": REBUILD_INDEX,
    "graph": REBUILD_GRAPH,
    "log": "restore it from a backup, or keep what is left: `gossamer rebuild archive`",
}


def act_problems(paths: CollectionPaths) -> Iterator[Problem]:
    """Yield the lines of acts.jsonl that are not JSON."""
    for number in unreadable_lines(paths.actions):
        yield Problem(f"{paths.actions}, line {number}", "the line is not JSON", _TODO["log"])


def sum_problems(paths: CollectionPaths, checked: Checked) -> Iterator[Problem]:
    """Yield files whose bytes have changed, and files that are missing."""
    try:
        sums = find_sums(paths.path)
    except CorruptFile as error:
        yield Problem(str(paths.path / NAME), "the checksums are damaged", REBUILD_ARCHIVE)
        checked.unsure.append(str(error))
        return
    if sums is None:
        if read_manifest(paths.archive).is_there:
            yield Problem(str(paths.path / NAME), "the checksums are missing", REBUILD_ARCHIVE)
        checked.unsure.append("state, index and graph have no checksums yet")
        return
    is_open = sums.is_open or is_in_use(paths)
    for name, (size, crc) in sums.files.items():
        if is_open and not is_fixed(name):
            continue
        yield from _file_problems(paths, name, size, crc, is_open=is_open)
        checked.sums += 1
    if is_open:
        _note_new_files(paths, sums, checked)


def _file_problems(
    paths: CollectionPaths, name: str, size: int, crc: int, *, is_open: bool
) -> Iterator[Problem]:
    path = paths.path / name
    todo = _TODO[name.partition("/")[0]]
    try:  # acts.jsonl may have grown in the meantime
        found = crc32_of(path, size if name == ACTS else None)
    except FileNotFoundError:
        if not is_open:  # else a writer may have deleted it
            yield Problem(str(path), "the file is missing", todo)
        return
    except OSError as error:
        yield Problem(str(path), f"it cannot be read ({error.strerror})", todo)
        return
    if found != (crc, size):
        what = "checksum mismatch: its bytes have changed"
        if found[1] != size:
            what = f"it has {found[1]} bytes, but {size} were written"
        yield Problem(str(path), what, todo)


def _note_new_files(paths: CollectionPaths, sums: Checksums, checked: Checked) -> None:
    others = sorted(n for n in covered_files(paths.path) if n not in sums.files or not is_fixed(n))
    if others:
        what = f"{len(others)} files of state, index and graph changed since the last clean end"
        checked.unsure.append(f"{what} and have no checksum yet, for example {others[0]}")
