"""Fill the tables of duplicates again, when the mode has changed.

A collection of an earlier version has no such tables either. For the mode `exact` the rows of the
state say enough. For `near` and `html95` every page is read from the archive, which takes about a
millisecond a page. A start that was killed meanwhile begins again.
"""

from __future__ import annotations

from typing import Final

from gossamer.archive.reader import read_exchange
from gossamer.errors import CorruptFile
from gossamer.frontier.duplicates.pointers import Fetch
from gossamer.frontier.meta_keys import COPIES_KEY, DUPLICATES_KEY, JUDGED_KEY
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.node.parts import Parts

_AT_ONCE: Final = 5_000  # rows in one commit


def refill(parts: Parts, store: Store) -> None:
    """Make the tables by the mode of this run, if they were made by another."""
    groups = parts.frontier.duplicates
    if groups.is_current:
        return
    parts.committer.commit_now()
    _clear(parts, store)
    parts.frontier.counts.duplicates = 0
    groups.judged_us = 0
    for count, (key, packed) in enumerate(walk(store, StateTable.URL), 1):
        row = UrlRow.decode(packed)
        if row.standing == Standing.FETCHED and row.status == 200:
            _join(parts, key, row)
        if count % _AT_ONCE == 0:
            parts.committer.commit_now()
    groups.set_made()
    parts.committer.commit_now()


def _clear(parts: Parts, store: Store) -> None:
    pending = parts.frontier.pending
    pending.delete(StateTable.META, DUPLICATES_KEY)
    pending.delete(StateTable.META, JUDGED_KEY)
    for key, _ in walk(store, StateTable.META, COPIES_KEY, COPIES_KEY + b"\xff"):
        pending.delete(StateTable.META, key)
    for table in (StateTable.SKETCH, StateTable.DUPLICATE):
        for count, (key, _) in enumerate(walk(store, table), 1):
            pending.delete(table, key)
            if count % _AT_ONCE == 0:
                parts.committer.commit_now()
    parts.committer.commit_now()


def _join(parts: Parts, key: bytes, row: UrlRow) -> None:
    is_read = parts.policies.duplicates.mode in ("near", "html95")
    sketch = _sketch(parts, key, row) if is_read else b""
    parts.frontier.duplicates.join_as(Fetch(row.body_us or row.at_us, key), row, sketch)


def _sketch(parts: Parts, key: bytes, row: UrlRow) -> bytes:
    """The sketch of an archived page; empty for one that cannot be read."""
    capture = parts.frontier.capture_at(key, row.body_us or row.at_us)
    if capture is None:
        return b""
    try:
        exchange = read_exchange(parts.paths.archive / capture.file, capture.offset)
    except (CorruptFile, FileNotFoundError):
        return b""  # `verify` reports it
    return parts.reread(exchange.lease, exchange.answer, exchange.stored).report.sketch
