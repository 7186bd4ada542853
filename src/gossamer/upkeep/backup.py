"""A whole copy of a collection, taken while a crawl goes on or at rest.

Theory of operation. The copy is what a kill at one moment would have left (`commit.py`), and opens
as that does. For this the parts are taken hold of in the order opposite to that in which a commit
writes them, within some milliseconds:

    1. index, graph   the files that count now are opened, so that they outlive their deletion
    2. state          the node makes a checkpoint of it (`control.py`); at rest, we do
    3. archive, log   up to the bytes that this state knows; they only grow

So the state is never behind what is derived, nor ahead of the archive. Then all is copied at
leisure. Files that nobody writes to again get a second name where the file system allows it (a
takedown makes new files and leaves such copies alone); the rest is copied. The copy comes to its
place by a rename, when it is whole on the disk; what a kill leaves, the next copy to that place
clears away (`backup_partial.py`).
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
from gossamer.frontier.store import Store, Table
from gossamer.node.control import NotRunning, send
from gossamer.upkeep.backup_hold import Held, hold_graph, hold_index
from gossamer.upkeep.backup_partial import partial_beside, unmarked

_SHARED_STATE: Final = (".sst", ".blob")  # written once; what else a database has, it goes on with
_CHECKPOINT_S: Final = 120.0  # what a second of crawling wrote goes to a disk that may be busy


@dataclass(slots=True)
class Copied:
    """What a copy is made of."""

    pages: int = 0  # fetched, by the state of the copy
    files: int = 0
    copied_bytes: int = 0
    linked_files: int = 0
    linked_bytes: int = 0  # of files that have a second name: they take no room

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
    """Copy a collection to `target`, which is not there, or empty.

    Raises UsageError, NoCollection, CollectionInUse where somebody else than a crawl is writing,
    StoreError and DiskFault; then nothing is there.
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
        what = f"{paths.path} was rewritten while it was copied ({error.filename}); try again"
        raise StoreError(what) from error
    except OSError as error:
        raise disk_fault(f"{target} could not be written", error) from error
    return copied


def check_target(paths: CollectionPaths, target: Path) -> None:
    """Raise UsageError for a place where no copy may be made."""
    if target.resolve().is_relative_to(paths.path.resolve()):
        raise UsageError(f"{target} is inside the collection; name a directory outside of it")
    if target.is_dir():
        if target.resolve() == Path.cwd():
            raise UsageError("the copy cannot replace the current directory; name another")
        if any(target.iterdir()):
            raise UsageError(f"{target} is not empty; name a new directory")
    elif target.exists() or target.is_symlink():
        raise UsageError(f"{target} is a file; name a new directory")


def _put_in_place(partial: Path, target: Path, mode: int) -> None:
    """`mode` is the collection's: who may not look into it may not look into the copy."""
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
            counts = Counts.decode(store.find(Table.META, COUNTS_KEY))
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
    """The checksums of files that never change: the copy has the same files."""
    try:
        sums = find_sums(paths.path)
    except CorruptFile:
        sums = None
    return Before(sums.files if sums else {})


def _take_lock(paths: CollectionPaths, stack: ExitStack) -> bool:
    """Keep others from beginning to write; whether a crawl is doing so already."""
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
    """A folder with the state of this moment, for as long as the block runs."""
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
    # A checkpoint has no IDENTITY: made by the first who writes, it would look like another state
    # to those who read (`state.py`).
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
    """Copy a file that may have been deleted meanwhile."""
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
    """Every file that the state knows, as far as it does; at rest all that is there: the start
    after a kill reads on."""
    new.archive.mkdir()
    ends = known_ends(store)
    listed, files = read_manifest(paths.archive).files, dict[str, Listed]()
    warc_paths = {paths.archive / name for name, end in ends.items() if end}
    if not is_live:
        warc_paths |= set(paths.archive.glob("*.warc.gz"))
    for path in sorted(warc_paths):
        end, size = ends.get(path.name, 0), path.stat().st_size
        target, index = new.archive / path.name, cdxj_path(path)
        files[path.name] = Listed()
        if size == end and index.exists():  # sealed: nobody writes to it again
            _copy_file(path, target, copied, is_shared=True)
            _copy_file(index, cdxj_path(target), copied, is_shared=True)
            files[path.name] = listed.get(path.name, Listed(end))
            continue
        with path.open("rb") as file:
            wanted = end if is_live else size
            if copy_bytes(file, target, wanted) < wanted:
                raise StoreError(f"{path} was rewritten while it was copied; try again")
        copied.take(target)
        if is_live:
            copied.take(write_cdxj(target))
    replace_manifest(new.archive, store.find(Table.META, SALT_KEY) or b"", files)
    copied.take(new.archive / MANIFEST)


def _copy_texts(
    paths: CollectionPaths, new: CollectionPaths, store: Store, copied: Copied, *, is_live: bool
) -> None:
    """Log, acts, cookies, history and the operator's settings."""
    new.log.parent.mkdir()
    new.run.mkdir()
    if paths.log.exists():
        length = int.from_bytes(store.find(Table.META, LOG_KEY) or b"", "big")
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
