"""A collection on disk: where its parts lie, who may write, and which format it has.

gossamer.toml  the operator's settings, if any
state/         RocksDB: URLs, hosts, queues, schedules (one writer)
archive/       *.warc.gz *.cdxj
graph/         Parquet parts named by manifest.json
index/         the words of every page, and its text
log/           crawl.jsonl: one line per outcome; acts.jsonl: what the operator did
run/           lock and control while a node runs
cookies.txt    cookies of sites, for the owner's eyes alone
history.jsonl  how the sums grew, for the curves of the web page
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
from gossamer.base.files import sync_folder
from gossamer.base.locks import try_lock
from gossamer.collection.checksums import NAME as SUMS
from gossamer.collection.checksums import begin_writing, end_writing
from gossamer.collection.forgotten_list import TakedownFiles
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
from gossamer.frontier.store import Store, Table

FORMAT: Final = 1
CHECKPOINTS: Final = "checkpoint-"  # in run/: states that were laid aside for a backup


@dataclass(frozen=True, slots=True)
class CollectionPaths:
    """The directory of a collection."""

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
        """The files that tell what was forgotten (`forgotten.py`)."""
        return TakedownFiles.of(self.path)

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def cookies(self) -> Path:
        return self.path / "cookies.txt"

    @property
    def new_cookies(self) -> Path:
        """A list of cookies that is being written."""
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
        """Whether pages were archived here and the state that knows them is gone."""
        return not self.exists and any(self.archive.glob("*.warc.gz"))

    def missing(self) -> NoCollection:
        """The error for a collection that `exists` denies."""
        return StateLost(self.path) if self.is_state_lost else NoCollection(self.path)

    @property
    def half_made(self) -> Path:
        """Lies in a state that has no row yet."""
        return self.state / "half-made"

    def make(self) -> None:
        """Make the directories that are missing. Raises UsageError where that cannot be, StateLost
        and DiskFault."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"{self.path} is a file; name a directory with -c")
        if self.is_state_lost:
            raise StateLost(self.path)  # a new state would request everything again
        if self.path.is_dir() and not self.exists and any(self.path.iterdir()):
            strangers = {p.name for p in self.path.iterdir()} - _OURS
            if strangers:
                raise UsageError(
                    f"{self.path} is not a collection and holds other files ({min(strangers)}); "
                    "name an empty or new directory with -c"
                )
        try:
            for folder in (self.state, self.archive, self.graph, self.log.parent, self.run):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            what = f"cannot make a collection in {self.path}"
            if fault.errno in _OF_THE_DISK:
                raise disk_fault(what, fault) from fault
            raise UsageError(f"{what}: {fault.strerror}") from fault


_OURS: Final = {
    "gossamer.toml", "state", "state.new", "archive", "graph", "index", "log", "run", "cookies.txt",
    "cookies.txt.new", SUMS, f"{SUMS}.new",
}  # fmt: skip
_OF_THE_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def open_to_write(paths: CollectionPaths, memory_mb: int) -> RocksStore:
    """The state, for the one writer; the caller holds the lock. A new one gets format and salt."""
    if not paths.exists:
        return _made_state(paths, memory_mb)
    store = RocksStore.open(paths.state, memory_mb)
    if _is_empty(store):  # an older release was killed before its first row
        _name_format(store)
    _check_format(paths, store)
    return store


def _made_state(paths: CollectionPaths, memory_mb: int) -> RocksStore:
    """A new state. It counts when its first row is in it, or not at all.

    RocksDB makes its files one by one, and what a kill or a full disk leaves of them cannot be
    opened by a reader. To make it elsewhere and to move it takes another 20 ms: it must be closed.
    """
    try:
        _begin_state(paths)
    except OSError as fault:
        raise disk_fault(f"{paths.state} could not be made", fault) from fault
    store = RocksStore.open(paths.state, memory_mb)
    try:
        _name_format(store)
        paths.half_made.unlink()
        sync_folder(paths.state)
    except OSError as fault:
        store.close()
        raise disk_fault(f"{paths.state} could not be made", fault) from fault
    except BaseException:
        store.close()
        raise
    return store


def _begin_state(paths: CollectionPaths) -> None:
    """An empty folder with the mark in it. One that was begun before is moved away first, mark and
    all, for files are deleted in any order."""
    begun = paths.state.with_name("state.new")
    shutil.rmtree(begun, ignore_errors=True)  # an older release made a state there
    if paths.half_made.exists():
        paths.state.rename(begun)
        shutil.rmtree(begun, ignore_errors=True)
    elif any(paths.state.iterdir()):  # what is in it is not ours to delete
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
    paths.state.mkdir(exist_ok=True)
    paths.half_made.touch()
    sync_folder(paths.state)
    sync_folder(paths.path)


def _name_format(store: Store) -> None:
    store.write({Table.META: {VERSION_KEY: str(FORMAT).encode(), SALT_KEY: os.urandom(16)}})


def open_to_read(paths: CollectionPaths) -> Store:
    """The state beside a writer, or at rest. Raises NoCollection, StateLost, CorruptFile."""
    complete_change(paths)
    if not paths.exists:
        raise paths.missing()
    store = RocksStore.open_to_read(paths.state)
    _check_format(paths, store)
    return store


def _is_empty(store: Store) -> bool:
    return not any(store.scan(table, b"", None, 1) for table in Table)


def _check_format(paths: CollectionPaths, store: Store) -> None:
    found = store.find(Table.META, VERSION_KEY)
    if found is None or not found.isdigit():
        store.close()
        what = "it is not the state of a collection, or it is damaged; name another collection with"
        raise CorruptFile(paths.state, 0, f"{what} -c, or {REBUILD}")
    if int(found) != FORMAT:
        store.close()
        raise WrongVersion(paths.path, int(found), FORMAT)


def complete_change(paths: CollectionPaths) -> None:
    """Whoever was forgetting something (`forget.py`) was killed at the last moment: complete it.

    Raises CollectionInUse where somebody is at it.
    """
    if is_ready(paths.path):
        with locked(paths):
            pass


@contextmanager
def locked(paths: CollectionPaths) -> Iterator[None]:
    """Hold the collection for writing, or raise CollectionInUse. Ends with the process, too."""
    path = paths.run / "lock"
    _refuse_links(path, paths.log, paths.actions)
    try:
        opened = path.open("a+", encoding="utf-8")
    except OSError as fault:
        raise disk_fault(f"{path} could not be opened", fault) from fault
    with opened as file:
        try:
            is_ours = try_lock(file.fileno())
        except OSError as fault:
            raise disk_fault(f"{path} could not be locked", fault) from fault
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
            raise disk_fault(f"{paths.path} could not be put in order", fault) from fault
        try:
            yield
        finally:
            with suppress(OSError):  # then the checksums stay marked as open
                end_writing(paths.path, before)
            with suppress(OSError):  # a disk that is read-only by now; the lock itself is let go
                file.truncate(0)


def _refuse_links(*candidates: Path) -> None:
    """Raise StoreError where a file that is written in its place is another's. Folders may lie on
    another disk; files that lead elsewhere stand in collections that strangers packed."""
    for path in candidates:
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link and is not written to; remove it")


def delete_checkpoints(paths: CollectionPaths) -> None:
    """What a backup that was killed left. For who holds the lock."""
    for folder in paths.run.glob(f"{CHECKPOINTS}*"):
        shutil.rmtree(folder, ignore_errors=True)


def undo_half_swaps(paths: CollectionPaths) -> None:
    """What a killed `rebuild` left: where it died between its two renames, the old part comes back,
    and nothing else stays. So does nothing of a list of cookies that was being written. For who
    holds the lock."""
    for part in (paths.state, paths.graph, paths.index):
        old = part.with_name(part.name + ".old")
        if old.exists() and not part.exists():
            old.rename(part)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(part.with_name(part.name + ".new"), ignore_errors=True)
    paths.new_cookies.unlink(missing_ok=True)


def is_in_use(paths: CollectionPaths) -> bool:
    """Whether somebody holds the collection for writing."""
    try:
        with (paths.run / "lock").open("rb") as file:  # who only looks makes no file
            return not try_lock(file.fileno())
    except OSError:
        return False


def _holder(text: str) -> str:
    try:
        return f"process {json.loads(text)['pid']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
