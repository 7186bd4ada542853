"""Exports: the list of tables, and one of them as a file.

A file is complete before its first byte is sent, and it is deleted after the response. Making one
reads the whole collection, so only one is made at a time, only for a logged-in user or with the
token, and only up to a size limit: `gossamer export` has no limit.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from gossamer.errors import UsageError
from gossamer.frontier.counts import Counts
from gossamer.graph.formats import NETWORK_FORMATS
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_archive import ARCHIVES
from gossamer.transfer.export_choice import ALL, Choice
from gossamer.transfer.export_folder import EVERY, check_folder, export_folder
from gossamer.transfer.export_schemas import SCHEMAS
from gossamer.transfer.exports import LEVELLED, QUICK, check_export, export, write_table
from gossamer.web.open_collections import OpenCollections
from gossamer.web.slow_answers import TooBusy

MOST_BYTES: Final = 2 * 10**9  # of a table in memory; its file is smaller
MOST_LINKS: Final = 5_000_000  # of a network, which is in memory as a whole
# Most pages that are read again for h1, description, canonical and words: a minute or two.
MOST_READ: Final = 100_000
TABLE_FORMATS: Final = (".csv", ".jsonl", ".parquet")
_ZIP: Final = ".zip"  # of all tables
FORMATS: Final = (*TABLE_FORMATS, *NETWORK_FORMATS, _ZIP, *ARCHIVES.values())
_NETWORK: Final = (*TABLE_FORMATS, *NETWORK_FORMATS)
LEVELS: Final = ("page", "host", "site")
_SAYS: Final = {
    "pages": "Every known URL: status, outcome and reason, type, size, title, links and rank.",
    "links": "Every link: source, target, anchor text and place in the page.",
    "anchors": "The anchor texts of the links to each target, and the number of pages.",
    "graph": "The network of links, with the number of links per edge.",
    "hosts": "Every host: queue, outcomes, size and problems.",
    "files": "Every file that was found: type, size, linking pages and anchor texts.",
    "importance": "What fetched pages are worth: links, ranks, similarity, relevance, location.",
    "refused": "Every refused URL, and the rule that refused it.",
    "text": "The text of each page, as indexed.",
    "captures": "Every fetch, and its place in the archive.",
    "all": "Every table above as Parquet files in a ZIP; DuckDB reads each with one glob.",
    "warc": "The archive: every request and response, for tools that read WARC.",
    "wacz": "The archive with its index and list of pages, for web replay.",
}
_MEDIA: Final = {
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One possible export."""

    name: str
    says: str
    columns: tuple[str, ...]
    levels: tuple[str, ...]
    formats: tuple[str, ...]


def tables() -> tuple[ExportTable, ...]:
    """Return all exports: tables first, then the archive."""
    archives = (
        ExportTable(name, _SAYS[name], (), ("page",), (ARCHIVES[name],)) for name in ARCHIVES
    )
    found = (
        ExportTable(
            name=name,
            says=_SAYS.get(name, ""),
            columns=tuple(schema.names),
            levels=LEVELS if name in LEVELLED else ("page",),
            formats=_NETWORK if name in ("links", "graph") else TABLE_FORMATS,
        )
        for name, schema in SCHEMAS.items()
    )
    return (*found, ExportTable(EVERY, _SAYS[EVERY], (), ("page",), (_ZIP,)), *archives)


def exports_object() -> dict[str, Any]:
    """Return the possible exports, for programs."""
    return {
        "schema": 1,
        "exports": [
            {
                "what": table.name,
                "says": table.says,
                "columns": list(table.columns),
                "levels": list(table.levels),
                "formats": list(table.formats),
            }
            for table in tables()
        ],
    }


def export_file(
    collections: OpenCollections,
    crawl: str,
    what: str,
    level: str,
    ending: str,
    choice: Choice = ALL,
) -> FileResponse:
    """Return a table as a file; the default format is the table's first.

    Raises UsageError, NoCollection, TooBusy, CorruptFile.
    """
    paths = collections.existing(crawl)
    ending = ending or {**ARCHIVES, EVERY: _ZIP}.get(what, TABLE_FORMATS[0])
    name = f"{crawl or collections.first}-{what}{'' if level == 'page' else f'-{level}'}{ending}"
    if what == EVERY and ending == _ZIP:
        check_folder(what, Path(name), level, choice)
    else:
        check_export(what, Path(name), level, "", choice)
    if not collections.exporting.acquire(blocking=False):
        raise TooBusy("another export is running; try again when it is done")
    folder = Path(tempfile.mkdtemp(prefix="gossamer-web-"))
    try:
        # a separate reader: others continue to search
        with CollectionReader.open(paths.path) as reader:
            _write(reader, what, level, folder / name, choice)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        collections.exporting.release()
    media = _MEDIA.get(ending, "application/octet-stream")
    return _Passing(folder / name, filename=name, media_type=media)


class _Passing(FileResponse):
    """A file that is deleted with its folder, however the response ends.

    A background task is not enough: it is skipped if the client disconnects or requests an invalid
    range.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            shutil.rmtree(Path(self.path).parent, ignore_errors=True)


def _write(reader: CollectionReader, what: str, level: str, path: Path, choice: Choice) -> None:
    if what == EVERY:
        _write_all(reader, path)
    elif what in ARCHIVES:
        _check_archive(reader)
        export(reader, what, path)
    elif path.suffix in NETWORK_FORMATS:
        _check_links(reader.counts())
        export(reader, what, path, level)
    else:
        choice = _affordable(reader, what, choice)
        write_table(reader, what, path, level, choice, bounded=partial(_bounded, what=what))


def _affordable(reader: CollectionReader, what: str, choice: Choice) -> Choice:
    """Return the choice without columns that need too many pages, unless they are named."""
    if what == "pages" and not choice.columns and reader.counts().fetched > MOST_READ:
        return replace(choice, columns=QUICK)
    if what == "importance" and not choice.columns and reader.counts().fetched > MOST_READ:
        names = (name for name in SCHEMAS[what].names if name != "similarity")
        return replace(choice, columns=tuple(names))
    return choice


def _write_all(reader: CollectionReader, path: Path) -> None:
    """Write all tables as Parquet files in an uncompressed ZIP: the files are compressed
    already."""
    size = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for what in SCHEMAS:
            folder = path.parent / what
            export_folder(reader, what, folder, choice=_affordable(reader, what, ALL))
            for part in sorted(folder.iterdir()):
                size += part.stat().st_size
                if size > MOST_BYTES:
                    raise UsageError(
                        "all tables are too large for a download; use `gossamer export all -o DIR/`"
                    )
                archive.write(part, part.name)
            shutil.rmtree(folder)


def _check_archive(reader: CollectionReader) -> None:
    size = sum(file.stat().st_size for file in reader.paths.archive.glob("*.warc.gz"))
    if size > MOST_BYTES:
        raise UsageError(
            f"an archive of {size:,} bytes is too large for a download; "
            "use `gossamer export wacz -o FILE`, or copy its files"
        )


def _check_links(counts: Counts) -> None:
    if counts.links > MOST_LINKS:
        raise UsageError(
            f"a network of {counts.links:,} links is too large for a download; "
            "use `gossamer export graph -o FILE`"
        )


def _bounded(found: Iterator[Any], what: str) -> Iterator[Any]:
    size = 0
    for batch in found:
        size += batch.nbytes
        if size > MOST_BYTES:
            raise UsageError(
                f"this table is too large for a download; use `gossamer export {what} -o FILE`"
            )
        yield batch
