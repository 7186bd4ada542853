"""Takedown: delete a URL, a host or a site from all parts of a collection.

Theory of operation. All parts are rewritten in staging, without the deleted pages. Then they
replace the old parts together (`staging.py`). So a kill at any moment leaves the old or the new
collection, and the next process cleans up:

    archive   exchanges of the deleted pages go, with request and metadata. Exchanges that name
              such a page as their source lose that line. Exchanges that repeat its body get the
              body. A file without such pages is linked, not copied
    state     rows are copied into a new database (`forget_state.py`)
    graph, index, ranks     are rebuilt from the new archive (`forget_derived.py`)
    log, audit log, cookies are copied line by line (`forget_texts.py`)

Two things stay. Documents of others may mention the page in their text and links in the archive.
A digest of the URL stays (`urls/forgotten.py`), in three places (`forgotten.py`), so that it is
never requested again. A takedown takes as long as a rebuild and temporarily needs as much disk
space as state, graph and index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from functools import partial

from gossamer.archive.reader import iter_exchanges
from gossamer.archive.rewrite import Moved
from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.base.plurals import counted
from gossamer.collection.directory import (
    CollectionPaths,
    delete_checkpoints,
    locked,
    open_to_read,
    open_to_write,
    undo_half_swaps,
)
from gossamer.collection.forgotten import note_allowed, note_forgotten, read_forgotten
from gossamer.collection.replacing import delete_replaced
from gossamer.collection.staging import begin_staging, make_ready, settle
from gossamer.collection.stored_settings import stored_settings
from gossamer.errors import NotKnown
from gossamer.frontier.meta_keys import CLEAN_KEY, SALT_KEY
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.node.build import open_node
from gossamer.settings import Settings
from gossamer.upkeep.forget_archive import ArchiveCopy, is_of
from gossamer.upkeep.forget_derived import make_derived
from gossamer.upkeep.forget_names import Cover, form_of, read_names
from gossamer.upkeep.forget_state import StateCopy
from gossamer.upkeep.forget_texts import act_line, cookie_line, copy_lines, log_line
from gossamer.upkeep.progress import Notify
from gossamer.urls.keys import Keys
from gossamer.workers.crash_marker import move_deaths
from gossamer.workers.guarded_reader import new_place


@dataclass(frozen=True, slots=True)
class TakedownSize:
    """How much a takedown deletes."""

    urls: int = 0
    captures: int = 0
    exchanges: int = 0  # of the archive: robots.txt, sitemaps and failures are among them
    files: int = 0  # of the archive, that hold them
    log_lines: int = 0

    def __bool__(self) -> bool:
        return any(asdict(self).values())

    def as_json(self) -> dict[str, object]:
        return {"schema": 1, **asdict(self)}

    @property
    def text(self) -> str:
        """Return the counts as text for people."""
        files = f"{counted(self.files, 'archive file')}"
        parts = (
            counted(self.urls, "URL"),
            counted(self.captures, "capture"),
            f"{counted(self.exchanges, 'exchange')} in {files}",
            f"{counted(self.log_lines, 'line')} of the log",
        )
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class _TakedownInputs:
    """What the state stores about the collection itself."""

    settings: Settings
    keys: Keys
    cover: Cover


def forget(
    paths: CollectionPaths,
    texts: Sequence[str],
    clock: Clock,
    notify: Notify,
    *,
    is_site: bool = False,
) -> TakedownSize:
    """Delete what `texts` name (`forget_names.py`). The deletion is complete on return.

    The counts are zero if all of it was deleted before.
    Raises UsageError, NotKnown, NoCollection, CollectionInUse, CorruptFile, StoreError, DiskFault;
    after an error nothing has changed.
    """
    _put_in_order(paths, clock, notify)
    with locked(paths):
        delete_checkpoints(paths)
        try:
            undo_half_swaps(paths)
            delete_replaced(paths.archive, float("inf"))  # they may hold what is to be deleted
            sums = _forget(paths, texts, clock, notify, is_site=is_site)
            settle(paths.path)
        except BaseException as error:
            with suppress(OSError):
                settle(paths.path)  # frees the space on a full disk
            if isinstance(error, OSError):
                raise disk_fault(f"cannot rewrite {paths.path}", error) from error
            raise
    return sums


def survey(
    paths: CollectionPaths,
    texts: Sequence[str],
    clock: Clock,
    notify: Notify,
    *,
    is_site: bool = False,
) -> TakedownSize:
    """Return how much `forget` would delete. Raises like `forget`."""
    _put_in_order(paths, clock, notify)
    with locked(paths):
        store = open_to_write(paths, 16)
        try:
            inputs = _inputs_of(store, texts, is_site=is_site)
            return _known(paths, texts, _survey(paths, store, inputs.cover))
        finally:
            store.close()


def allow(
    paths: CollectionPaths, texts: Sequence[str], clock: Clock, *, is_site: bool = False
) -> int:
    """Allow crawling of deleted names again; return their number. Raises NotKnown."""
    if not paths.exists:
        raise paths.missing()
    store = open_to_read(paths)
    try:
        named = read_names(texts, form_of(stored_settings(store) or Settings()), is_site=is_site)
    finally:
        store.close()
    with locked(paths):
        forgotten = read_forgotten(paths.takedowns)
        found = [one for one in named if forgotten.has(one)]
        if not found:
            raise NotKnown(f"{', '.join(texts)} is not in the list of takedowns")
        note_allowed(paths.takedowns, clock.wall_us(), found)
    return len(found)


def _put_in_order(paths: CollectionPaths, clock: Clock, notify: Notify) -> None:
    """Recover state and archive if the last crawl was killed."""
    if not paths.exists:
        raise paths.missing()
    paths.run.mkdir(exist_ok=True)
    if _is_unclean(paths):
        notify("the last crawl was interrupted: reading what it left")
        asyncio.run(_recover(paths, clock))


def _is_unclean(paths: CollectionPaths) -> bool:
    with locked(paths):
        store = open_to_write(paths, 16)
        try:
            return store.find(StateTable.META, CLEAN_KEY) == b"0"
        finally:
            store.close()


async def _recover(paths: CollectionPaths, clock: Clock) -> None:
    """Run the recovery of a start, without requests to any server."""
    with ExitStack() as stack:
        opened = open_node(
            paths, lambda stored: stored or Settings(), (), clock, stack, is_import=True
        )
        await opened.node.aclose()


def _inputs_of(store: Store, texts: Sequence[str], *, is_site: bool) -> _TakedownInputs:
    settings = stored_settings(store) or Settings()
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    named = read_names(texts, form_of(settings), is_site=is_site)
    cover = Cover.of(named, settings, keys, store)
    return _TakedownInputs(settings, keys, cover)


# -- how much it is


def _survey(paths: CollectionPaths, store: Store, cover: Cover) -> TakedownSize:
    exchanges = files = lines = 0
    for path in sorted(paths.archive.glob("*.warc.gz")):
        found = sum(1 for exchange in iter_exchanges(path) if is_of(cover, exchange))
        exchanges += found
        files += bool(found)
    if paths.log.exists():
        rewritten = log_line(cover)
        with paths.log.open("rb") as log:
            lines = sum(1 for line in log if rewritten(line) is None)
    urls = sum(1 for key, _ in walk(store, StateTable.URL) if cover.has_key(key))
    captures = sum(1 for key, _ in walk(store, StateTable.CAPTURE) if cover.has_key(key[:16]))
    return TakedownSize(urls, captures, exchanges, files, lines)


def _known(paths: CollectionPaths, texts: Sequence[str], sums: TakedownSize) -> TakedownSize:
    if not sums:
        named = ", ".join(texts)
        raise NotKnown(f"the collection in {paths.path} contains nothing of {named}")
    return sums


# -- rewriting all parts


def _forget(
    paths: CollectionPaths, texts: Sequence[str], clock: Clock, notify: Notify, *, is_site: bool
) -> TakedownSize:
    read_forgotten(paths.takedowns)  # raises before the work if the new list cannot be written
    new = CollectionPaths(begin_staging(paths.path))
    store = open_to_write(paths, 64)
    try:
        inputs = _inputs_of(store, texts, is_site=is_site)
        notify("searching the archive")
        sums = _survey(paths, store, inputs.cover)
        if not sums and _was_forgotten(paths, inputs.cover):
            return sums
        known = _known(paths, texts, sums)
        moved = _make_parts(paths, new, store, inputs, known, clock, notify)
    finally:
        store.close()
    make_ready(paths.path)
    move_deaths(paths.run, partial(new_place, moved))
    return sums


def _was_forgotten(paths: CollectionPaths, cover: Cover) -> bool:
    """Whether all of it was deleted before, perhaps by a run that was killed before its report."""
    forgotten = read_forgotten(paths.takedowns)
    return all(map(forgotten.has, cover.named))


def _make_parts(
    paths: CollectionPaths,
    new: CollectionPaths,
    old: Store,
    inputs: _TakedownInputs,
    sums: TakedownSize,
    clock: Clock,
    notify: Notify,
) -> Mapping[str, Moved]:
    """Write all parts to `new`; return where exchanges are in the new archive."""
    cover = inputs.cover
    notify("archive")
    archive = ArchiveCopy(paths, new, cover, old, inputs.keys, inputs.settings.archive.gzip_level)
    archive.run()
    copy_lines(paths.log, new.log, log_line(cover))
    copy_lines(paths.actions, new.actions, act_line(cover))
    copy_lines(paths.cookies, new.cookies, cookie_line(cover))
    note_forgotten(paths.takedowns, new.takedowns, clock.wall_us(), cover.named, **asdict(sums))
    notify("state")
    state = RocksStore.open(new.state, inputs.settings.frontier.memory_mb)
    try:
        copy = StateCopy(old, state, cover, archive.moved)
        copy.run({path.name: path.stat().st_size for path in new.archive.glob("*.warc.gz")})
        make_derived(paths, new, inputs.settings, inputs.keys, copy, clock, notify)
        copy.finish(new.log.stat().st_size if new.log.exists() else 0)
    finally:
        state.close()
    return archive.moved
