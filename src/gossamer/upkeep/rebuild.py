"""Rebuild derived parts from archive and log.

    archive the manifest of the archive and the CDXJ files, from the WARC files
    graph   the parts of links and the CDXJ files, from the archive alone
    index   the words of pages, from the archive; the state says which capture is current
    state   the page table (`rebuild_state.py`), from archive and log

The new part is built beside the old one and replaces it by a rename, so a kill leaves one or the
other. A rebuild that fails deletes its output. A guard reads the pages (`guarded_reader.py`): a
page that cannot be read is reported, and the others are read. A damaged archive is refused unless
the operator accepts the loss (`rebuild_archive.py`).

Seeds, settings and salt come from the old state or, if it cannot be read, from archive and log
(`operator_inputs.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import write_cdxj
from gossamer.archive.manifest import read_manifest
from gossamer.archive.reader import iter_exchanges
from gossamer.archive.writer import disk_fault
from gossamer.base.clock import Clock
from gossamer.base.files import sync_folder
from gossamer.collection.crawl_log import note_action
from gossamer.collection.directory import (
    CollectionPaths,
    locked,
    open_to_read,
    open_to_write,
    undo_half_swaps,
)
from gossamer.collection.forgotten import mend_forgotten, read_forgotten
from gossamer.collection.log_lines import unreadable_lines, wrap_unreadable
from gossamer.collection.operator_inputs import OperatorInputs, read_operator_inputs
from gossamer.errors import CorruptFile, NoCollection, StoreError, UsageError
from gossamer.frontier.rocks import RocksStore
from gossamer.graph import manifest as manifests
from gossamer.graph.ranks.ranks import compute
from gossamer.index.reader import covered
from gossamer.node.keeping.left_pages import LeftPages
from gossamer.node.link_files import LinkFiles
from gossamer.settings import with_values
from gossamer.upkeep.progress import Notify
from gossamer.upkeep.rebuild_archive import find_loss, finish_archive, give_up, rebuild_archive
from gossamer.upkeep.rebuild_index import rebuild_index
from gossamer.upkeep.rebuild_state import evictions, fill_state
from gossamer.upkeep.retention.carry_links import earlier_links
from gossamer.upkeep.retention.carry_over import pruned_state
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.guarded_reader import CrashGuard, UnreadPage, guarding
from gossamer.workers.worker import LinkGatherer

PARTS: Final = ("archive", "graph", "index", "state", "all")
_MAX_LISTED: Final = 20  # pages that could not be read


def rebuild(
    paths: CollectionPaths, what: str, clock: Clock, notify: Notify, *, without_lost: bool = False
) -> None:
    """Rebuild one of `PARTS`; `all` skips parts that the crawl did not make.

    `notify` receives the pages that could not be read and, with `without_lost`, the lost parts of
    the archive. Raises NoCollection, CollectionInUse, StoreError if archive files or the list of
    takedowns are lost, CorruptFile, DiskFault; after an error the output is deleted.
    """
    if what not in PARTS:
        raise UsageError(f"{what!r} cannot be rebuilt; use {', '.join(PARTS[:-1])} or all")
    if without_lost and what != "all":
        raise UsageError("--without-lost works only with `rebuild all`; rebuild all parts")
    is_empty = not any(paths.archive.glob("*.warc.gz"))
    if is_empty and not read_manifest(paths.archive).files:
        raise NoCollection(paths.path)
    paths.run.mkdir(exist_ok=True)
    with locked(paths):
        try:
            undo_half_swaps(paths)
            mend_forgotten(paths.takedowns, clock.wall_us())
            inputs = _checked_inputs(paths, what, clock, notify, without_lost=without_lost)
            with guarding(paths.run, "rebuild", clock) as guard:
                _rebuild(paths, what, inputs, guard, clock, notify)
                _tell_unread(guard.unread, notify)
            finish_archive(paths.archive, inputs)
            _wrap(paths.actions, notify)
            note_action(
                paths.actions, clock.wall_us(), "rebuild", what=what, unread=len(guard.unread)
            )
        except BaseException as error:
            with suppress(OSError):
                undo_half_swaps(paths)
            if isinstance(error, OSError):
                raise disk_fault(f"cannot rebuild {what} of {paths.path}", error) from error
            raise


def _checked_inputs(
    paths: CollectionPaths, what: str, clock: Clock, notify: Notify, *, without_lost: bool
) -> OperatorInputs:
    """Return the operator's inputs, after the archive is checked or repaired."""
    inputs = read_operator_inputs(paths)
    if not inputs.is_from_state and what in ("graph", "index"):
        open_to_read(paths).close()  # raises if the state is damaged
        raise StoreError(f"{paths.state} is damaged; rebuild it with `gossamer rebuild state`")
    if not inputs.is_from_state:
        notify("the state cannot be read: using settings, seeds and salt from archive and log")
    if what == "archive":
        return inputs
    loss = find_loss(paths.archive, inputs, notify)
    if loss and not without_lost:
        raise loss.refusal()
    if loss:
        give_up(paths.archive, loss, inputs, clock, notify)
    return inputs


def _rebuild(
    paths: CollectionPaths,
    what: str,
    inputs: OperatorInputs,
    guard: CrashGuard,
    clock: Clock,
    notify: Notify,
) -> None:
    if what == "archive" or (what == "all" and not inputs.settings.node.graph):
        rebuild_archive(paths.archive, inputs, notify)
    if what == "graph" or (what == "all" and inputs.settings.node.graph):
        _rebuild_graph(paths, inputs, guard, clock, notify)
    if what in ("state", "all"):
        _rebuild_state(paths, inputs, guard, notify, is_all=what == "all")
    if what == "index" or (what == "all" and inputs.settings.node.index):
        _rebuild_index(paths, inputs, guard, clock, notify)


def _wrap(path: Path, notify: Notify) -> None:
    if count := wrap_unreadable(path):
        lines = f"{count} lines" if count > 1 else "1 line"
        notify(f"cannot read {lines} of {path}; keeping the others and judging the URLs again")


def _tell_unread(unread: Sequence[UnreadPage], notify: Notify) -> None:
    for page in unread[:_MAX_LISTED]:
        notify(f"cannot read {page.url} ({page.why}); it stays in the archive")
    if len(unread) > _MAX_LISTED:
        notify(
            f"{len(unread) - _MAX_LISTED} more pages cannot be read; `gossamer verify` lists them"
        )


def _swap(part: Path) -> None:
    new, old = part.with_name(part.name + ".new"), part.with_name(part.name + ".old")
    if part.exists():
        part.rename(old)
    new.rename(part)
    sync_folder(part.parent)
    shutil.rmtree(old, ignore_errors=True)


# -- the graph


def _rebuild_graph(
    paths: CollectionPaths, inputs: OperatorInputs, guard: CrashGuard, clock: Clock, notify: Notify
) -> None:
    new = paths.graph.with_name("graph.new")
    new.mkdir()
    forgotten = read_forgotten(paths.takedowns)
    settings = with_values(inputs.settings, {"node.graph": True})  # explicitly requested
    reader = guard.reader(build_processor(settings, Keys(inputs.salt), forgotten))
    gatherer = LinkGatherer(new, f"{clock.wall_us() // 1000:x}-r", settings.node, clock)
    with closing(LinkFiles(new, clock)) as book:
        for path in sorted(paths.archive.glob("*.warc.gz")):
            notify(f"reading links of {path.name}")
            for exchange in iter_exchanges(path):
                gatherer.add(reader.read_exchange(exchange))
                if gatherer.is_due and (part := gatherer.write_now()) is not None:
                    book.note(part)
            if (part := gatherer.write_now()) is not None:
                book.note(part)
            book.name(book.take())
            write_cdxj(path)
        _keep_earlier_links(paths, new, book, Keys(inputs.salt))
        _leave_out(paths, new, book, clock)
        book.finish()
    if not (new / manifests.NAME).exists():
        raise StoreError(
            f"{paths.archive} contains no archived responses, so there is nothing to rebuild "
            "from; nothing was changed"
        )
    _swap(paths.graph)
    notify("ranks")
    compute(paths.graph, clock)


def _keep_earlier_links(paths: CollectionPaths, new: Path, book: LinkFiles, keys: Keys) -> None:
    """Add the days of links in captures that a retention rule has deleted."""
    forgotten = read_forgotten(paths.takedowns)
    with pruned_state(paths) as state:
        if state is None:
            return
        parts = earlier_links(paths.graph, new, state, keys, lambda url: not forgotten.covers(url))
        for part in parts:
            book.note(part)
            book.name(book.take())


def _leave_out(paths: CollectionPaths, new: Path, book: LinkFiles, clock: Clock) -> None:
    """Pages that left a collection of limited size, as the log says, have no links."""
    forgotten = read_forgotten(paths.takedowns)
    left = LeftPages(new, book, clock, 0.0)
    for url, at_us in evictions(paths.log):
        if not forgotten.covers(url):
            left.add(url, at_us)
    left.write(is_last=True)
    book.name(book.take())


# -- the index


def _rebuild_index(
    paths: CollectionPaths, inputs: OperatorInputs, guard: CrashGuard, clock: Clock, notify: Notify
) -> None:
    store = open_to_write(paths, inputs.settings.frontier.memory_mb)
    try:
        rebuild_index(paths, store, inputs.settings, inputs.salt, guard, clock, notify)
    finally:
        store.close()
    _swap(paths.index)


# -- the state


def _rebuild_state(
    paths: CollectionPaths,
    inputs: OperatorInputs,
    guard: CrashGuard,
    notify: Notify,
    *,
    is_all: bool,
) -> None:
    store = RocksStore.open(paths.state.with_name("state.new"), inputs.settings.frontier.memory_mb)
    try:
        if any(unreadable_lines(paths.log)):
            _wrap(paths.log, notify)
        is_clean = is_all or _reach_the_end(paths, inputs)
        fill_state(paths, store, inputs, guard, notify, is_clean=is_clean)
    finally:
        store.close()
    _swap(paths.state)


def _reach_the_end(paths: CollectionPaths, inputs: OperatorInputs) -> bool:
    """Whether index and graph cover the whole archive; else the next crawl must update them."""
    reached = []
    try:
        if inputs.settings.node.graph:
            reached.append(manifests.read(paths.graph).covered)
        if inputs.settings.node.index:
            reached.append(covered(paths.index))
    except (CorruptFile, StoreError):
        return False
    ends = {path.name: path.stat().st_size for path in paths.archive.glob("*.warc.gz")}
    return all(one.get(name, 0) >= end for one in reached for name, end in ends.items())
