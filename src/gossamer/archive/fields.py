"""How do a lease and its answer become the lines of a metadata record, and lines them again?

The lines (`application/warc-fields`) carry all that the request and response records beside them do
not, so that state, graph and page table can be made again from the archive alone. A line is left
out when its value is the default. Values are written in ASCII with backslash escapes: no text, of a
server or of ours, can begin a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gossamer.records import Answer, Failed, Fetched, Lease, Outcome, Purpose, Reason, Refused

Fields = Mapping[str, str]


def escaped(text: str) -> str:
    """`text` in printable ASCII; `unescaped` gives it back, lone surrogates too."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return text.encode("unicode_escape").decode("ascii")


def unescaped(text: str) -> str:
    """The text that `escaped` was given. Raises ValueError for what it never writes."""
    if "\\" not in text:
        return text
    return text.encode("ascii").decode("unicode_escape")


def lines_of(fields: Iterable[tuple[str, str]]) -> bytes:
    """The block of a warc-fields record."""
    return "".join([f"{name}: {escaped(value)}\r\n" for name, value in fields]).encode("ascii")


def fields_of(block: bytes) -> dict[str, str]:
    """The lines of a block that `lines_of` made. Raises ValueError when it is none."""
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


def metadata_fields(lease: Lease, answer: Answer) -> list[tuple[str, str]]:
    """What a metadata record says of an exchange, except where its records lie."""
    fields = [
        ("outcome", outcome_of(answer).value),
        ("fetchTimeMs", f"{answer.took_s * 1000:.3f}"),
        ("status", str(answer.status)),
        ("lease", str(lease.number)),
        ("key", lease.key.hex()),
        ("host", lease.host),
        ("depth", str(lease.depth)),
        ("maxBodyBytes", str(lease.max_body_bytes)),
    ]
    if lease.via:
        fields.append(("via", lease.via))
    if lease.purpose is not Purpose.PAGE:
        fields.append(("purpose", lease.purpose.value))
    if lease.tries:
        fields.append(("tries", str(lease.tries)))
    if lease.redirects:
        fields.append(("redirects", str(lease.redirects)))
    if lease.is_trusted:
        fields.append(("trusted", "1"))
    if lease.source:
        fields.append(("source", lease.source))
    if lease.url != answer.url:
        fields.append(("leaseUrl", lease.url))
    if isinstance(answer, Fetched):
        return fields + _fetched_fields(lease, answer)
    fields += [("reason", answer.reason.value), ("detail", answer.detail)]
    if lease.address:
        fields.append(("leaseAddress", lease.address))
    return fields


def _fetched_fields(lease: Lease, answer: Fetched) -> list[tuple[str, str]]:
    fields = [("protocol", answer.protocol), ("address", answer.address)]
    if lease.address != answer.address:
        fields.append(("leaseAddress", lease.address))
    if answer.cut:
        fields.append(("cut", answer.cut))
    return fields


def lease_of(fields: Fields, url: str) -> Lease:
    """The lease that led to an answer from `url`. Raises KeyError or ValueError."""
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
    )


def took_s_of(fields: Fields) -> float:
    """The time that the answer took, to the microsecond."""
    return round(float(fields["fetchTimeMs"]) * 1000) / 1e6


def unanswered_of(fields: Fields, url: str, at_us: int) -> Failed | Refused:
    """The answer of an exchange that has no response. Raises KeyError or ValueError."""
    kind = Refused if Outcome(fields["outcome"]) is Outcome.REFUSED else Failed
    return kind(
        url=url,
        reason=Reason(fields["reason"]),
        detail=fields["detail"],
        at_us=at_us,
        took_s=took_s_of(fields),
        status=int(fields["status"]),
    )
