"""Import the URLs of a file for the next crawl: sitemaps of all kinds, and plain lists.

The URLs go into the archive as a list of canonical URLs, and are read from there like a sitemap
(`process.py`). So a kill loses none, a rebuild finds them again, and a list that is imported twice
adds nothing. The URLs are in scope because the operator named them. Their hosts do not count as
typed, so private addresses stay unreachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.archive.url_list import list_entry
from gossamer.node.import_intake import ImportIntake
from gossamer.parse.documents.sitemap import Unreadable, read_sitemap
from gossamer.records import Lease, Purpose
from gossamer.transfer.import_archive import ImportCounts
from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import Forgotten

_URLS_AT_ONCE: Final = 10_000  # in one entry of the archive
_MAX_XML_BYTES: Final = 50 * 2**20  # sitemaps.org's own limit
_MAX_LINE_BYTES: Final = 1 << 16


def import_sitemap(path: Path, body: bytes, intake: ImportIntake, tally: ImportCounts) -> str:
    """Import the URLs of an XML sitemap or feed; return a fault if it is neither. Raises DiskFault.

    The URLs of a sitemap index are sitemaps, which the next crawl requests.
    """
    read = read_sitemap("", body[:_MAX_XML_BYTES])
    if isinstance(read, Unreadable):
        return read.why
    written = ((f"{path}, URL {number}", one.url) for number, one in enumerate(read.urls, 1))
    _bring(written, intake, tally, is_index=read.kind == "index")
    fault = read.fault or ("it exceeds the size limit of a sitemap" if _is_long(body) else "")
    if fault:
        tally.damaged += 1
        tally.notify(f"{path}: only the first part was read: {fault}")
    return ""


def _is_long(body: bytes) -> bool:
    return len(body) > _MAX_XML_BYTES


def import_list(path: Path, file: BinaryIO, intake: ImportIntake, tally: ImportCounts) -> None:
    """Import URLs, one per line; empty lines and lines that begin with # are skipped.

    Raises DiskFault.
    """
    _bring(_lines(path, file), intake, tally, is_index=False)


def _lines(path: Path, file: BinaryIO) -> Iterator[tuple[str, str]]:
    """Yield place and text of each line with content."""
    number = 0
    while line := file.readline(_MAX_LINE_BYTES):
        number += 1
        text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
        if text and not text.startswith("#"):
            yield f"{path}, line {number}", text


def _bring(
    written: Iterable[tuple[str, str]], intake: ImportIntake, tally: ImportCounts, *, is_index: bool
) -> None:
    form = NormalForm(intake.settings.urls.query, intake.settings.urls.session_parameters)
    readable = _readable(written, form, intake.forgotten, tally)
    known = intake.frontier.counts.known
    while some := list(islice(readable, _URLS_AT_ONCE)):
        unique = list(dict.fromkeys(some))
        tally.urls += len(unique)
        foreign = list_entry(unique, intake.worker.archive.now_us(), is_index=is_index)
        if intake.is_known(foreign.source):
            tally.known += 1
            continue
        url = foreign.answer.url
        lease = Lease(0, url, bytes(16), "", "", Purpose.SITEMAP, max_body_bytes=_MAX_XML_BYTES)
        intake.put(foreign, lease)
    tally.new_urls += intake.frontier.counts.known - known


def _readable(
    written: Iterable[tuple[str, str]], form: NormalForm, forgotten: Forgotten, tally: ImportCounts
) -> Iterator[str]:
    for where, text in written:
        url = form.find(text)
        if url is None:
            why = form.fault(text) or "only http and https are crawled"
            tally.note_unreadable(where, text, why)
        elif forgotten.covers(url):
            tally.forgotten += 1
        else:
            yield url
