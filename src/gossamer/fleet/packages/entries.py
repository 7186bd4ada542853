"""The exchanges of a package as WARC records, written by the unit and read by the hub.

An exchange has the records that an archive of this program gives it (`archive/warc.py`), with two
differences that save a hundred bytes for each page: record ids count up from a random number, and
records have no block digest, because the package has one. A body that the hub has is left out, and
one of which the hub has an earlier version is a difference (`differences.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from msgspec import structs

from gossamer.archive.fields import escaped, metadata_text, text_of
from gossamer.archive.head import stored_head, stored_request
from gossamer.archive.reader import exchange_of, is_ours
from gossamer.archive.record import Record
from gossamer.archive.warc import SAME_PAYLOAD, header_url, warc_date
from gossamer.errors import CorruptFile
from gossamer.fleet.packages.format import DIFFERENCE, DIFFERENCE_FROM
from gossamer.records import Answer, Fetched, Lease

BodyForm = Literal["whole", "known", "difference"]

_MAX_RECORDS: Final = 3
_REQUEST: Final = "application/http; msgtype=request"
_RESPONSE: Final = "application/http; msgtype=response"
_FIELDS: Final = "application/warc-fields"


class SentBody(NamedTuple):
    """The body of an exchange as it is sent."""

    digest: str  # `sha1:BASE32` of the whole body
    form: BodyForm = "whole"
    data: bytes = b""  # the body, or a difference
    from_digest: str = ""  # of the earlier body


@dataclass(frozen=True, slots=True)
class PackageEntry:
    """One exchange of a package. The body of `answer` is empty unless it is sent whole."""

    lease: Lease
    answer: Answer
    body: SentBody | None  # None if there is no response


class RecordIds:
    """Ids of the records of one package: UUIDs that count up from a random one."""

    def __init__(self) -> None:
        h = os.urandom(10).hex()
        self._start = f"{h[:8]}-{h[8:12]}-4{h[12:15]}-a{h[15:18]}-"
        self._next = int.from_bytes(os.urandom(4), "big")

    def take(self) -> str:
        self._next += 1
        return f"<urn:uuid:{self._start}{self._next:012x}>"


def entry_bytes(entry: PackageEntry, ids: RecordIds) -> bytes:
    """The records of an exchange, without compression."""
    lease, answer, body = entry.lease, entry.answer, entry.body
    target = header_url(answer.url)
    common = f"WARC-Date: {warc_date(answer.at_us)}\r\nWARC-Target-URI: {target}\r\n"
    said = metadata_text(lease, answer)
    if target != answer.url:
        said += f"url: {escaped(answer.url)}\r\n"
    if body is None or not isinstance(answer, Fetched):
        return _record("metadata", ids.take(), common, _FIELDS, said.encode("ascii"))
    response_id, parts = ids.take(), []
    beside = f"{common}WARC-Concurrent-To: {response_id}\r\n"
    if answer.request:
        request = stored_request(answer.request)
        said += text_of(request.notes)
        parts.append(_record("request", ids.take(), beside, _REQUEST, request.data))
    head = stored_head(answer.head, answer.status, _length(answer, body))
    said += f"{text_of(head.notes)}headBytes: {len(head.data)}\r\nrequestLength: 0\r\n"
    kind = "response" if body.form == "whole" else "revisit"
    headers = common + _response_headers(answer, body)
    parts.append(_record(kind, response_id, headers, _RESPONSE, head.data + body.data))
    parts.append(_record("metadata", ids.take(), beside, _FIELDS, said.encode("ascii")))
    return b"".join(parts)


def _length(answer: Fetched, body: SentBody) -> int:
    """The length of the whole body; its head is stored by that."""
    return len(answer.body) if body.form != "whole" else len(body.data)


def _record(kind: str, identity: str, headers: str, mime: str, block: bytes) -> bytes:
    start = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {identity}\r\n{headers}"
        f"Content-Type: {mime}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return b"".join((start.encode("ascii"), block, b"\r\n\r\n"))


def _response_headers(answer: Fetched, body: SentBody) -> str:
    headers = f"WARC-Payload-Digest: {body.digest}\r\n"
    if answer.cut:
        word = answer.cut if answer.cut in ("length", "time") else "unspecified"
        headers += f"WARC-Truncated: {word}\r\n"
    if body.form == "known":
        headers += f"WARC-Profile: {SAME_PAYLOAD}\r\n"
    elif body.form == "difference":
        headers += f"WARC-Profile: {DIFFERENCE}\r\n{DIFFERENCE_FROM}: {body.from_digest}\r\n"
    return headers


# -- reading


def read_entries(records: Iterable[Record], name: object) -> Iterator[PackageEntry]:
    """The exchanges that records form. Raises CorruptFile for anything that `entry_bytes` does not
    write. One exchange is in memory at a time."""
    group: list[Record] = []
    for record in records:
        if not record.is_whole or record.is_cut:
            what = f"the record has {record.size} bytes, but {len(record.content)} can be read"
            raise CorruptFile(name, record.offset, what)
        group.append(record)
        if is_ours(record):
            yield _entry(group, name)
            group = []
        elif len(group) >= _MAX_RECORDS:
            raise CorruptFile(name, record.offset, "an exchange does not end with its metadata")
    if group:
        raise CorruptFile(name, group[0].offset, "the last exchange has no metadata")


def _entry(group: Sequence[Record], name: object) -> PackageEntry:
    path = Path(str(name))
    if len(group) == 1:
        exchange = exchange_of(path, list(group))
        return PackageEntry(exchange.lease, exchange.answer, None)
    shown = group[-2]
    form, from_digest = _form_of(shown, name)
    # A revisit of a package has no date of an earlier capture: the hub finds the body by digest.
    exchange = exchange_of(path, [*group[:-2], replace(shown, type="response"), group[-1]])
    answer, digest = exchange.answer, shown.header("WARC-Payload-Digest")
    if not isinstance(answer, Fetched) or not digest:
        raise CorruptFile(name, shown.offset, "the response has no digest")
    if form == "whole":
        return PackageEntry(exchange.lease, answer, SentBody(digest, form, answer.body))
    sent = SentBody(digest, form, answer.body, from_digest)
    return PackageEntry(exchange.lease, structs.replace(answer, body=b""), sent)


def _form_of(shown: Record, name: object) -> tuple[BodyForm, str]:
    profile = shown.header("WARC-Profile")
    if shown.type == "response" and not profile:
        return "whole", ""
    if shown.type == "revisit" and profile == SAME_PAYLOAD:
        return "known", ""
    if shown.type == "revisit" and profile == DIFFERENCE and shown.header(DIFFERENCE_FROM):
        return "difference", shown.header(DIFFERENCE_FROM)
    raise CorruptFile(
        name, shown.offset, f"a {shown.type[:20]!r} record of profile {profile[:60]!r}"
    )
