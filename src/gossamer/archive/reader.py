"""Read WARC and ARC files.

`read_records` reads files of all writers and versions. The other functions read files of this
program, whose records form exchanges (`warc.py`), and return the lease and the answer that were
written. Damage raises CorruptFile with the offset, after everything before it was yielded.

An exchange ends with a metadata record of this program. An imported exchange (`foreign.py`) holds
records of other writers before it, unchanged, which may include warcinfo and metadata.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs

from gossamer.archive.chunks import unchunked
from gossamer.archive.fields import Fields, fields_of, lease_of, took_s_of, unanswered_of
from gossamer.archive.head import original_head, original_request
from gossamer.archive.record import Record, next_record
from gossamer.archive.replaced import file_elsewhere
from gossamer.archive.search import Search
from gossamer.archive.streams import ByteSource, Stream, open_stream, read_dictionary
from gossamer.archive.warc import RevisitOf, date_us
from gossamer.errors import CorruptFile
from gossamer.records import Answer, Fetched, Lease, Outcome, Stored

# The rest of a block is not kept in memory. This is 25 times the default body limit.
LIMIT_BYTES: Final = 256 * 2**20
_RESPONSES: Final = frozenset({"response", "revisit"})
_FETCHED_TYPES: Final = frozenset(
    (*request, kind, "metadata") for kind in _RESPONSES for request in ((), ("request",))
)
LOST: Final = "lost"  # type of a record in the place of damaged ones (`padding.py`)
_OTHER_TYPES: Final = frozenset({("metadata",)})
# first bytes of every metadata record of this program (`fields.py`)
_OUR_BLOCK: Final = b"outcome: "


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange, as it was before it was stored.

    A revisit has no body of its own: `answer.body` is empty. `body_bytes` and `stored.digest` are
    of the body that the server sent; `revisit_of` says where it is.
    """

    lease: Lease
    answer: Answer
    stored: Stored
    revisit_of: RevisitOf | None = None
    body_bytes: int = 0
    body_at: tuple[str, int] | None = None  # of an imported revisit: file and offset of its body


def is_ours(record: Record) -> bool:
    """Whether a record is the metadata record that ends an exchange of this program."""
    return record.type == "metadata" and record.content.startswith(_OUR_BLOCK)


def read_records(
    path: Path | ByteSource, start: int = 0, *, limit_bytes: int = LIMIT_BYTES
) -> Iterator[Record]:
    """The records from byte `start` on, with blocks up to `limit_bytes` (then `is_cut`).

    Raises CorruptFile at the first damage, after yielding the rest of the record with `is_whole`
    False. Raises UsageError for unsupported compression.
    """
    with path.open("rb") as file:
        stream, is_packed = open_stream(path, file, start)
        while (record := next_record(stream, is_packed, start, limit_bytes)) is not None:
            yield record


class _Stop(NamedTuple):
    """The position at which a stream ended, and the cost of reading since its last record."""

    offset: int
    in_vain: int
    place: int | None = None  # position within the member at `offset` of a record to be skipped


def salvage(
    path: Path | ByteSource, limit_bytes: int = LIMIT_BYTES
) -> Iterator[Record | CorruptFile]:
    """Every readable record, and each damage in its place. Never raises CorruptFile.

    After damage it continues with the next record that can be found (`search.py`). The search
    starts after the first byte of the damaged record: its length may be the wrong part, and then
    whole records are inside it. Raises UsageError for unsupported compression.
    """
    try:
        with path.open("rb") as file, path.open("rb") as scanned:
            dictionary = read_dictionary(path, file)
            search, start, stop = Search(path, scanned, file, dictionary), 0, None
            while True:
                stream, is_packed = open_stream(path, file, start, dictionary)
                if stop is not None and stop.place is not None:
                    stream.take(stop.place + 1, 0)
                    stream.skip_to_version()
                stop = yield from _salvage(stream, is_packed, start, limit_bytes, search)
                if stop is None:
                    return
                if stop.place is not None:
                    start = stop.offset
                    continue
                place = search.after(max(start, stop.offset), stop.in_vain)
                if place is None:
                    return
                start = place
    # of the compression around it, or the search became too expensive
    except CorruptFile as deeper:
        yield deeper


def _salvage(
    stream: Stream, is_packed: bool, start: int, limit_bytes: int, search: Search
) -> Generator[Record | CorruptFile, None, _Stop | None]:
    """Do the same up to a position after which the stream ends or must be read again."""
    work = 0
    while True:
        try:
            record = next_record(stream, is_packed, start, limit_bytes)
        except CorruptFile as fault:
            yield fault
            in_vain = _cost(stream, is_packed) - work
            offset, place = stream.unread or (fault.offset, 0)
            is_long = stream.wrong_length is not None
            if is_long and search.affords(in_vain + place):
                return _Stop(offset, 0, place)
            stream.wrong_length = None
            if stream.fault is not None:
                return _Stop(offset, in_vain)
            if not stream.skip_to_version():
                return _Stop(stream.fault.offset, in_vain) if stream.fault else None
            continue
        if record is None:
            return None
        if record.is_whole:
            work = _cost(stream, is_packed)
            yield record


def _cost(stream: Stream, is_packed: bool) -> int:
    """The cost of reading so far, in bytes."""
    return stream.work if is_packed else stream.place


def read_answer_at(
    path: Path | ByteSource, offset: int, *, limit_bytes: int = LIMIT_BYTES
) -> Record:
    """The record at `offset`. Raises CorruptFile if there is no whole record."""
    if isinstance(path, Path) and not path.exists():
        path = file_elsewhere(path) or path
    for record in read_records(path, offset, limit_bytes=limit_bytes):
        if record.is_whole:
            return record
    raise CorruptFile(path, offset, "the file ends where a record should begin")


def read_info(path: Path) -> dict[str, str]:
    """The fields of the warcinfo record; empty if there is none."""
    for record in read_records(path):
        if record.type == "warcinfo":
            return _fields(path, record)
        break
    return {}


def iter_exchanges(path: Path, start: int = 0) -> Iterator[Exchange]:
    """The exchanges of a file of this program from byte `start`, where one must begin.

    Raises CorruptFile at damage, and for an exchange that the end of the file cuts off.
    """
    for records in _grouped(path, start):
        yield _exchange(path, records)


def read_exchange(path: Path, response: int) -> Exchange:
    """The exchange whose response, or whose only record, begins at that byte. Raises
    CorruptFile. While a file is being replaced (`replaced.py`), the old one can still be read.
    """
    try:
        return _exchange(path, _records_around(path, response))
    except FileNotFoundError:
        if (other := file_elsewhere(path)) is None:
            raise
        return _exchange(other, _records_around(other, response))


def _records_around(path: Path, response: int) -> list[Record]:
    records = next(_grouped(path, response), None)
    if records is None:
        raise CorruptFile(path, response, "the file ends where an exchange should begin")
    if records[0].offset != response:
        raise CorruptFile(path, response, "the data here was lost")
    if records[0].type != "metadata" or len(records) > 1:
        fields = _fields(path, records[-1])
        length = fields.get("requestLength", "0")
        if not length.isdecimal() or int(length) > response:
            raise CorruptFile(path, response, f"its request is said to be {length!r} bytes long")
        if "source" in fields:
            records = next(_grouped(path, response - int(length)))
        elif int(length):
            records = [read_answer_at(path, response - int(length)), *records]
    return records


def last_whole_end(path: Path, start: int = 0) -> int:
    """The offset after the last whole exchange; `start` if none follows. Never raises for the
    effects of a crash: a tail that is cut off, has other bytes, or is all zeros.
    """
    end = start
    try:
        for record in read_records(path, start, limit_bytes=len(_OUR_BLOCK)):
            if not record.is_whole:
                break
            is_end = is_ours(record) or _begins_file(record) or record.type == LOST
            if record.length and is_end:
                end = record.offset + record.length
    except CorruptFile:
        pass
    return end


def _begins_file(record: Record) -> bool:
    return record.type == "warcinfo" and record.offset == 0


def _grouped(path: Path, start: int) -> Iterator[list[Record]]:
    """The records of each exchange, the metadata record last."""
    records: list[Record] = []
    for record in read_records(path, start):
        if not record.is_whole:
            continue  # the next step raises
        if record.is_cut:
            raise CorruptFile(path, record.offset, f"the record has {record.size} bytes, too many")
        if _begins_file(record) or record.type == LOST:
            continue
        records.append(record)
        if is_ours(record):
            yield records
            records = []
    if records:
        what = f"the exchange ends with a {records[-1].type} record instead of its metadata"
        raise CorruptFile(path, records[0].offset, what)


def exchange_of(path: Path, records: list[Record]) -> Exchange:
    """The exchange that these records form. Raises CorruptFile."""
    return _exchange(path, records)


def _exchange(path: Path, records: list[Record]) -> Exchange:
    types = tuple(record.type for record in records)
    metadata = records[-1]
    fields = _fields(path, metadata)
    is_fetched = fields.get("outcome") == Outcome.FETCHED.value
    if is_fetched and "source" in fields:
        return _imported(path, records, fields)
    if types not in (_FETCHED_TYPES if is_fetched else _OTHER_TYPES):
        raise CorruptFile(path, records[0].offset, f"an exchange of {', '.join(types)} records")
    try:
        url = fields.get("url", metadata.header("WARC-Target-URI"))
        at_us = date_us(metadata.header("WARC-Date"))
        lease = lease_of(fields, url)
        if not is_fetched:
            stored = _stored(path, records, metadata, "")
            return Exchange(lease, unanswered_of(fields, url, at_us), stored)
        response = records[-2]
        request = records[0] if len(records) == 3 else None
        answer = _fetched(fields, url, at_us, response, request)
        digest = fields.get("bodyDigest", response.header("WARC-Payload-Digest"))
        stored = _stored(path, records, response, digest)
        if response.type == "revisit":
            origin = _revisit_of(response, fields)
            return Exchange(lease, answer, stored, origin, int(fields["bodyBytes"]))
        return Exchange(lease, answer, stored, None, len(answer.body))
    except (KeyError, ValueError, OverflowError) as error:
        what = f"the metadata record cannot be understood ({error!r})"
        raise CorruptFile(path, metadata.offset, what) from None


def _imported(path: Path, records: list[Record], fields: Fields) -> Exchange:
    """An exchange of imported records. `captureAt` is the index of the response."""
    metadata = records[-1]
    try:
        url = fields.get("url", metadata.header("WARC-Target-URI"))
        capture = records[int(fields.get("captureAt", "0"))]
        request = next((one for one in records if one.type == "request"), None)
        at_us = date_us(metadata.header("WARC-Date"))
        answer = _fetched(fields, url, at_us, capture, request)
        lease = lease_of(fields, url)
    except (KeyError, ValueError, IndexError, OverflowError) as error:
        what = f"the metadata record cannot be understood ({error!r})"
        raise CorruptFile(path, metadata.offset, what) from None
    body_at = _body_at(fields)
    if body_at is not None:
        answer = structs.replace(answer, body=_body_elsewhere(path, *body_at))
    elif fields.get("chunked") == "1":
        answer = structs.replace(answer, body=unchunked(answer.body))
    if "captureAt" not in fields:
        answer = structs.replace(answer, body=b"")
    stored = _stored(path, records, capture, fields.get("bodyDigest", ""))
    return Exchange(lease, answer, stored, None, len(answer.body), body_at)


def _body_at(fields: Fields) -> tuple[str, int] | None:
    file, at = fields.get("bodyFile", ""), fields.get("bodyAt", "")
    return (Path(file).name, int(at)) if file and at.isdecimal() else None


def _body_elsewhere(path: Path, file: str, at: int) -> bytes:
    """The body that an imported revisit repeats; empty if it is gone.

    It must be in the named exchange itself. Another revisit there is not followed, so that no chain
    or cycle is walked.
    """
    try:
        records = _records_around(path.with_name(file), at)
        if _body_at(_fields(path, records[-1])) is not None:
            return b""
        other = _exchange(path.with_name(file), records)
    except (CorruptFile, OSError, ValueError):
        return b""
    return other.answer.body if isinstance(other.answer, Fetched) else b""


def _stored(path: Path, records: list[Record], answer: Record, digest: str) -> Stored:
    end = records[-1].offset + records[-1].length
    return Stored(path.name, records[0].offset, answer.offset, end, digest)


def _fetched(
    fields: Fields, url: str, at_us: int, response: Record, request: Record | None
) -> Fetched:
    head_bytes = int(fields["headBytes"])
    return Fetched(
        url=url,
        status=int(fields["status"]),
        head=original_head(response.content[:head_bytes], fields),
        body=response.content[head_bytes:],
        request=original_request(request.content, fields) if request else b"",
        address=fields["address"],
        protocol=fields["protocol"],
        at_us=at_us,
        took_s=took_s_of(fields),
        cut=fields.get("cut", ""),
    )


def _revisit_of(revisit: Record, fields: Fields) -> RevisitOf:
    return RevisitOf(
        url=fields.get("revisitUrl", revisit.header("WARC-Refers-To-Target-URI")),
        at_us=date_us(revisit.header("WARC-Refers-To-Date")),
        digest=revisit.header("WARC-Payload-Digest"),
    )


def _fields(path: Path, record: Record) -> dict[str, str]:
    try:
        return fields_of(record.content)
    except ValueError as error:
        raise CorruptFile(path, record.offset, f"its {record.type} record: {error}") from None
