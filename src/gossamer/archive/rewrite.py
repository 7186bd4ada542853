"""Rewrite a WARC file with some exchanges removed or changed.

Unchanged exchanges keep their bytes; only their offsets move. `Moved` maps old offsets to new ones,
because the state stores the offset of each capture. The input file is not modified. File name and
order of records stay.
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
from gossamer.archive.foreign import Foreign, packed
from gossamer.archive.head import stored_head
from gossamer.archive.reader import Exchange, iter_exchanges, read_records
from gossamer.archive.record import Record
from gossamer.archive.warc import (
    exchange_bytes,
    header_url,
    payload_digest,
    record_bytes,
    record_id,
    warc_date,
)
from gossamer.records import Fetched

EditedFields = dict[str, str]

_COPIED_BYTES: Final = 1 << 20
_REPLACED_HEADERS: Final = frozenset(
    {"warc-type", "warc-record-id", "warc-block-digest", "content-length"}
)


@dataclass(slots=True)
class Moved:
    """Maps the old offsets of captures of a file to the new ones."""

    starts: list[int] = field(default_factory=lambda: [0])
    shifts: list[int] = field(default_factory=lambda: [0])  # added from each of `starts` on
    # rewritten exchanges: old offset -> new offset and length
    written: dict[int, tuple[int, int]] = field(default_factory=dict)

    def note(self, old: int, new: int) -> None:
        """Record that the bytes from `old` on are now at `new`."""
        if self.shifts[-1] != new - old:
            self.starts.append(old)
            self.shifts.append(new - old)

    def place(self, response: int, length: int) -> tuple[int, int]:
        """New offset and length of a capture that was kept."""
        if response in self.written:
            return self.written[response]
        return response + self.shifts[bisect_right(self.starts, response) - 1], length


@dataclass(frozen=True, slots=True)
class Replacement:
    """The bytes that replace an exchange. `response` counts from the first of them."""

    data: bytes
    response: int


# The decision about an exchange: keep it, replace it, or drop it (None).
ExchangeFilter = Callable[[Exchange], Exchange | Replacement | None]


@dataclass(frozen=True, slots=True)
class RewrittenFile:
    """The result for one file. If no exchange is left, there is no new file."""

    kept: int
    dropped: int
    changed: int


def rewrite(
    path: Path,
    new: Path,
    judge: ExchangeFilter,
    info: Callable[[EditedFields], EditedFields],
    level: int,
    moved: Moved,
) -> RewrittenFile:
    """Write `path` again as `new`, and sync it. `info` changes the fields of the first record;
    `moved` is filled while exchanges are written.

    Raises CorruptFile if `path` is damaged, OSError if `new` cannot be written.
    """
    kept = dropped = changed = 0
    with path.open("rb") as old, new.open("wb") as file:
        start = _write_info(path, old, file, info, level)
        for exchange in iter_exchanges(path, start):
            judged = judge(exchange)
            if judged is None:
                dropped += 1
            elif isinstance(judged, Replacement):
                changed += 1
                response = file.tell() + judged.response
                file.write(judged.data)
                moved.written[exchange.stored.response] = response, file.tell() - response
            else:
                kept += 1
                moved.note(exchange.stored.start, file.tell())
                _copy(old, file, exchange.stored.start, exchange.stored.end)
        file.flush()
        os.fsync(file.fileno())
    if not kept + changed:
        new.unlink()
    return RewrittenFile(kept, dropped, changed)


def fields_in(path: Path, exchange: Exchange) -> EditedFields:
    """The fields of the metadata record of an exchange. Raises CorruptFile."""
    return fields_of(_records_of(path, exchange)[-1].content)


def with_fields(path: Path, exchange: Exchange, fields: EditedFields, level: int) -> Replacement:
    """An exchange with other metadata fields. Its other records stay unchanged.

    Raises CorruptFile.
    """
    stored, metadata = exchange.stored, _records_of(path, exchange)[-1]
    with path.open("rb") as file:
        file.seek(stored.start)
        data = file.read(metadata.offset - stored.start)
    data += _with_block(metadata, lines_of(fields.items()), level)
    return Replacement(data, stored.response - stored.start)


def rebuilt(exchange: Exchange, level: int) -> Replacement:
    """An exchange in the format of `warc.py`."""
    made = exchange_bytes(exchange.lease, exchange.answer, level, exchange.revisit_of)
    return Replacement(made.data, made.response)


def with_body(exchange: Exchange, level: int) -> Replacement:
    """An imported exchange as one response with its body, under its original name."""
    answer = exchange.answer
    assert isinstance(answer, Fetched), "what has a body is an answer"
    head = stored_head(answer.head, answer.status, len(answer.body))
    block = head.data + answer.body
    named = (
        ("WARC-Type", "response"),
        ("WARC-Record-ID", f"<urn:uuid:{record_id()}>"),
        ("WARC-Date", warc_date(answer.at_us)),
        ("WARC-Target-URI", header_url(answer.url)),
        ("WARC-Payload-Digest", payload_digest(answer.body)),
        ("WARC-Block-Digest", payload_digest(block)),
        ("Content-Type", "application/http; msgtype=response"),
        ("Content-Length", str(len(block))),
    )
    lines = "".join(f"{name}: {value}\r\n" for name, value in named)
    preamble = f"WARC/1.1\r\n{lines}\r\n".encode("ascii")
    size = len(block)
    record = Record("WARC/1.1", "response", named, 0, 0, block, size, preamble=preamble)
    foreign = Foreign(
        (record,),
        exchange.lease.source,
        answer,
        capture=0,
        head_bytes=len(head.data),
        notes=head.notes,
    )
    return Replacement(packed(foreign, exchange.lease, level).data, 0)


def _write_info(
    path: Path,
    old: BinaryIO,
    file: BinaryIO,
    info: Callable[[EditedFields], EditedFields],
    level: int,
) -> int:
    """Write the first record, about the file. Return the offset after the old one."""
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


def _records_of(path: Path, exchange: Exchange) -> list[Record]:
    stored = exchange.stored
    return list(takewhile(lambda one: one.offset < stored.end, read_records(path, stored.start)))


def _with_block(record: Record, block: bytes, level: int) -> bytes:
    """The record with another block and otherwise unchanged."""
    identity = record.header("WARC-Record-ID").removeprefix("<urn:uuid:").removesuffix(">")
    headers = "".join(
        f"{name}: {value}\r\n"
        for name, value in record.headers
        if name.lower() not in _REPLACED_HEADERS
    )
    return record_bytes(record.type, identity, headers, block, level)


def _copy(old: BinaryIO, file: BinaryIO, start: int, end: int) -> None:
    old.seek(start)
    left = end - start
    while left:
        some = old.read(min(left, _COPIED_BYTES))
        file.write(some)
        left -= len(some)
