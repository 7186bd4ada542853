"""A WARC file of ours, written again with some of its exchanges left out or changed.

Exchanges that stay as they are keep their very bytes; only their places move. Where to is what
`Moved` tells, for the state has noted where each capture lies. The file that is read is not
touched, and neither name nor order of records change.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.archive.fields import fields_of, lines_of
from gossamer.archive.reader import Exchange, iter_exchanges, read_records
from gossamer.archive.record import Record
from gossamer.archive.warc import exchange_bytes, record_bytes

# The same object: it stays as it is; None: it is left out. Another object is written in its place:
# one with the same answer has another `via`, any other is written anew.
Judge = Callable[[Exchange], Exchange | None]
Fields = dict[str, str]

_COPIED_BYTES: Final = 1 << 20
_MADE_ANEW: Final = frozenset(
    {"warc-type", "warc-record-id", "warc-block-digest", "content-length"}
)


@dataclass(slots=True)
class Moved:
    """Where the captures of a file lie now, told by where they lay."""

    starts: list[int] = field(default_factory=lambda: [0])
    shifts: list[int] = field(default_factory=lambda: [0])  # from each of `starts` on
    written: dict[int, tuple[int, int]] = field(default_factory=dict)  # anew: place and length

    def note(self, old: int, new: int) -> None:
        """What lay at `old`, and what follows it, lies at `new` and behind."""
        if self.shifts[-1] != new - old:
            self.starts.append(old)
            self.shifts.append(new - old)

    def place(self, response: int, length: int) -> tuple[int, int]:
        """Place and length of a capture that was kept."""
        if response in self.written:
            return self.written[response]
        return response + self.shifts[bisect_right(self.starts, response) - 1], length


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What became of a file; with no exchange left there is no new file."""

    kept: int
    dropped: int
    changed: int
    moved: Moved


def rewrite(
    path: Path, new: Path, judge: Judge, info: Callable[[Fields], Fields], level: int
) -> Rewritten:
    """Write `path` again as `new`, synced to the disk. `info` gives the lines of the first record.

    Raises CorruptFile where `path` is damaged, OSError where the disk does not take `new`.
    """
    kept = dropped = changed = 0
    moved = Moved()
    with path.open("rb") as old, new.open("wb") as file:
        start = _write_info(path, old, file, info, level)
        for exchange in iter_exchanges(path, start):
            judged = judge(exchange)
            if judged is None:
                dropped += 1
            elif judged is exchange:
                kept += 1
                moved.note(exchange.stored.start, file.tell())
                _copy(old, file, exchange.stored.start, exchange.stored.end)
            else:
                changed += 1
                _write(path, exchange, judged, file, moved, level)
        file.flush()
        os.fsync(file.fileno())
    if not kept + changed:
        new.unlink()
    return Rewritten(kept, dropped, changed, moved)


def _write_info(
    path: Path, old: BinaryIO, file: BinaryIO, info: Callable[[Fields], Fields], level: int
) -> int:
    """Write the record that tells of the file; the first byte behind the old one."""
    record = next(read_records(path), None)
    if record is None or record.type != "warcinfo":
        return 0
    fields = fields_of(record.content)
    wanted = info(fields)
    if wanted == fields:
        _copy(old, file, record.offset, record.length)
    else:
        file.write(_with_block(record, lines_of(wanted.items()), level))
    return record.offset + record.length


def _write(
    path: Path, was: Exchange, exchange: Exchange, file: BinaryIO, moved: Moved, level: int
) -> None:
    start = file.tell()
    if exchange.answer is was.answer:  # other people's records may stand in it, and stay
        records = _records_between(path, was.stored.start, was.stored.end)
        with path.open("rb") as old:
            _copy(old, file, was.stored.start, records[-1].offset)
        fields = fields_of(records[-1].content)
        del fields["via"]
        if exchange.lease.via:
            fields["via"] = exchange.lease.via
        file.write(_with_block(records[-1], lines_of(fields.items()), level))
        response = start + was.stored.response - was.stored.start
    else:
        made = exchange_bytes(exchange.lease, exchange.answer, level, exchange.revisit_of)
        file.write(made.data)
        response = start + made.response
    moved.written[was.stored.response] = response, file.tell() - response


def _records_between(path: Path, start: int, end: int) -> list[Record]:
    return list(takewhile(lambda record: record.offset < end, read_records(path, start)))


def _with_block(record: Record, block: bytes, level: int) -> bytes:
    """The record with another block, and else as it was."""
    identity = record.header("WARC-Record-ID").removeprefix("<urn:uuid:").removesuffix(">")
    headers = "".join(
        f"{name}: {value}\r\n" for name, value in record.headers if name.lower() not in _MADE_ANEW
    )
    return record_bytes(record.type, identity, headers, block, level)


def _copy(old: BinaryIO, file: BinaryIO, start: int, end: int) -> None:
    old.seek(start)
    left = end - start
    while left:
        some = old.read(min(left, _COPIED_BYTES))
        file.write(some)
        left -= len(some)
