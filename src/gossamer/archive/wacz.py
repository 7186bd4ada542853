"""Write WACZ files.

A ZIP after the WACZ 1.1.1 specification, with the members

    archive/*.warc.gz         stored uncompressed, so that readers can seek in them
    indexes/index.cdx.gz      the lines of all CDXJ files, sorted, compressed in blocks of 3,000
    indexes/index.idx         the first line of each block, and its offset in index.cdx.gz
    pages/pages.jsonl         pages with titles, for people
    datapackage.json          names, lengths and SHA-256 of all of these
    datapackage-digest.json   the SHA-256 of that

Everything is streamed; memory holds one block of lines.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Final

from isal import igzip_lib

from gossamer.archive.warc import SOFTWARE

WACZ_VERSION: Final = "1.1.1"
_BLOCK_LINES: Final = 3_000  # as other writers of such indexes use
_LEVEL: Final = 2


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page in the page list of a WACZ."""

    url: str
    at: str  # 2026-01-31T12:00:00Z
    title: str


class WaczWriter:
    """A WACZ that is being written, member by member. `close` writes the last two."""

    def __init__(self, file: IO[bytes], created: str) -> None:
        """`created` is the time, as in `ListedPage`."""
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._date = _zip_date(created)
        self._created = created
        self._resources: list[dict[str, Any]] = []

    def add_archive(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add a WARC file unchanged."""
        self._add(f"archive/{name}", pieces, zipfile.ZIP_STORED)

    def add_member(self, path: str, pieces: Iterable[bytes]) -> None:
        """Add another file unchanged."""
        self._add(path, pieces, zipfile.ZIP_STORED)

    def add_index(self, lines: Iterable[str]) -> None:
        """Add the lines of all captures, sorted by their bytes."""
        blocks: list[str] = []
        self._add("indexes/index.cdx.gz", _packed(lines, blocks), zipfile.ZIP_STORED)
        meta = {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}
        listed = [f"!meta 0 {json.dumps(meta)}", *blocks]
        text = "".join(f"{line}\n" for line in listed).encode()
        self._add("indexes/index.idx", [text], zipfile.ZIP_DEFLATED)

    def add_pages(self, pages: Iterable[ListedPage]) -> None:
        self._add("pages/pages.jsonl", _page_lines(pages), zipfile.ZIP_DEFLATED)

    def close(self, title: str, first: ListedPage | None) -> None:
        """Write the two members that list all others. `first` is the page that readers open."""
        package = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "title": title,
            "software": SOFTWARE,
            "created": self._created,
            "modified": self._created,
            **({"mainPageUrl": first.url, "mainPageDate": first.at} if first else {}),
            "resources": self._resources,
        }
        data = json.dumps(package, indent=2, ensure_ascii=False).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        self._add("datapackage.json", [data], zipfile.ZIP_DEFLATED)
        text = json.dumps(digest, indent=2).encode()
        self._add("datapackage-digest.json", [text], zipfile.ZIP_DEFLATED)
        self._zip.close()

    def _add(self, path: str, pieces: Iterable[bytes], method: int) -> None:
        info = zipfile.ZipInfo(path, self._date)
        info.compress_type = method
        info.external_attr = 0o644 << 16
        sha256, size = hashlib.sha256(), 0
        with self._zip.open(info, "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                sha256.update(piece)
                size += len(piece)
        name = path.rpartition("/")[2]
        found = {"name": name, "path": path, "hash": f"sha256:{sha256.hexdigest()}", "bytes": size}
        self._resources.append(found)


def _packed(lines: Iterable[str], blocks: list[str]) -> Iterator[bytes]:
    """The blocks of an index. The position of each is appended to `blocks`."""
    iterator, place = iter(lines), 0
    while some := list(islice(iterator, _BLOCK_LINES)):
        text = "".join(f"{line}\n" for line in some).encode()
        block = igzip_lib.compress(text, _LEVEL, igzip_lib.COMP_GZIP)
        first = " ".join(some[0].split(" ", 2)[:2])
        digest = f"sha256:{hashlib.sha256(block).hexdigest()}"
        entry = {
            "offset": place, "length": len(block), "digest": digest, "filename": "index.cdx.gz"
        }  # fmt: skip
        blocks.append(f"{first} {json.dumps(entry)}")
        place += len(block)
        yield block


def _page_lines(pages: Iterable[ListedPage]) -> Iterator[bytes]:
    yield _line({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
    for page in pages:
        name = hashlib.sha1(f"{page.at} {page.url}".encode(), usedforsecurity=False).hexdigest()
        entry = {"id": name[:20], "url": page.url, "ts": page.at}
        yield _line(entry | ({"title": page.title} if page.title else {}))


def _line(entry: dict[str, str]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _zip_date(iso: str) -> tuple[int, int, int, int, int, int]:
    year, month, day = (int(part) for part in iso[:10].split("-"))
    hour, minute, second = (int(part) for part in iso[11:19].split(":"))
    return max(1980, year), month, day, hour, minute, second
