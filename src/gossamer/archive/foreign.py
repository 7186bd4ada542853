"""Convert records of other archives to exchanges of this one.

    records --grouped--> exchanges --read_foreign--> answer --packed--> bytes

A record is stored unchanged, headers and block to the byte. A metadata record of this program ends
the exchange and says how to read it: which record is the response, where its head ends, whether its
body is chunked. Records that are not responses to http or https (warcinfo, logs, DNS, screenshots)
are kept in the same way, and nothing is derived from them. If the source has a metadata record of
this program, it is replaced: facts about the response are kept, facts about its collection are not.
Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

from isal import igzip_lib
from msgspec import structs

from gossamer.archive.chunks import is_chunked, unchunked
from gossamer.archive.fields import Fields, fields_of, lines_of, metadata_text
from gossamer.archive.reader import exchange_of, is_ours
from gossamer.archive.record import Record
from gossamer.archive.verify import digest_faults
from gossamer.archive.warc import header_url, payload_digest, record_bytes, record_id, warc_date
from gossamer.errors import CorruptFile
from gossamer.records import Answer, Fetched, Lease, Purpose

_CAPTURES: Final = frozenset({"response", "revisit", "resource"})
_WEB: Final = ("http:", "https:")
_MAX_GROUP: Final = 16  # records; an exchange has three or four
_MAX_GROUP_BYTES: Final = 64 * 2**20  # above this, records of one exchange are stored separately
# Lines of our metadata record that say how to read the records beside it.
_TAKEN_OVER: Final = (
    "statusVersion", "requestVersion", "renamedAt", "originalHead", "chunked",
)  # fmt: skip
_ELSEWHERE: Final = ("bodyFile", "bodyAt")
_HTTP_DATE: Final = re.compile(rb"^date[ \t]*:[ \t]*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)
_NOT_MODIFIED: Final = 304
_NOTHING: Final = Lease(0, "", bytes(16), "", "")


@dataclass(frozen=True, slots=True)
class Foreign:
    """One exchange of another archive.

    `lease` holds what is known about the request; for other crawlers nothing. `capture` is the
    index of the response record. It is -1 if nothing is derived from these records, and `problem`
    says why if that is unexpected. If the response repeats an earlier one, `repeats` is the digest
    of its payload, and its body is empty.
    """

    records: tuple[Record, ...]  # unchanged from the file
    source: str
    answer: Answer
    lease: Lease = _NOTHING
    capture: int = -1
    head_bytes: int = 0
    notes: tuple[tuple[str, str], ...] = ()
    repeats: str = ""
    problem: str = ""
    is_our_own: bool = False  # a release of this program wrote it


@dataclass(frozen=True, slots=True)
class PackedExchange:
    """The bytes of an exchange to append. Offsets count from its first byte."""

    data: bytes
    records: tuple[Record, ...]  # including the metadata record at the end


def grouped(found: Iterable[Record | CorruptFile]) -> Iterator[list[Record] | CorruptFile]:
    """Group the records of each exchange. Damage is passed on in its place."""
    group: list[Record] = []
    for one in found:
        if isinstance(one, CorruptFile) or (group and not _belongs(one, group)):
            if group:
                yield group
            group = []
        if isinstance(one, CorruptFile):
            yield one
            continue
        group.append(one)
        if is_ours(one):
            yield group
            group = []
    if group:
        yield group


def _belongs(record: Record, group: Sequence[Record]) -> bool:
    if is_ours(record):  # it ends the exchange that it names
        return any(one.header("WARC-Record-ID") in _named_by(record) for one in group)
    if record.type == "warcinfo" or group[0].type == "warcinfo" or len(group) >= _MAX_GROUP:
        return False
    if record.size + sum(one.size for one in group) > _MAX_GROUP_BYTES:
        return False
    if record.type in _CAPTURES and any(one.type in _CAPTURES for one in group):
        return False
    names = {one.header("WARC-Record-ID") for one in group} - {""}
    if names & _named_by(record):
        return True
    identity = record.header("WARC-Record-ID")
    return bool(identity) and any(identity in _named_by(one) for one in group)


def _named_by(record: Record) -> set[str]:
    """The ids of the records that this record says it belongs to."""
    wanted = {"warc-concurrent-to", "warc-refers-to"}
    if record.type == "revisit":  # it refers to a capture of another day
        wanted = {"warc-concurrent-to"}
    return {value for name, value in record.headers if name.lower() in wanted}


# -- reading


def read_foreign(group: Sequence[Record]) -> Foreign:
    """Read a group of records. Never raises: records that cannot be read are kept, with a
    problem.
    """
    ours = group[-1] if is_ours(group[-1]) else None
    if ours is not None:
        return _read_ours(group, ours)
    records = tuple(map(_as_warc, group))
    return _read_others(records)


def _read_others(records: tuple[Record, ...]) -> Foreign:
    at = next((n for n, one in enumerate(records) if one.type in _CAPTURES), -1)
    shown = records[max(at, 0)]
    plain = _no_answer(shown)
    kept = Foreign(records, source_of(records), plain)
    if at < 0 or not shown.uri[:6].lower().startswith(_WEB):
        return kept
    at_us = _moment_of(shown)
    if at_us is None:
        return replace(kept, problem=f"its date is {shown.header('WARC-Date')[:40]!r}")
    plain = structs.replace(plain, at_us=at_us)
    if shown.type == "resource":
        return _read_resource(kept, plain, shown, at)
    if shown.type == "revisit" and not shown.content:  # it says only that nothing has changed
        named = shown.header("WARC-Payload-Digest") or "unknown"
        answer = structs.replace(plain, status=_NOT_MODIFIED)
        return replace(kept, answer=answer, capture=at, repeats=named)
    if shown.status is None:
        return replace(kept, problem=f"it has no HTTP status, but {shown.content[:30]!r}")
    payload = shown.payload
    body = unchunked(payload) if is_chunked(shown.head) else payload
    notes = (("chunked", "1"),) if body is not payload and body != payload else ()
    request = next((one.content for one in records if one.type == "request"), b"")
    answer = structs.replace(
        plain, status=shown.status, head=shown.head, body=body, request=request
    )
    is_repeat = shown.type == "revisit" and not body
    return replace(
        kept,
        answer=answer,
        capture=at,
        head_bytes=shown.head_bytes,
        notes=notes,
        repeats=(shown.header("WARC-Payload-Digest") or "unknown") if is_repeat else "",
    )


def _read_resource(kept: Foreign, plain: Fetched, shown: Record, at: int) -> Foreign:
    """A file that was put into an archive, as if a server had sent it."""
    mime = shown.header("Content-Type") or "application/octet-stream"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {shown.size}\r\n\r\n"
    raw = head.encode("latin-1", "replace")
    answer = structs.replace(plain, status=200, head=raw, body=shown.content)
    notes = (("originalHead", raw.decode("latin-1")),)
    return replace(kept, answer=answer, capture=at, notes=notes)


def _moment_of(record: Record) -> int | None:
    """The time of a response. If the record has an impossible date, the server's own date is used:
    one well-known crawl of a billion pages has months of 294 days.
    """
    if record.at_us is not None and record.at_us >= 0:
        return record.at_us
    dated = _HTTP_DATE.search(record.head)
    try:
        moment = parsedate_to_datetime(dated[1].decode("latin-1")) if dated else None
        seconds = moment.timestamp() if moment else -1.0
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return round(seconds * 1e6) if seconds >= 0 else None


def _has_odd_digest(record: Record) -> bool:
    return any("payload" in fault.problem for fault in digest_faults(Path(), record))


def _no_answer(record: Record) -> Fetched:
    """The placeholder for records from which nothing is derived."""
    return Fetched(
        url=record.uri,
        status=200 if record.type == "resource" else record.status or 0,
        head=b"",
        body=b"",
        request=b"",
        address=record.header("WARC-IP-Address"),
        protocol=record.header("WARC-Protocol"),
        at_us=max(0, record.at_us or 0),
        took_s=0.0,
        cut=record.header("WARC-Truncated") or ("length" if _is_segment(record) else ""),
    )


def _is_segment(record: Record) -> bool:
    return bool(record.header("WARC-Segment-Number"))


def _read_ours(group: Sequence[Record], ours: Record) -> Foreign:
    """An exchange that a release of this program wrote, in this or another collection."""
    records = tuple(group[:-1])
    source = source_of(records or (ours,))
    try:
        fields = fields_of(ours.content)
        # The position of a body refers to files of the other collection and is dropped.
        said = lines_of((name, fields[name]) for name in fields if name not in _ELSEWHERE)
        exchange = exchange_of(Path("import"), [*records, replace(ours, content=said)])
        at = next((n for n, one in enumerate(records) if one.type in _CAPTURES), -1)
        named = fields.get("captureAt", str(at))
        if not (named == "-1" or named.isdecimal()) or int(named) >= len(records):
            raise ValueError(f"it names record {named[:20]} of {len(records)} as the answer")
        at = int(named)
    except (CorruptFile, ValueError) as fault:
        found = getattr(fault, "found", str(fault))
        if not records:
            return Foreign((), source, _no_answer(ours), problem=found)
        return replace(_read_others(records), problem=f"its metadata was left out: {found}")
    lease, answer = exchange.lease, exchange.answer
    lease = structs.replace(lease, is_trusted=False, number=0, address="", source="")
    if not isinstance(answer, Fetched):
        return Foreign((), source, answer, lease, is_our_own=True)
    if lease.purpose is not Purpose.PAGE:
        return Foreign(records, source, answer, lease, is_our_own=True)
    if at < 0:
        return Foreign(records, source, answer, lease, is_our_own=True)
    notes = tuple((name, fields[name]) for name in _TAKEN_OVER if name in fields)
    shown = records[at]
    repeats = shown.header("WARC-Payload-Digest") if shown.type == "revisit" else ""
    return Foreign(
        records,
        source,
        structs.replace(answer, body=b"") if repeats else answer,
        lease,
        at,
        int(fields["headBytes"]),
        notes,
        repeats,
        is_our_own=True,
    )


def source_of(records: Sequence[Record]) -> str:
    """A name for these records. The same bytes have the same name in every file."""
    name = hashlib.blake2b(digest_size=16)
    for record in records:
        if is_ours(record):
            fields = _fields_or_none(record)
            told = [fields.get(key, "") for key in ("outcome", "reason", "detail", "tries")]
            name.update("\n".join([record.uri, record.header("WARC-Date"), *told]).encode())
            continue
        name.update(record.preamble or repr(record.headers).encode("utf-8", "replace"))
        name.update(record.content)
    return name.hexdigest()


def _fields_or_none(record: Record) -> Fields:
    try:
        return fields_of(record.content)
    except ValueError:
        return {}


def _as_warc(record: Record) -> Record:
    """A record of an ARC file as a WARC record; other records unchanged."""
    if record.version != "ARC":
        return record
    kind = "response" if record.type == "response" else "metadata"
    is_http = kind == "response" and record.content[:5] == b"HTTP/"
    mime = "application/http; msgtype=response" if is_http else record.header("Content-Type")
    if kind == "response" and not is_http:
        kind = "resource"
    name = hashlib.blake2b(record.content + repr(record.headers).encode(), digest_size=16)
    h = name.hexdigest()
    headers = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", f"<urn:uuid:{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}>"),
        ("WARC-Date", record.header("WARC-Date")),
        ("WARC-Target-URI", header_url(record.uri)),
        ("WARC-IP-Address", record.header("WARC-IP-Address")),
        ("Content-Type", mime),
        ("Content-Length", str(record.size)),
    ]
    lines = [f"{key}: {value}\r\n" for key, value in headers if value]
    preamble = "".join(["WARC/1.0\r\n", *lines, "\r\n"]).encode("utf-8", "replace")
    return replace(record, version="WARC/1.0", type=kind, headers=tuple(headers), preamble=preamble)


# -- writing


def packed(
    foreign: Foreign, lease: Lease, level: int, more: Sequence[tuple[str, str]] = ()
) -> PackedExchange:
    """The exchange under a lease of this collection. `more` are additional lines.

    The time of the exchange is the time of the response; the records keep their own dates.
    """
    answer, placed, at = foreign.answer, list[Record](), 0
    members = []
    for record in foreign.records:
        whole = b"".join((record.preamble, record.content, b"\r\n\r\n"))
        members.append(igzip_lib.compress(whole, level, igzip_lib.COMP_GZIP))
        placed.append(replace(record, offset=at, length=len(members[-1])))
        at += len(members[-1])
    fields: list[tuple[str, str]] = []
    target = header_url(answer.url)
    if target != answer.url:
        fields.append(("url", answer.url))
    beside = ""
    if isinstance(answer, Fetched):
        fields += _reading_lines(foreign, answer, placed)
        beside = _beside(foreign)
    if any(map(_has_odd_digest, foreign.records)):
        fields.append(("oddDigest", "1"))
    fields += more
    headers = f"WARC-Date: {warc_date(answer.at_us)}\r\n"
    headers += f"WARC-Target-URI: {target}\r\n" if target else ""
    headers += f"{beside}Content-Type: application/warc-fields\r\n"
    block = metadata_text(lease, answer).encode("ascii") + lines_of(fields)
    members.append(record_bytes("metadata", record_id(), headers, block, level))
    named = (("WARC-Date", warc_date(answer.at_us)), ("WARC-Target-URI", target))
    length = len(members[-1])
    placed.append(Record("WARC/1.1", "metadata", named, at, length, block, len(block)))
    return PackedExchange(b"".join(members), tuple(placed))


def _reading_lines(
    foreign: Foreign, answer: Fetched, placed: Sequence[Record]
) -> list[tuple[str, str]]:
    if foreign.capture < 0:
        return [("headBytes", "0"), ("requestLength", "0")]
    digest = payload_digest(answer.body)
    if foreign.repeats and not answer.body:
        digest = foreign.repeats
    return [
        *foreign.notes,
        ("captureAt", str(foreign.capture)),
        ("headBytes", str(foreign.head_bytes)),
        ("requestLength", str(placed[foreign.capture].offset)),
        ("bodyDigest", digest),
    ]


def _beside(foreign: Foreign) -> str:
    at = max(0, foreign.capture)
    identity = foreign.records[at].header("WARC-Record-ID") if foreign.records else ""
    is_sound = identity.isascii() and identity.isprintable() and identity
    return f"WARC-Concurrent-To: {identity}\r\n" if is_sound else ""
