"""Rebuild links and index after a takedown, in one pass over the new archive.

Links and index entries combine data of several pages: anchor texts of many pages are in one entry,
and the words of a deleted page cannot be separated from those of another one. So both are rebuilt
from the new archive, as `rebuild.py` does. A part that did not exist before is not created.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

from gossamer.base.clock import Clock
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.forgotten import read_forgotten
from gossamer.collection.staging import NEW
from gossamer.frontier.meta_keys import PRUNED_KEY
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable, Store
from gossamer.graph.manifest import NAME as MANIFEST
from gossamer.graph.ranks.ranks import compute
from gossamer.graph.ranks.store import NAME as RANKS
from gossamer.index.folder import find_current
from gossamer.node.indexing import IndexFeed
from gossamer.node.keeping.left_pages import LeftPages
from gossamer.node.link_files import LinkFiles
from gossamer.settings import Settings
from gossamer.upkeep.forget_state import StateCopy
from gossamer.upkeep.progress import Notify
from gossamer.upkeep.rebuild_index import in_order
from gossamer.upkeep.retention.carry_links import earlier_links
from gossamer.urls.forgotten import Forgotten
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.guarded_reader import guarding_copy
from gossamer.workers.process import ProcessedPage
from gossamer.workers.worker import LinkGatherer

_WRITE_EVERY: Final = 500  # exchanges


def make_derived(
    old: CollectionPaths,
    new: CollectionPaths,
    settings: Settings,
    keys: Keys,
    copy: StateCopy,
    clock: Clock,
    notify: Notify,
) -> None:
    """Read the new archive, and write to `new` the parts that `old` had. Page rows get their new
    link counts. The new list of takedowns applies. Raises CorruptFile, DiskFault."""
    has_graph, has_index = (old.graph / MANIFEST).exists(), find_current(old.index) is not None
    node = replace(settings.node, graph=has_graph, index=has_index)
    processor = build_processor(replace(settings, node=node), keys, read_forgotten(new.takedowns))
    new.graph.mkdir(exist_ok=True)
    gatherer = LinkGatherer(new.graph, f"{clock.wall_us() // 1000:x}-f", node, clock)
    paths = sorted(new.archive.glob("*.warc.gz"))
    exchanges = in_order(paths)
    with (
        guarding_copy(old.run, "forget", clock, NEW, copy.moved) as guard,
        closing(LinkFiles(new.graph, clock)) as book,
        _index(new, clock, settings) if has_index else _no_index() as feed,
    ):
        reader = guard.reader(processor)
        for count, exchange in enumerate(exchanges, 1):
            processed = reader.read_exchange(exchange)
            row = _current_row(copy.store, processed)
            if row is not None and row.out_links != processed.report.out_links:
                copy.amend(processed.report.lease.key, row, processed.report.out_links)
            gatherer.add(processed)
            if gatherer.is_due:
                _name(book, gatherer)
            if feed is not None:
                changed_us = row.changed_us if row is not None else 0
                feed.take(processed, is_current=row is not None, changed_us=changed_us)
            if count % _WRITE_EVERY == 0:
                notify(f"{count} exchanges read")
                if feed is not None:
                    feed.write(feed.take_fresh())
        _name(book, gatherer)
        if has_graph:
            _keep_earlier_links(old, new, copy, keys, book)
            _leave_out(new, copy, book, clock)
        book.finish()
        if feed is not None:
            feed.write(feed.take_fresh(), is_last=True)
            feed.finish()
    if (old.graph / RANKS).exists() and (new.graph / MANIFEST).exists():
        notify("ranks")
        compute(new.graph, clock)


def _keep_earlier_links(
    old: CollectionPaths, new: CollectionPaths, copy: StateCopy, keys: Keys, book: LinkFiles
) -> None:
    """Add the days of links in captures that a retention rule has deleted."""
    if copy.store.find(StateTable.META, PRUNED_KEY) is None:
        return
    forgotten = read_forgotten(new.takedowns)
    is_left = partial(_is_left, forgotten)
    for part in earlier_links(old.graph, new.graph, copy.store, keys, is_left):
        book.note(part)
        book.name(book.take())


def _leave_out(new: CollectionPaths, copy: StateCopy, book: LinkFiles, clock: Clock) -> None:
    """Pages that left a collection of limited size have no links."""
    left = LeftPages(new.graph, book, clock, 0.0)
    left.add_stored(copy.store)
    left.write(is_last=True)
    book.name(book.take())


def _is_left(forgotten: Forgotten, url: str) -> bool:
    return not forgotten.covers(url)


def _name(book: LinkFiles, gatherer: LinkGatherer) -> None:
    if (part := gatherer.write_now()) is not None:
        book.note(part)
        book.name(book.take())


@contextmanager
def _index(new: CollectionPaths, clock: Clock, settings: Settings) -> Iterator[IndexFeed | None]:
    feed = IndexFeed(new.index, clock, settings.node.index_every_s)
    try:
        yield feed
    finally:
        feed.close()


@contextmanager
def _no_index() -> Iterator[IndexFeed | None]:
    yield None


def _current_row(store: Store, processed: ProcessedPage) -> UrlRow | None:
    """Return the row whose current capture is this exchange, if there is one."""
    report = processed.report
    packed = store.find(StateTable.URL, report.lease.key)
    row = UrlRow.decode(packed) if packed is not None else None
    return row if row is not None and row.is_said_by(report) else None
