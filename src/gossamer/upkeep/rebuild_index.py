"""Rebuild the index from the archive. The state says which capture of a URL is current."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gossamer.archive.reader import Exchange, iter_exchanges
from gossamer.base.clock import Clock
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.forgotten import read_forgotten
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable, Store
from gossamer.node.indexing import IndexFeed
from gossamer.records import Report
from gossamer.settings import Settings
from gossamer.urls.keys import Keys
from gossamer.workers.build_worker import build_processor
from gossamer.workers.guarded_reader import CrashGuard

_WRITE_EVERY: Final = 500  # exchanges


def rebuild_index(
    paths: CollectionPaths,
    store: Store,
    settings: Settings,
    salt: bytes,
    guard: CrashGuard,
    clock: Clock,
    notify: Callable[[str], None],
) -> Path:
    """Build a new index beside the old one; return its folder. Raises CorruptFile, DiskFault."""
    new = paths.index.with_name("index.new")
    node = replace(settings.node, index=True)
    forgotten = read_forgotten(paths.takedowns)
    processor = build_processor(replace(settings, node=node), Keys(salt), forgotten)
    reader = guard.reader(processor)
    feed = IndexFeed(new, clock, settings.node.index_every_s)
    try:
        warc_paths = sorted(paths.archive.glob("*.warc.gz"))
        for count, exchange in enumerate(in_order(warc_paths), 1):
            processed = reader.read_exchange(exchange)
            row = _current_row(store, processed.report)
            changed_us = row.changed_us if row is not None else 0
            feed.take(processed, is_current=row is not None, changed_us=changed_us)
            if count % _WRITE_EVERY == 0:
                feed.write(feed.take_fresh())
                notify(f"{count} exchanges read")
        feed.write(feed.take_fresh(), is_last=True)
        feed.finish()
    finally:
        feed.close()
    return new


def ended_us(exchange: Exchange) -> float:
    """When an exchange ended: the order in which the crawl processed them."""
    return exchange.answer.at_us + exchange.answer.took_s * 1e6


def in_order(warc_paths: Sequence[Path]) -> Iterator[Exchange]:
    """Yield the exchanges of all files in the order in which they ended.

    A file is opened when its first exchange is due: a crawl that was restarted often has more
    files than a process may open. Raises CorruptFile.
    """
    starts = sorted((start, at) for at, path in enumerate(warc_paths) for start in _first_us(path))
    waiting: list[tuple[float, int, Exchange, Iterator[Exchange]]] = []
    while starts or waiting:
        while starts and (not waiting or starts[0][0] <= waiting[0][0]):
            start, at = starts.pop(0)
            exchanges = iter_exchanges(warc_paths[at])
            heapq.heappush(waiting, (start, at, next(exchanges), exchanges))
        _, at, exchange, exchanges = heapq.heappop(waiting)
        yield exchange
        if (following := next(exchanges, None)) is not None:
            heapq.heappush(waiting, (ended_us(following), at, following, exchanges))


def _first_us(path: Path) -> Iterator[float]:
    for exchange in iter_exchanges(path):
        yield ended_us(exchange)
        return


def _current_row(store: Store, report: Report) -> UrlRow | None:
    """The row of a URL whose newest result this is."""
    packed = store.find(StateTable.URL, report.lease.key)
    if packed is None:
        return None
    row = UrlRow.decode(packed)
    return row if row.is_said_by(report) else None
