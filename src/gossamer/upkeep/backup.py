"""Copy a whole collection, with or without a running crawl.

Theory of operation. The copy equals what a kill at one moment would leave (`commit.py`), and opens
in the same way. So the parts are pinned in the reverse of the order in which a commit writes them,
within some milliseconds:

    1. index, graph   the current files are opened, so their content survives deletion
    2. state          the node makes a checkpoint (`control.py`); without a node, this module does
    3. archive, log   up to the bytes that this state knows; these files only grow

So the state is never older than the derived parts, nor newer than the archive. The copying itself
takes as long as it needs. Files that are never written again get a hard link where the file system
allows it (a takedown writes new files and leaves such links alone); other files are copied. The
copy is renamed to its final name when all of it is on the disk. The next copy to the same place
deletes what a killed backup left (`backup_partial.py`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.manifest import NAME as MANIFEST
from gossamer.archive.manifest import Listed, read_manifest, replace_manifest
from gossamer.archive.replaced import file_elsewhere
from gossamer.archive.writer import disk_fault
from gossamer.base.copying import copy_bytes, link_or_copy
from gossamer.base.files import sync_folder
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.checksums import NAME as SUMS
from gossamer.collection.checksums import Before, end_writing, find_sums
from gossamer.collection.directory import (
    CHECKPOINTS,
    CollectionPaths,
    delete_checkpoints,
    locked,
    open_to_read,
    open_to_write,
)
from gossamer.errors import CollectionInUse, CorruptFile, StoreError, UsageError
from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import COUNTS_KEY, LOG_KEY, SALT_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.node.control import NotRunning, send
from gossamer.upkeep.backup_hold import Held, hold_graph, hold_index
from gossamer.upkeep.backup_partial import partial_beside, unmarked

_SHARED_STATE: Final = (".sst", ".blob")  # written once; a database continues to write the others
_CHECKPOINT_S: Final = 120.0  # the node first writes a second of crawling to a busy disk


@dataclass(slots=True)
class Copied:
    """The contents of a copy."""

    pages: int = 0  # fetched, by the state of the copy
    files: int = 0
    copied_bytes: int = 0
    linked_files: int = 0
    linked_bytes: int = 0  # of hard-linked files, which take no extra space

    def as_json(self) -> dict[str, object]:
        return {"schema": 1, **asdict(self)}

    def take(self, path: Path, *, is_linked: bool = False) -> None:
        size = path.stat().st_size
        self.files += 1
        self.linked_files += is_linked
        if is_linked:
            self.linked_bytes += size
        else:
            self.copied_bytes += size


def backup(paths: CollectionPaths, target: Path) -> Copied:
    """Copy a collection to `target`, which must be missing or empty.

    Raises UsageError, NoCollection, CollectionInUse if a process other than a crawl is writing,
    StoreError and DiskFault. After an error `target` does not exist.
    """
    if not paths.exists:
        raise paths.missing()
    check_target(paths, target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with partial_beside(target) as partial:
            copied = _copy(paths, CollectionPaths(partial))
            _put_in_place(partial, target, paths.path.stat().st_mode & 0o777)
    except FileNotFoundError as error:
        what = f"{paths.path} was rewritten during the copy ({error.filename}); try again"
        raise StoreError(what) from error
    except OSError as error:
        raise disk_fault(f"cannot write {target}", error) from error
    return copied


def check_target(paths: CollectionPaths, target: Path) -> None:
    """Raise UsageError if no copy may be made at `target`."""
    if target.resolve().is_relative_to(paths.path.resolve()):
        raise UsageError(f"{target} is inside the collection; choose a directory outside it")
    if target.is_dir():
        if target.resolve() == Path.cwd():
            raise UsageError("a backup cannot replace the current directory; choose another")
        if any(target.iterdir()):
            raise UsageError(f"{target} is not empty; choose a new directory")
    elif target.exists() or target.is_symlink():
        raise UsageError(f"{target} is a file; choose a new directory")


def _put_in_place(partial: Path, target: Path, mode: int) -> None:
    """`mode` is the collection's, so the copy has the same access rights."""
    if target.is_dir():
        mode &= target.stat().st_mode
        target.rmdir()
    unmarked(partial)
    partial.chmod(mode | 0o700)
    partial.rename(target)
    sync_folder(target.parent)


def _copy(paths: CollectionPaths, new: CollectionPaths) -> Copied:
    copied = Copied()
    with ExitStack() as stack:
        is_live = _take_lock(paths, stack)
        held = [*hold_index(paths.index, stack), *hold_graph(paths.graph, stack)]
        with _checkpoint(paths, is_live=is_live) as state:
            _copy_state(state, paths, new, copied)
        for one in held:
            _copy_held(one, new.path / one.path.relative_to(paths.path), copied)
        store = open_to_read(new)
        try:
            counts = Counts.decode(store.find(StateTable.META, COUNTS_KEY))
            copied.pages = counts.fetched + counts.redirects
            _copy_archive(paths, new, store, copied, is_live=is_live)
            _copy_texts(paths, new, store, copied, is_live=is_live)
        finally:
            store.close()
    end_writing(new.path, _fixed_sums(paths))
    copied.take(new.path / SUMS)
    for folder in (new.path, *(path for path in new.path.rglob("*") if path.is_dir())):
        sync_folder(folder)
    return copied


def _fixed_sums(paths: CollectionPaths) -> Before:
    """Return the checksums of files that never change: the copy has the same files."""
    try:
        sums = find_sums(paths.path)
    except CorruptFile:
        sums = None
    return Before(sums.files if sums else {})


def _take_lock(paths: CollectionPaths, stack: ExitStack) -> bool:
    """Prevent other writers from starting; return whether a crawl is already writing."""
    paths.run.mkdir(exist_ok=True)
    try:
        stack.enter_context(locked(paths))
    except CollectionInUse:
        try:
            send(paths, "status")
        except NotRunning:
            pass
        else:
            return True
        raise
    return False


# -- state


@contextmanager
def _checkpoint(paths: CollectionPaths, *, is_live: bool) -> Iterator[Path]:
    """Yield a folder with the state of this moment; delete it after the block."""
    folder = _ordered(paths) if is_live else _made(paths)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ordered(paths: CollectionPaths) -> Path:
    reply = send(paths, "checkpoint", wait_s=_CHECKPOINT_S)
    if "error" in reply:
        raise StoreError(f"the running crawl could not save a checkpoint: {reply['error']}")
    return paths.run / Path(str(reply["checkpoint"])).name


def _made(paths: CollectionPaths) -> Path:
    delete_checkpoints(paths)
    folder = paths.run / f"{CHECKPOINTS}{os.getpid():x}"
    store = open_to_write(paths, 16)
    try:
        store.checkpoint(folder)
    finally:
        store.close()
    return folder


def _copy_state(state: Path, paths: CollectionPaths, new: CollectionPaths, copied: Copied) -> None:
    new.state.mkdir()
    # A checkpoint has no IDENTITY file. The first writer would create one, and readers would then
    # take the state for another one (`state.py`).
    for path in sorted({*state.iterdir(), *paths.state.glob("IDENTITY")}):
        is_shared = path.suffix in _SHARED_STATE
        _copy_file(path, new.state / path.name, copied, is_shared=is_shared)


# -- everything else


def _copy_file(source: Path, target: Path, copied: Copied, *, is_shared: bool) -> None:
    if is_shared:
        is_linked = link_or_copy(source, target)
    else:
        is_linked = False
        with source.open("rb") as file:
            copy_bytes(file, target, os.fstat(file.fileno()).st_size)
    copied.take(target, is_linked=is_linked)


def _copy_held(held: Held, target: Path, copied: Copied) -> None:
    """Copy a file that may have been deleted in the meantime."""
    target.parent.mkdir(parents=True, exist_ok=True)
    is_linked = False
    if held.is_shared:
        try:
            is_linked = link_or_copy(held.path, target)
            copied.take(target, is_linked=is_linked)
            return
        except FileNotFoundError:
            pass
    held.copy_to(target)
    copied.take(target)


def _copy_archive(
    paths: CollectionPaths, new: CollectionPaths, store: Store, copied: Copied, *, is_live: bool
) -> None:
    """Copy every archive file up to the end that the state knows. Without a running crawl copy
    whole files: recovery reads the bytes after a kill."""
    new.archive.mkdir()
    ends = known_ends(store)
    listed, files = read_manifest(paths.archive).files, dict[str, Listed]()
    warc_paths = {paths.archive / name for name, end in ends.items() if end}
    if not is_live:
        warc_paths |= set(paths.archive.glob("*.warc.gz"))
    for named in sorted(warc_paths):
        path = named if named.exists() else file_elsewhere(named) or named  # it is being replaced
        end, size = ends.get(path.name, 0), path.stat().st_size
        target, index = new.archive / path.name, cdxj_path(path)
        files[path.name] = Listed()
        if size == end and index.exists():  # sealed: never written again
            _copy_file(path, target, copied, is_shared=True)
            _copy_file(index, cdxj_path(target), copied, is_shared=True)
            files[path.name] = listed.get(path.name, Listed(end))
            continue
        with path.open("rb") as file:
            wanted = end if is_live else size
            if copy_bytes(file, target, wanted) < wanted:
                raise StoreError(f"{path} was rewritten during the copy; try again")
        copied.take(target)
        if is_live or path != named:
            copied.take(write_cdxj(target))
    replace_manifest(new.archive, store.find(StateTable.META, SALT_KEY) or b"", files)
    copied.take(new.archive / MANIFEST)


def _copy_texts(
    paths: CollectionPaths, new: CollectionPaths, store: Store, copied: Copied, *, is_live: bool
) -> None:
    """Copy log, audit log, cookies, history and the operator's settings."""
    new.log.parent.mkdir()
    new.run.mkdir()
    if paths.log.exists():
        length = int.from_bytes(store.find(StateTable.META, LOG_KEY) or b"", "big")
        with paths.log.open("rb") as file:
            copy_bytes(file, new.log, length if is_live else os.fstat(file.fileno()).st_size)
        copied.take(new.log)
    lists = (str(path.relative_to(paths.path)) for path in paths.takedowns.lists)
    names = ("log/acts.jsonl", "run/deaths", "gossamer.toml", "cookies.txt", "history.jsonl")
    for name in (*names, *lists):
        if (paths.path / name).exists():
            with (paths.path / name).open("rb") as file:
                copy_bytes(file, new.path / name, os.fstat(file.fileno()).st_size)
            copied.take(new.path / name)
