"""Convert a lease and its answer to the lines of a metadata record, and back.

The lines (`application/warc-fields`) hold everything that the request and response records beside
them do not, so that state, graph and page table can be rebuilt from the archive alone. A line with
a default value is left out. Values are written in ASCII with backslash escapes, so that no text, of
a server or of this program, can start a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gossamer.records import (
    Answer,
    Failed,
    Fetched,
    Lease,
    Outcome,
    Previous,
    Purpose,
    Reason,
    Refused,
)

Fields = Mapping[str, str]

_FETCHED: Final = Outcome.FETCHED.value
_PAGE: Final = Purpose.PAGE
_ESCAPES: Final = re.compile(r"(?:[^\\]+|\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}))*+")


def escaped(text: str) -> str:
    """`text` in printable ASCII. `unescaped` restores it, lone surrogates included."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return text.encode("unicode_escape").decode("ascii")


def unescaped(text: str) -> str:
    """The text that was given to `escaped`. Raises ValueError for text that `escaped` never
    writes.
    """
    if "\\" not in text:
        return text
    if not _ESCAPES.fullmatch(text):  # Python would accept some with a warning
        raise ValueError(f"{text[:60]!r} has a backslash that escapes nothing")
    return text.encode("ascii").decode("unicode_escape")


def lines_of(fields: Iterable[tuple[str, str]]) -> bytes:
    """The block of a warc-fields record."""
    return text_of(fields).encode("ascii")


def text_of(fields: Iterable[tuple[str, str]]) -> str:
    """The same as text."""
    if not fields:
        return ""
    return "".join([f"{name}: {escaped(value)}\r\n" for name, value in fields])


def fields_of(block: bytes) -> dict[str, str]:
    """The fields of a block that `lines_of` made. Raises ValueError for other blocks."""
    fields = {}
    for line in block.decode("ascii").split("\r\n"):
        if line:
            name, colon, value = line.partition(": ")
            if not colon:
                raise ValueError(f"the line {line[:60]!r} has no value")
            fields[name] = unescaped(value)
    return fields


def outcome_of(answer: Answer) -> Outcome:
    match answer:
        case Fetched():
            return Outcome.FETCHED
        case Failed():
            return Outcome.FAILED
        case Refused():
            return Outcome.REFUSED


def metadata_text(lease: Lease, answer: Answer) -> str:
    """The metadata lines of an exchange, without the positions of its records.

    This is one text and not a list of fields: it is made for every page, and a list takes three
    times as long.
    """
    if isinstance(answer, Fetched):
        outcome, more = _FETCHED, _fetched_text(lease, answer)
    else:
        outcome, more = outcome_of(answer).value, _unfetched_text(lease, answer)
    return (
        f"outcome: {outcome}\r\nfetchTimeMs: {answer.took_s * 1000:.3f}\r\n"
        f"status: {answer.status}\r\nlease: {lease.number}\r\nkey: {lease.key.hex()}\r\n"
        f"host: {escaped(lease.host)}\r\ndepth: {lease.depth}\r\n"
        f"maxBodyBytes: {lease.max_body_bytes}\r\n{_lease_text(lease, answer.url)}{more}"
    )


def _lease_text(lease: Lease, url: str) -> str:
    """The fields of a lease that differ from the default; for most pages only the linking page."""
    text = f"via: {escaped(lease.via)}\r\n" if lease.via else ""
    if lease.purpose is not _PAGE:
        text += f"purpose: {lease.purpose.value}\r\n"
    if lease.tries:
        text += f"tries: {lease.tries}\r\n"
    if lease.redirects:
        text += f"redirects: {lease.redirects}\r\n"
    if lease.is_trusted:
        text += "trusted: 1\r\n"
    if lease.previous is not None:
        text += f"previous: {_previous_text(lease.previous)}\r\n"
    if lease.source:
        text += f"source: {escaped(lease.source)}\r\n"
    if lease.url != url:
        text += f"leaseUrl: {escaped(lease.url)}\r\n"
    return text


def _previous_text(previous: Previous) -> str:
    return f"{previous.at_us} {previous.status} {escaped(previous.digest)}"


def _previous_of(text: str) -> Previous | None:
    """The version that was known when a page was requested again. Where it lies is not told: files
    may be rewritten. Raises ValueError."""
    if not text:
        return None
    at_us, status, digest = (*text.split(" ", 2), "")[:3]
    return Previous(int(at_us), digest, int(status))


def _fetched_text(lease: Lease, answer: Fetched) -> str:
    text = f"protocol: {escaped(answer.protocol)}\r\naddress: {escaped(answer.address)}\r\n"
    if lease.address != answer.address:
        text += f"leaseAddress: {escaped(lease.address)}\r\n"
    if answer.cut:
        text += f"cut: {escaped(answer.cut)}\r\n"
    return text


def _unfetched_text(lease: Lease, answer: Failed | Refused) -> str:
    text = f"reason: {answer.reason.value}\r\ndetail: {escaped(answer.detail)}\r\n"
    if lease.address:
        text += f"leaseAddress: {escaped(lease.address)}\r\n"
    if isinstance(answer, Refused) and answer.type:
        text += f"type: {escaped(answer.type)}\r\nnamedBytes: {answer.named_bytes}\r\n"
    return text


def lease_of(fields: Fields, url: str) -> Lease:
    """The lease of an answer from `url`. Raises KeyError or ValueError."""
    return Lease(
        number=int(fields["lease"]),
        url=fields.get("leaseUrl", url),
        key=bytes.fromhex(fields["key"]),
        host=fields["host"],
        address=fields.get("leaseAddress", fields.get("address", "")),
        purpose=Purpose(fields.get("purpose", Purpose.PAGE.value)),
        depth=int(fields["depth"]),
        tries=int(fields.get("tries", "0")),
        redirects=int(fields.get("redirects", "0")),
        via=fields.get("via", ""),
        is_trusted=fields.get("trusted") == "1",
        max_body_bytes=int(fields["maxBodyBytes"]),
        source=fields.get("source", ""),
        previous=_previous_of(fields.get("previous", "")),
    )


def took_s_of(fields: Fields) -> float:
    """The duration of the request, to the microsecond."""
    return round(float(fields["fetchTimeMs"]) * 1000) / 1e6


def unanswered_of(fields: Fields, url: str, at_us: int) -> Failed | Refused:
    """The answer of an exchange without a response. Raises KeyError or ValueError."""
    reason, detail = Reason(fields["reason"]), fields["detail"]
    took_s, status = took_s_of(fields), int(fields["status"])
    if Outcome(fields["outcome"]) is not Outcome.REFUSED:
        return Failed(url, reason, detail, at_us, took_s, status)
    mime, named = fields.get("type", ""), int(fields.get("namedBytes", "0"))
    return Refused(url, reason, detail, at_us, took_s, status, mime, named)
