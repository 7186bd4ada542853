"""Compare pages for the mode `html95`, beside the crawl.

The sketches of fetched pages are in the table SKETCH, by the moment of the fetch. That table is the
queue: every few seconds the pages since the last time are judged in a thread, in the order of their
moments, and the next commit writes the pointers with the moment up to which pages were judged. So a
kill loses nothing, and rebuilding the state gives the same pointers.

Rows of their own (`AGAIN`) name the pages that came out of order: those that arrived later than
their moment says, and those that left because another version or outcome took their place. When a
first page leaves, the pages that point to it are judged again; when a page becomes a first page
later than others were judged, so are those that are like it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from gossamer.archive.reader import read_answer_at, read_exchange
from gossamer.duplicates.judging import DuplicateVerdict, Judge, ReadHtml, Sketched, share_numbers
from gossamer.errors import CorruptFile
from gossamer.fetch.decode import decode
from gossamer.fetch.head import Head
from gossamer.frontier.duplicates.groups import AGAIN, SKETCHED
from gossamer.frontier.duplicates.pointers import all_pointers, others_of
from gossamer.frontier.meta_keys import JUDGED_KEY
from gossamer.frontier.rows import CaptureRow, time_key, time_of
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.records import Fetched

_AT_ONCE: Final = 1_000  # pages judged in one piece
_CACHE_BYTES: Final = 32 * 2**20  # of HTML that was read
_MOST_ROUNDS: Final = 8  # of pages that are judged again because others were
_ALL: Final = 10_000_000


@dataclass(slots=True)
class Compared:
    """What one pass found, to be applied by the thread that owns the state."""

    verdicts: dict[bytes, DuplicateVerdict] = field(default_factory=dict)  # by page
    again: list[tuple[bytes, bool]] = field(default_factory=list)  # pages done, and whether there
    from_us: int = 0  # pages after this moment were judged for the first time
    judged_us: int = 0
    is_all: bool = True  # nothing more waits


class HtmlReader:
    """Reads the HTML of captures, and keeps what was read last."""

    def __init__(self, store: Store, archive: Path, max_bytes: int) -> None:
        self._store = store
        self._archive = archive
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, bytes | None] = OrderedDict()
        self._kept_bytes = 0

    def read(self, page: bytes) -> bytes | None:
        """The HTML of a page by moment and key; None if it cannot be read."""
        if page in self._kept:
            self._kept.move_to_end(page)
            return self._kept[page]
        html = self._kept[page] = self._read(page)
        self._kept_bytes += len(html or b"")
        while self._kept_bytes > _CACHE_BYTES:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1] or b"")
        return html

    def _read(self, page: bytes) -> bytes | None:
        row = self._store.find(StateTable.CAPTURE, page[8:] + page[:8])
        if row is None:
            return None
        capture = CaptureRow.decode(row)
        path = self._archive / capture.file
        try:
            return self._read_record(path, capture) or self._read_exchange(path, capture.offset)
        except (CorruptFile, OSError):
            return None  # `verify` reports it

    def _read_record(self, path: Path, capture: CaptureRow) -> bytes | None:
        """The HTML in the response record alone, which takes half the time; None if the
        record does not hold the body as it was sent: a revisit, or chunks that were imported."""
        record = read_answer_at(path, capture.offset)
        body = record.payload
        if record.type != "response" or len(body) != capture.size_bytes:
            return None
        return self._decoded(record.head, body)

    def _read_exchange(self, path: Path, offset: int) -> bytes | None:
        answer = read_exchange(path, offset).answer
        return self._decoded(answer.head, answer.body) if isinstance(answer, Fetched) else None

    def _decoded(self, head: bytes, body: bytes) -> bytes:
        coding = Head(head).first("content-encoding")
        return decode(body, coding, self._max_bytes).body if coding else body


class Comparing:
    """Judges the pages of one collection. Reads the committed state, changes nothing."""

    def __init__(self, store: Store, read: ReadHtml, at_least: float) -> None:
        """`read` gives the HTML of a page (`HtmlReader`)."""
        self._store = store
        self._judge = Judge(at_least, read)
        self._is_loaded = False

    @property
    def compared(self) -> int:
        """Pairs of pages whose HTML was compared."""
        return self._judge.compared

    def run(self, until_us: int) -> Compared:
        """Judge the pages that were fetched up to a moment, or as many as fit into one piece."""
        judged_us = judged_in(self._store)
        self._load(judged_us)
        done = Compared(from_us=judged_us, judged_us=judged_us)
        self._judge_again(done, judged_us)
        rows = self._sketched(judged_us + 1, until_us + 1, _AT_ONCE)
        for verdict in self._judge.judge(rows):
            done.verdicts[verdict.page] = verdict
        done.is_all = len(rows) < _AT_ONCE
        done.judged_us = time_of(rows[-1].page) if rows else judged_us
        return done

    def _load(self, judged_us: int) -> None:
        if self._is_loaded:
            return
        self._is_loaded = True
        pointing = {key for key, row in all_pointers(self._store) if row.mode == "html95"}
        again = {name[1:] for name, _ in walk(self._store, StateTable.SKETCH, AGAIN, _after(AGAIN))}
        rows = walk(self._store, StateTable.SKETCH, SKETCHED, SKETCHED + time_key(judged_us + 1))
        firsts = (
            Sketched(name[1:], row)
            for name, row in rows
            if name[9:] not in pointing and name[1:] not in again
        )
        for piece in _pieces(firsts, 10_000):
            self._judge.load(piece)

    # -- pages out of order

    def _judge_again(self, done: Compared, judged_us: int) -> None:
        rows = self._store.scan(StateTable.SKETCH, AGAIN, _after(AGAIN), _ALL)
        named = [name[1:] for name, _ in rows]
        there = set(self._there(named))
        done.again = [(page, page in there) for page in named]
        wanted = dict.fromkeys(page for page in named if time_of(page) <= judged_us)
        for _ in range(_MOST_ROUNDS):
            if not wanted:
                return
            new_firsts = self._judge_some(wanted, done)
            if not new_firsts:
                return
            wanted = dict.fromkeys(self._like(new_firsts, judged_us))

    def _judge_some(self, wanted: dict[bytes, None], done: Compared) -> list[Sketched]:
        """Judge these pages and those that point to them; the ones that became first pages."""
        waiting, seen = list(wanted), set(wanted)
        was_first: set[bytes] = set()
        while waiting:
            page = waiting.pop()
            if self._judge.remove(page):
                was_first.add(page)
            for other in self._pointing_to(page[8:], done):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        rows = [self._row(page) for page in sorted(seen)]
        new_firsts: list[Sketched] = []
        there = [row for row in rows if row is not None]
        for row, verdict in zip(there, self._judge.judge(there), strict=True):
            done.verdicts[verdict.page] = verdict
            if not verdict.first and verdict.page not in was_first:
                new_firsts.append(row)
        return new_firsts

    def _pointing_to(self, key: bytes, done: Compared) -> Iterator[bytes]:
        """Pages that point to this one, as the state says and as this pass has found."""
        for one in others_of(self._store, key, _ALL):
            page = one.encode()
            if page not in done.verdicts:
                yield page
        for verdict in done.verdicts.values():
            if verdict.first and verdict.first[8:] == key:
                yield verdict.page

    def _like(self, firsts: list[Sketched], judged_us: int) -> Iterator[bytes]:
        """Judged pages that came after one of these first pages, and may be duplicates of it."""
        start = min(one.page for one in firsts)
        own = {one.page for one in firsts}
        rows = walk(
            self._store, StateTable.SKETCH, SKETCHED + start, SKETCHED + time_key(judged_us + 1)
        )
        for piece in _pieces((Sketched(name[1:], row) for name, row in rows), 10_000):
            for row in share_numbers(piece, firsts):
                if row.page not in own:
                    yield row.page

    # -- rows

    def _sketched(self, from_us: int, to_us: int, limit: int) -> list[Sketched]:
        """Pages from a moment on, about `limit`: all of the last moment are among them."""
        start, stop = SKETCHED + time_key(from_us), SKETCHED + time_key(to_us)
        rows = self._store.scan(StateTable.SKETCH, start, stop, limit)
        if len(rows) == limit:
            last = rows[-1][0]
            stop = SKETCHED + time_key(time_of(last[1:]) + 1)
            rows += walk(self._store, StateTable.SKETCH, last + b"\0", stop)
        return [Sketched(name[1:], row) for name, row in rows]

    def _row(self, page: bytes) -> Sketched | None:
        sketch = self._store.find(StateTable.SKETCH, SKETCHED + page)
        return Sketched(page, sketch) if sketch else None

    def _there(self, pages: Iterable[bytes]) -> Iterator[bytes]:
        return (page for page in pages if self._row(page) is not None)


def _pieces(rows: Iterable[Sketched], size: int) -> Iterator[list[Sketched]]:
    every = iter(rows)
    while piece := list(islice(every, size)):
        yield piece


def judged_in(store: Store) -> int:
    """The moment up to which the pages of a committed state were judged."""
    return int.from_bytes(store.find(StateTable.META, JUDGED_KEY) or b"", "big")


def _after(prefix: bytes) -> bytes:
    return bytes([prefix[0] + 1])
