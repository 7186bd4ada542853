"""A list of URLs as an exchange of the archive, so that a rebuild finds it again."""

from __future__ import annotations

import hashlib
from typing import Final
from xml.sax.saxutils import escape

from gossamer.archive.foreign import Foreign
from gossamer.archive.record import Record
from gossamer.archive.warc import payload_digest, record_id, warc_date
from gossamer.records import Fetched

_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"


def list_entry(urls: list[str], now_us: int, *, is_index: bool) -> Foreign:
    """The exchange that holds a list in the archive."""
    block = _index_of(urls) if is_index else "".join(f"{url}\n" for url in urls).encode()
    name = payload_digest(block)
    url = f"urn:{name}"
    mime = "text/xml" if is_index else "text/plain"
    headers = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:{record_id()}>\r\n"
        f"WARC-Date: {warc_date(now_us)}\r\nWARC-Target-URI: {url}\r\nContent-Type: {mime}\r\n"
        f"WARC-Block-Digest: {name}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    preamble = headers.encode("ascii")
    record = Record("WARC/1.1", "metadata", (), 0, 0, block, len(block), preamble=preamble)
    return Foreign(
        records=(record,),
        source=hashlib.blake2b(block, digest_size=16).hexdigest(),
        answer=Fetched(url, 200, _HEAD, block, b"", "", "", now_us, 0.0),
        capture=0,
        notes=(("originalHead", _HEAD.decode("ascii")),),
    )


def _index_of(urls: list[str]) -> bytes:
    entries = "".join(f"<sitemap><loc>{escape(url)}</loc></sitemap>\n" for url in urls)
    return f"<sitemapindex>\n{entries}</sitemapindex>\n".encode()
