"""Everything derived, made again from archive and log.

    archive the manifest of the archive and the CDXJ files, from the WARC files
    graph   the parts of links and the CDXJ files, from the archive alone
    index   the words of pages, from the archive; which capture counts, the state says
    state   the page table (`rebuild_state.py`), from archive and log

The new one is built beside the old and takes its place by renaming, so a kill leaves one or the
other; a rebuild that fails deletes what it has built. Pages are read under a guard
(`guarded_reader.py`): one that cannot be read is named, and the others are read. Of an archive that
is not whole nothing is made, unless the operator says that the rest will do
(`rebuild_archive.py`).

What the crawl was told (seeds, settings, salt) comes from the old state, or, where that cannot be
read, from archive and log (`operator_inputs.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
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
from gossamer.node.link_files import LinkFiles
from gossamer.settings import with_values
from gossamer.upkeep.rebuild_archive import find_loss, finish_archive, give_up, rebuild_archive
from gossamer.upkeep.rebuild_index import rebuild_index
from gossamer.upkeep.rebuild_state import fill_state
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.guarded_reader import Guard, UnreadPage, guarding
from gossamer.workers.worker import LinkGatherer

PARTS: Final = ("archive", "graph", "index", "state", "all")
_SHOWN: Final = 20  # pages that could not be read

Tell = Callable[[str], None]


def rebuild(
    paths: CollectionPaths, what: str, clock: Clock, tell: Tell, *, without_lost: bool = False
) -> None:
    """Make one of `PARTS` again; what the crawl left out is no part of `all`.

    `tell` is told which pages could not be read and, `without_lost`, what of the archive is given
    up. Raises NoCollection, CollectionInUse, StoreError where files of the archive are lost or
    it is not known what was forgotten, CorruptFile, DiskFault; then what was built is deleted.
    """
    if what not in PARTS:
        raise UsageError(f"{what!r} cannot be rebuilt; there are {', '.join(PARTS[:-1])} and all")
    if without_lost and what != "all":
        raise UsageError("--without-lost goes with `rebuild all`: every part tells of what is lost")
    is_empty = not any(paths.archive.glob("*.warc.gz"))
    if is_empty and not read_manifest(paths.archive).files:
        raise NoCollection(paths.path)
    paths.run.mkdir(exist_ok=True)
    with locked(paths):
        try:
            undo_half_swaps(paths)
            mend_forgotten(paths.takedowns, clock.wall_us())
            told = _told(paths, what, clock, tell, without_lost=without_lost)
            with guarding(paths.run, "rebuild", clock) as guard:
                _rebuild(paths, what, told, guard, clock, tell)
                _tell_unread(guard.unread, tell)
            finish_archive(paths.archive, told)
            _wrap(paths.actions, tell)
            note_action(
                paths.actions, clock.wall_us(), "rebuild", what=what, unread=len(guard.unread)
            )
        except BaseException as error:
            with suppress(OSError):
                undo_half_swaps(paths)
            if isinstance(error, OSError):
                raise disk_fault(f"{what} of {paths.path} could not be made", error) from error
            raise


def _told(
    paths: CollectionPaths, what: str, clock: Clock, tell: Tell, *, without_lost: bool
) -> OperatorInputs:
    """What the crawl was told, when the archive is known to be whole, or is made so."""
    told = read_operator_inputs(paths)
    if not told.is_from_state and what in ("graph", "index"):
        open_to_read(paths).close()  # says what is wrong with the state
        raise StoreError(f"{paths.state} is damaged; make it again with `gossamer rebuild state`")
    if not told.is_from_state:
        tell("the state cannot be read: settings, seeds and salt come from archive and log")
    if what == "archive":
        return told
    loss = find_loss(paths.archive, told, tell)
    if loss and not without_lost:
        raise loss.refusal()
    if loss:
        give_up(paths.archive, loss, told, clock, tell)
    return told


def _rebuild(
    paths: CollectionPaths, what: str, told: OperatorInputs, guard: Guard, clock: Clock, tell: Tell
) -> None:
    if what == "archive" or (what == "all" and not told.settings.node.graph):
        rebuild_archive(paths.archive, told, tell)
    if what == "graph" or (what == "all" and told.settings.node.graph):
        _rebuild_graph(paths, told, guard, clock, tell)
    if what in ("state", "all"):
        _rebuild_state(paths, told, guard, tell, is_all=what == "all")
    if what == "index" or (what == "all" and told.settings.node.index):
        _rebuild_index(paths, told, guard, clock, tell)


def _wrap(path: Path, tell: Tell) -> None:
    if count := wrap_unreadable(path):
        lines = f"{count} lines" if count > 1 else "a line"
        tell(f"{lines} of {path} cannot be read; what is left is kept, and is judged again")


def _tell_unread(unread: Sequence[UnreadPage], tell: Tell) -> None:
    for page in unread[:_SHOWN]:
        tell(f"{page.url} could not be read ({page.why}); it is in the archive")
    if len(unread) > _SHOWN:
        tell(f"{len(unread) - _SHOWN} more pages could not be read; `gossamer verify` names them")


def _swap(part: Path) -> None:
    new, old = part.with_name(part.name + ".new"), part.with_name(part.name + ".old")
    if part.exists():
        part.rename(old)
    new.rename(part)
    sync_folder(part.parent)
    shutil.rmtree(old, ignore_errors=True)


# -- the graph


def _rebuild_graph(
    paths: CollectionPaths, told: OperatorInputs, guard: Guard, clock: Clock, tell: Tell
) -> None:
    new = paths.graph.with_name("graph.new")
    new.mkdir()
    forgotten = read_forgotten(paths.takedowns)
    settings = with_values(told.settings, {"node.graph": True})  # who asks wants them now
    reader = guard.reader(build_processor(settings, Keys(told.salt), forgotten))
    gatherer = LinkGatherer(new, f"{clock.wall_us() // 1000:x}-r", settings.node, clock)
    with closing(LinkFiles(new, clock)) as book:
        for path in sorted(paths.archive.glob("*.warc.gz")):
            tell(f"links of {path.name}")
            for exchange in iter_exchanges(path):
                gatherer.add(reader.read_exchange(exchange))
                if gatherer.is_due and (part := gatherer.write_now()) is not None:
                    book.note(part)
            if (part := gatherer.write_now()) is not None:
                book.note(part)
            book.name(book.take())
            write_cdxj(path)
        book.finish()
    if not (new / manifests.NAME).exists():
        raise StoreError(f"{paths.archive} holds no exchange of ours; nothing was changed")
    _swap(paths.graph)
    tell("ranks")
    compute(paths.graph, clock)


# -- the index


def _rebuild_index(
    paths: CollectionPaths, told: OperatorInputs, guard: Guard, clock: Clock, tell: Tell
) -> None:
    store = open_to_write(paths, told.settings.frontier.memory_mb)
    try:
        rebuild_index(paths, store, told.settings, told.salt, guard, clock, tell)
    finally:
        store.close()
    _swap(paths.index)


# -- the state


def _rebuild_state(
    paths: CollectionPaths, told: OperatorInputs, guard: Guard, tell: Tell, *, is_all: bool
) -> None:
    store = RocksStore.open(paths.state.with_name("state.new"), told.settings.frontier.memory_mb)
    try:
        if any(unreadable_lines(paths.log)):
            _wrap(paths.log, tell)
        is_clean = is_all or _reach_the_end(paths, told)
        fill_state(paths, store, told, guard, tell, is_clean=is_clean)
    finally:
        store.close()
    _swap(paths.state)


def _reach_the_end(paths: CollectionPaths, told: OperatorInputs) -> bool:
    """Whether index and graph cover the whole archive; else the next crawl has to bring them up."""
    reached = []
    try:
        if told.settings.node.graph:
            reached.append(manifests.read(paths.graph).covered)
        if told.settings.node.index:
            reached.append(covered(paths.index))
    except (CorruptFile, StoreError):
        return False
    ends = {path.name: path.stat().st_size for path in paths.archive.glob("*.warc.gz")}
    return all(one.get(name, 0) >= end for one in reached for name, end in ends.items())
