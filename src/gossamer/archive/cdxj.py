"""The CDXJ index of a WARC file: where the capture of a URL is. pywb and similar tools read it.

One line per response or revisit: its URL in sort-friendly form (SURT), its second, and a JSON
object with the rest. The index is derived: it can be rebuilt from the file at any time, and is if a
crash left a file without one. Failures and refusals are not in it, because they have no capture.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gossamer.archive.reader import read_records
from gossamer.archive.record import Record
from gossamer.archive.warc import header_url, payload_digest

_CAPTURES: Final = frozenset({"response", "revisit", "resource"})
_MIME: Final = re.compile(
    rb"^content-type[ \t]*:[ \t]*([\w.+-]+/[\w.+-]+)", re.IGNORECASE | re.MULTILINE
)
_WWW: Final = re.compile(r"www\d*\.")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


_PLAIN: Final = re.compile(r"https?://([a-z0-9.-]+)(:\d{4,5})?(/[^?#]*)")  # a host name, no query


def surt(url: str) -> str:
    """`com,example)/path?query`: sorts the captures of a host, and the hosts of a domain, together.

    Lower case, without `www.`, default port, fragment and last slash, with sorted query parameters:
    the form that pywb looks up. Session ids stay.
    """
    plain = _PLAIN.fullmatch(url)
    if plain is not None:  # most URLs; the general path takes 20 microseconds
        return f"{_reversed(plain[1])}{plain[2] or ''}){plain[3].lower().rstrip('/') or '/'}"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url.lower()
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return url.lower()
    host = parts.hostname
    if ":" not in host:
        host = _reversed(host)
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        host += f":{port}"
    path = parts.path.lower().rstrip("/") or "/"
    query = "?" + "&".join(sorted(parts.query.lower().split("&"))) if parts.query else ""
    return f"{host}){path}{query}"


@functools.lru_cache(maxsize=1024)
def _reversed(host: str) -> str:
    return ",".join(reversed(_WWW.sub("", host, count=1).rstrip(".").split(".")))


def cdxj_line(
    capture: tuple[str, int, int],  # URL, time, status
    mime: str,
    digest: str,
    span: tuple[int, int],  # offset, length
    file_name: str,
) -> str:
    """One line of the index, without its line end. All values of the object are strings, as in
    pywb.
    """
    url, at_us, status = capture
    offset, length = span
    safe_url = header_url(url)
    # true for every URL that this program writes
    if status and '"' not in safe_url and "\\" not in safe_url:
        return (
            f'{surt(safe_url)} {_timestamp(at_us)} {{"url": "{safe_url}", "mime": "{mime}", '
            f'"status": "{status}", "digest": "{digest}", "length": "{length}", '
            f'"offset": "{offset}", "filename": "{file_name}"}}'
        )
    entry = {"url": safe_url, "mime": mime}
    if status:
        entry["status"] = str(status)
    entry |= {
        "digest": digest,
        "length": str(length),
        "offset": str(offset),
        "filename": file_name,
    }
    return f"{surt(safe_url)} {_timestamp(at_us)} {json.dumps(entry)}"


def mime_of(head: bytes) -> str:
    """The MIME type in the head of a response, in lower case; `unk` if there is none."""
    found = _MIME.search(head)
    return found[1].decode("latin-1").lower() if found else "unk"


def cdxj_path(warc_path: Path) -> Path:
    """The path of the index of a file, beside it."""
    return warc_path.with_name(warc_path.name.removesuffix(".gz").removesuffix(".warc") + ".cdxj")


def write_cdxj(warc_path: Path) -> Path:
    """Index a file by reading it. Raises CorruptFile if it is damaged, and then writes nothing."""
    lines = (line_of(record, warc_path.name) for record in read_records(warc_path))
    return save_cdxj(warc_path, [line for line in lines if line is not None])


def save_cdxj(warc_path: Path, lines: Iterable[str]) -> Path:
    """Write the sorted lines to the index of the file. A reader sees the old index or the whole new
    one.
    """
    path = cdxj_path(warc_path)
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in sorted(lines))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)  # exists only if the disk failed
    return path


def line_of(record: Record, file_name: str) -> str | None:
    """The CDXJ line of a record in a file; None if it is not a capture."""
    if record.type not in _CAPTURES or not record.uri or not record.is_whole:
        return None
    if record.type == "revisit":
        mime = "warc/revisit"
    elif record.is_http:
        mime = mime_of(record.head)
    else:
        mime = record.header("Content-Type").partition(";")[0].strip().lower() or "unk"
    digest = record.header("WARC-Payload-Digest") or payload_digest(record.payload)
    status = 200 if record.type == "resource" else record.status or 0  # as pywb does
    capture = (record.uri, record.at_us or 0, status)
    return cdxj_line(capture, mime, digest, (record.offset, record.length), file_name)


def _timestamp(at_us: int) -> str:
    return _second(at_us // 1_000_000)


@functools.lru_cache(maxsize=64)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y%m%d%H%M%S")
