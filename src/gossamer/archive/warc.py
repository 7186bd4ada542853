"""Build the bytes of an exchange.

A record is one gzip member. An exchange is one or three records: the request, the response (or
revisit) and, always last, the metadata. A failure or refusal is a metadata record alone. Pure:
`writer.py` writes the bytes to files, `reader.py` reads them.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import quote

from gossamer.archive import pack
from gossamer.archive.fields import escaped, lines_of, metadata_text, text_of
from gossamer.archive.head import stored_head, stored_request
from gossamer.records import Answer, Fetched, Lease
from gossamer.version import __version__

SOFTWARE: Final = f"gossamer/{__version__}"
SAME_PAYLOAD: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDS_BYTES: Final = 48  # random, for the ids of the three records of an exchange
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # UTC throughout; a zone costs time per record
_CUT_WORDS: Final = frozenset({"length", "time", "disconnect", "unspecified"})
_REQUEST_TYPE: Final = "Content-Type: application/http; msgtype=request\r\n"
_RESPONSE_TYPE: Final = "Content-Type: application/http; msgtype=response\r\n"
_FIELDS_TYPE: Final = "Content-Type: application/warc-fields\r\n"


@dataclass(frozen=True, slots=True)
class RevisitOf:
    """The capture whose body a new response repeats, so that the body is not stored again."""

    url: str
    at_us: int
    digest: str  # "sha1:BASE32" of its body


class ExchangeBytes(NamedTuple):
    """The joined members of an exchange. Offsets count from its first byte."""

    data: bytes
    response: int  # 0 if there is none
    response_end: int  # 0 if there is none
    digest: str  # "sha1:BASE32" of the body; empty if there is none


def exchange_bytes(
    lease: Lease,
    answer: Answer,
    level: int = 1,
    revisit_of: RevisitOf | None = None,
    ids: bytes = b"",
) -> ExchangeBytes:
    """The records of one exchange, ready to be appended in one write.

    `ids` are random bytes for the record ids; if empty, they are generated.
    """
    target = header_url(answer.url)
    common = f"WARC-Date: {warc_date(answer.at_us)}\r\nWARC-Target-URI: {target}\r\n"
    said = metadata_text(lease, answer)
    if target != answer.url:
        said += f"url: {escaped(answer.url)}\r\n"
    if not isinstance(answer, Fetched):
        return ExchangeBytes(_metadata_member(record_id(), common, said, level), 0, 0, "")
    request_id, response_id, metadata_id = _record_ids(ids or os.urandom(IDS_BYTES))
    beside = f"{common}WARC-Concurrent-To: <urn:uuid:{response_id}>\r\n"
    request = b""
    if answer.request:
        stored = stored_request(answer.request)
        said += text_of(stored.notes)
        request = record_bytes("request", request_id, beside + _REQUEST_TYPE, stored.data, level)
    head = stored_head(answer.head, answer.status, len(answer.body))
    headers = common + _response_headers(answer)
    if revisit_of is None:
        start = _start("response", response_id, headers)
        response, digest = pack.response_of(start, head.data, answer.body, level)
    else:
        headers += _revisit_headers(answer, revisit_of)
        response = record_bytes("revisit", response_id, headers, head.data, level)
        digest = pack.digest_of(answer.body)
    said += f"{text_of(head.notes)}headBytes: {len(head.data)}\r\nrequestLength: {len(request)}\r\n"
    if revisit_of is not None:
        said += _revisit_text(answer, digest, revisit_of)
    metadata = _metadata_member(metadata_id, beside, said, level)
    end = len(request) + len(response)
    return ExchangeBytes(b"".join((request, response, metadata)), len(request), end, digest)


def warcinfo_bytes(file_name: str, at_us: int, info: Mapping[str, str], level: int = 1) -> bytes:
    """The first record of a file: the software and the settings that wrote it."""
    fields = {
        "software": SOFTWARE,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        **info,
    }
    headers = (
        f"WARC-Date: {warc_date(at_us)}\r\nWARC-Filename: {header_url(file_name)}\r\n{_FIELDS_TYPE}"
    )
    named = [(_field_name(name), value) for name, value in fields.items()]
    return record_bytes("warcinfo", record_id(), headers, lines_of(named), level)


def record_bytes(kind: str, identity: str, headers: str, block: bytes, level: int) -> bytes:
    """One record as a gzip member. `headers` are whole lines of ASCII."""
    return pack.member_of(_start(kind, identity, headers), block, level)


def record_id() -> str:
    """A random UUID, three times as fast as `uuid.uuid4`. Each page needs three."""
    return _uuid(os.urandom(16).hex())


def payload_digest(payload: bytes) -> str:
    """`sha1:BASE32`, the name of a body in WARC files, CDXJ and page table."""
    return pack.digest_of(payload)


def warc_date(at_us: int) -> str:
    """`2026-01-31T12:00:00.000001Z`: WARC/1.1 allows fractions, and captures need them."""
    return f"{_second(at_us // 1_000_000)}.{at_us % 1_000_000:06d}Z"


@functools.lru_cache(maxsize=64)
def _second(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).isoformat(timespec="seconds")


def date_us(date: str) -> int:
    """Microseconds since 1970 of a WARC-Date. Raises ValueError."""
    moment = datetime.fromisoformat(date)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def header_url(url: str) -> str:
    """`url` as a header value: white space, control and non-ASCII characters percent-encoded."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return quote(url.encode("utf-8", "surrogatepass"), safe="!#$%&'()*+,/:;=?@[]~<>\"\\^`{|}")


def _start(kind: str, identity: str, headers: str) -> str:
    return f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{identity}>\r\n{headers}"


def _metadata_member(identity: str, headers: str, said: str, level: int) -> bytes:
    headers += _FIELDS_TYPE
    return record_bytes("metadata", identity, headers, said.encode("ascii"), level)


def _response_headers(answer: Fetched) -> str:
    headers = _RESPONSE_TYPE
    if answer.address:
        headers += f"WARC-IP-Address: {header_url(answer.address)}\r\n"
    if answer.protocol:
        headers += f"WARC-Protocol: {header_url(answer.protocol)}\r\n"
    if answer.cut:
        word = answer.cut if answer.cut in _CUT_WORDS else "unspecified"
        headers += f"WARC-Truncated: {word}\r\n"
    return headers


def _revisit_headers(answer: Fetched, revisit_of: RevisitOf) -> str:
    return (
        f"WARC-Profile: {NOT_MODIFIED if answer.status == 304 else SAME_PAYLOAD}\r\n"
        f"WARC-Payload-Digest: {header_url(revisit_of.digest)}\r\n"
        f"WARC-Refers-To-Target-URI: {header_url(revisit_of.url)}\r\n"
        f"WARC-Refers-To-Date: {warc_date(revisit_of.at_us)}\r\n"
    )


def _revisit_text(answer: Fetched, digest: str, revisit_of: RevisitOf) -> str:
    text = f"bodyBytes: {len(answer.body)}\r\nbodyDigest: {digest}\r\n"
    if header_url(revisit_of.url) != revisit_of.url:
        text += f"revisitUrl: {escaped(revisit_of.url)}\r\n"
    return text


def _record_ids(ids: bytes) -> tuple[str, str, str]:
    h = ids.hex()
    return _uuid(h), _uuid(h[32:]), _uuid(h[64:])


def _uuid(h: str) -> str:
    """A UUID of version 4 from the first 32 hexadecimal digits."""
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:32]}"


def _field_name(name: str) -> str:
    """A field name without characters that would end it. Names come from settings, not from the
    web.
    """
    return re.sub(r"[^!-9;-~]", "-", name)
