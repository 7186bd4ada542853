"""The directory of a collection: paths of its parts, the writer's lock, and the format version.

gossamer.toml  the operator's settings, if any
state/         RocksDB: URLs, hosts, queues, schedules (one writer)
archive/       *.warc.gz *.cdxj
graph/         Parquet parts named by manifest.json
index/         the words of every page, and its text
log/           crawl.jsonl: one line per outcome; acts.jsonl: the audit log (actions of the
operator) run/           lock and control socket while a node runs
cookies.txt    cookies of sites, readable by the owner only
history.jsonl  counts over time, for the curves of the web interface
sums.json      checksums of state, graph and index (`checksums.py`)
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.clock import SystemClock
from gossamer.base.files import sync_folder
from gossamer.base.locks import try_lock
from gossamer.collection.checksums import NAME as SUMS
from gossamer.collection.checksums import begin_writing, end_writing
from gossamer.collection.forgotten_list import TakedownFiles
from gossamer.collection.log_thinning import complete_log, new_log_path
from gossamer.collection.replacing import has_staged, settle_replacement
from gossamer.collection.staging import is_ready, settle
from gossamer.errors import (
    CollectionInUse,
    CorruptFile,
    NoCollection,
    StateLost,
    StoreError,
    UsageError,
    WrongVersion,
)
from gossamer.frontier.meta_keys import SALT_KEY, VERSION_KEY
from gossamer.frontier.rocks import REBUILD, RocksStore
from gossamer.frontier.store import StateTable, Store

FORMAT: Final = 1
CHECKPOINTS: Final = "checkpoint-"  # in run/: checkpoints for a backup


@dataclass(frozen=True, slots=True)
class CollectionPaths:
    """The paths of a collection."""

    path: Path

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def archive(self) -> Path:
        return self.path / "archive"

    @property
    def graph(self) -> Path:
        return self.path / "graph"

    @property
    def index(self) -> Path:
        return self.path / "index"

    @property
    def log(self) -> Path:
        return self.path / "log" / "crawl.jsonl"

    @property
    def actions(self) -> Path:
        return self.path / "log" / "acts.jsonl"

    @property
    def takedowns(self) -> TakedownFiles:
        """The files of the list of takedowns (`forgotten.py`)."""
        return TakedownFiles.of(self.path)

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def cookies(self) -> Path:
        return self.path / "cookies.txt"

    @property
    def new_cookies(self) -> Path:
        """The temporary file of the cookies."""
        return self.path / "cookies.txt.new"

    @property
    def history(self) -> Path:
        return self.path / "history.jsonl"

    @property
    def exists(self) -> bool:
        is_whole = (self.state / "CURRENT").exists() and not self.half_made.exists()
        return is_whole or is_ready(self.path)

    @property
    def is_state_lost(self) -> bool:
        """Whether the archive has pages and the state is missing."""
        return not self.exists and any(self.archive.glob("*.warc.gz"))

    def missing(self) -> NoCollection:
        """Return the error for a collection that does not exist."""
        return StateLost(self.path) if self.is_state_lost else NoCollection(self.path)

    @property
    def half_made(self) -> Path:
        """The marker file of a state that has no row yet."""
        return self.state / "half-made"

    def make(self) -> None:
        """Create the missing directories. Raises UsageError if that is not possible, StateLost and
        DiskFault."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is a file; choose a directory with -c")
        if self.is_state_lost:
            raise StateLost(self.path)  # a new state would request everything again
        if self.path.is_dir() and not self.exists and any(self.path.iterdir()):
            strangers = {p.name for p in self.path.iterdir()} - _OURS
            if strangers:
                raise UsageError(
                    f"{self.path} is not a collection and contains other files ({min(strangers)});"
                    " choose an empty or new directory with -c"
                )
        try:
            for folder in (self.state, self.archive, self.graph, self.log.parent, self.run):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            what = f"cannot create a collection in {self.path}"
            if fault.errno in _OF_THE_DISK:
                raise disk_fault(what, fault) from fault
            raise UsageError(f"{what}: {fault.strerror}") from fault


_OURS: Final = {
    "gossamer.toml", "state", "state.new", "archive", "graph", "index", "log", "run", "cookies.txt",
    "cookies.txt.new", SUMS, f"{SUMS}.new",
}  # fmt: skip
_OF_THE_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def open_to_write(paths: CollectionPaths, memory_mb: int) -> RocksStore:
    """Open the state for the one writer; the caller holds the lock. A new state gets format and
    salt."""
    if not paths.exists:
        return _made_state(paths, memory_mb)
    store = RocksStore.open(paths.state, memory_mb)
    if _is_empty(store):  # an older release was killed before it wrote the first row
        _name_format(store)
    _check_format(paths, store)
    if _is_replacing(paths):
        _complete_files(paths, store)
    return store


def _is_replacing(paths: CollectionPaths) -> bool:
    """Whether archive files or the log are being replaced, or a kill has interrupted that."""
    return has_staged(paths.archive) or new_log_path(paths.log).exists()


def _complete_files(paths: CollectionPaths, store: RocksStore) -> None:
    """Complete a replacement of archive files, or of the log, that was killed."""
    try:
        complete_log(paths.log, store)
        settle_replacement(paths.archive, store, SystemClock().wall_us() / 1e6)
    except OSError as fault:
        store.close()
        raise disk_fault(f"cannot recover {paths.archive}", fault) from fault
    except BaseException:
        store.close()
        raise


def _made_state(paths: CollectionPaths, memory_mb: int) -> RocksStore:
    """Create a state. It becomes valid with its first row.

    RocksDB creates its files one by one, and a reader cannot open what a kill or a full disk leaves
    of them. Creating it elsewhere and moving it takes 20 ms more, because it must be closed first.
    """
    try:
        _begin_state(paths)
    except OSError as fault:
        raise disk_fault(f"cannot create {paths.state}", fault) from fault
    store = RocksStore.open(paths.state, memory_mb)
    try:
        _name_format(store)
        paths.half_made.unlink()
        sync_folder(paths.state)
    except OSError as fault:
        store.close()
        raise disk_fault(f"cannot create {paths.state}", fault) from fault
    except BaseException:
        store.close()
        raise
    return store


def _begin_state(paths: CollectionPaths) -> None:
    """Create an empty folder with the marker. Move an unfinished one away first, with its marker,
    because files are deleted in any order."""
    begun = paths.state.with_name("state.new")
    shutil.rmtree(begun, ignore_errors=True)  # an older release created a state there
    if paths.half_made.exists():
        paths.state.rename(begun)
        shutil.rmtree(begun, ignore_errors=True)
    elif any(paths.state.iterdir()):  # never delete foreign files
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
    paths.state.mkdir(exist_ok=True)
    paths.half_made.touch()
    sync_folder(paths.state)
    sync_folder(paths.path)


def _name_format(store: Store) -> None:
    store.write({StateTable.META: {VERSION_KEY: str(FORMAT).encode(), SALT_KEY: os.urandom(16)}})


def open_to_read(paths: CollectionPaths) -> Store:
    """Open the state to read, with or without a writer. Raises NoCollection, StateLost,
    CorruptFile."""
    complete_change(paths)
    if not paths.exists:
        raise paths.missing()
    store = RocksStore.open_to_read(paths.state)
    _check_format(paths, store)
    return store


def _is_empty(store: Store) -> bool:
    return not any(store.scan(table, b"", None, 1) for table in StateTable)


def _check_format(paths: CollectionPaths, store: Store) -> None:
    found = store.find(StateTable.META, VERSION_KEY)
    if found is None or not found.isdigit():
        store.close()
        what = "it is not the state of a collection, or it is damaged; choose another collection"
        raise CorruptFile(paths.state, 0, f"{what} with -c, or {REBUILD}")
    if int(found) != FORMAT:
        store.close()
        raise WrongVersion(paths.path, int(found), FORMAT)


def complete_change(paths: CollectionPaths) -> None:
    """Complete a takedown (`forget.py`) that was killed at its last step, and a replacement of
    archive files (`replacing.py`).

    Raises CollectionInUse if another process is doing so.
    """
    if is_ready(paths.path):
        with locked(paths):
            pass
    if _is_replacing(paths) and paths.exists:
        with suppress(CollectionInUse), locked(paths):  # else a crawl is doing so
            open_to_write(paths, 16).close()


@contextmanager
def locked(paths: CollectionPaths) -> Iterator[None]:
    """Hold the collection for writing, or raise CollectionInUse. The lock ends with the process."""
    path = paths.run / "lock"
    _refuse_links(path, paths.log, paths.actions)
    try:
        opened = path.open("a+", encoding="utf-8")
    except OSError as fault:
        raise disk_fault(f"cannot open {path}", fault) from fault
    with opened as file:
        try:
            is_ours = try_lock(file.fileno())
        except OSError as fault:
            raise disk_fault(f"cannot lock {path}", fault) from fault
        if not is_ours:
            file.seek(0)
            raise CollectionInUse(paths.path, _holder(file.read()))
        file.truncate(0)
        file.write(json.dumps({"pid": os.getpid()}))
        file.flush()
        try:
            settle(paths.path)
            before = begin_writing(paths.path)
        except OSError as fault:
            raise disk_fault(f"cannot recover {paths.path}", fault) from fault
        try:
            yield
        finally:
            with suppress(OSError):  # then the checksums stay marked as open
                end_writing(paths.path, before)
            with suppress(OSError):  # the disk is read-only by now; the lock itself is released
                file.truncate(0)


def _refuse_links(*candidates: Path) -> None:
    """Raise StoreError if a file that is written in place is a symbolic link. Folders may be on
    another disk, but linked files occur in collections that other people have packed."""
    for path in candidates:
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link and is never written to; remove it")


def delete_checkpoints(paths: CollectionPaths) -> None:
    """Delete what a killed backup left. The caller holds the lock."""
    for folder in paths.run.glob(f"{CHECKPOINTS}*"):
        shutil.rmtree(folder, ignore_errors=True)


def undo_half_swaps(paths: CollectionPaths) -> None:
    """Undo an interrupted `rebuild`: if it was killed between its two renames, the old part is
    restored, and the rest is deleted, also a partly written cookie file. The caller holds the
    lock."""
    for part in (paths.state, paths.graph, paths.index):
        old = part.with_name(part.name + ".old")
        if old.exists() and not part.exists():
            old.rename(part)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(part.with_name(part.name + ".new"), ignore_errors=True)
    paths.new_cookies.unlink(missing_ok=True)


def is_in_use(paths: CollectionPaths) -> bool:
    """Whether a process holds the collection for writing."""
    try:
        with (paths.run / "lock").open("rb") as file:  # a reader creates no file
            return not try_lock(file.fileno())
    except OSError:
        return False


def _holder(text: str) -> str:
    try:
        return f"process {json.loads(text)['pid']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
