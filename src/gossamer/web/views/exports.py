"""Tables to take away: what there is, and one of them as a file.

A file is made whole before the first byte is sent, so nobody gets half of one, and it is deleted
when it was sent, or when nobody took it. Making one reads all of the collection, so one is made at
a time, only for whoever is logged in or has the token, and none that would be too large: `gossamer
export` has no bound.
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

MOST_BYTES: Final = 2 * 10**9  # of a table in memory's form; its file is smaller
MOST_LINKS: Final = 5_000_000  # of a network, whose file is written in one go
# Pages up to which they are read again for h1, description, canonical and words: a minute or two.
MOST_READ: Final = 100_000
TABLE_FORMATS: Final = (".csv", ".jsonl", ".parquet")
_ZIP: Final = ".zip"  # of all tables
FORMATS: Final = (*TABLE_FORMATS, *NETWORK_FORMATS, _ZIP, *ARCHIVES.values())
_NETWORK: Final = (*TABLE_FORMATS, *NETWORK_FORMATS)
LEVELS: Final = ("page", "host", "site")
_SAYS: Final = {
    "pages": "Every known URL: status, outcome and reason, type, size, title, links and rank.",
    "links": "Every link: from, to, its words, its place in the page.",
    "anchors": "Per target the words of the links to it, and from how many pages.",
    "graph": "Who links to whom, and how often: a network.",
    "hosts": "Every host: its queue, outcomes, size and trouble.",
    "refused": "What was not asked for or turned away, and by which rule.",
    "text": "The text of each page, as it is searched.",
    "captures": "Every fetch, and where it lies in the archive.",
    "all": "Every table above as Parquet files in a ZIP; DuckDB reads each with one glob.",
    "warc": "The archive itself: every request and answer, for tools that read WARC.",
    "wacz": "The archive with its index and list of pages, for web replay.",
}
_MEDIA: Final = {
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True, slots=True)
class Table:
    """One thing that can be exported."""

    name: str
    says: str
    columns: tuple[str, ...]
    levels: tuple[str, ...]
    formats: tuple[str, ...]


def tables() -> tuple[Table, ...]:
    """All of them: tables first, then the archive."""
    archives = (Table(name, _SAYS[name], (), ("page",), (ARCHIVES[name],)) for name in ARCHIVES)
    found = (
        Table(
            name=name,
            says=_SAYS.get(name, ""),
            columns=tuple(schema.names),
            levels=LEVELS if name in LEVELLED else ("page",),
            formats=_NETWORK if name in ("links", "graph") else TABLE_FORMATS,
        )
        for name, schema in SCHEMAS.items()
    )
    return (*found, Table(EVERY, _SAYS[EVERY], (), ("page",), (_ZIP,)), *archives)


def exports_object() -> dict[str, Any]:
    """What can be exported, for programs."""
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
    """A table as a file to save; without an ending, in its first format.

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
        raise TooBusy("another export is being made; try again when it is done")
    folder = Path(tempfile.mkdtemp(prefix="gossamer-web-"))
    try:
        with CollectionReader.open(paths.path) as reader:  # of our own: others search meanwhile
            _write(reader, what, level, folder / name, choice)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        collections.exporting.release()
    media = _MEDIA.get(ending, "application/octet-stream")
    return _Passing(folder / name, filename=name, media_type=media)


class _Passing(FileResponse):
    """A file that is deleted with its folder, however the sending of it ends.

    A background task would not do: it is left out when the client takes no more, or asks for a
    part that there is not.
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
    """The choice without columns for which too many pages would be read, unless they are named."""
    if what == "pages" and not choice.columns and reader.counts().fetched > MOST_READ:
        return replace(choice, columns=QUICK)
    return choice


def _write_all(reader: CollectionReader, path: Path) -> None:
    """All tables as Parquet files in a ZIP, which is stored: they are compressed already."""
    size = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for what in SCHEMAS:
            folder = path.parent / what
            export_folder(reader, what, folder, choice=_affordable(reader, what, ALL))
            for part in sorted(folder.iterdir()):
                size += part.stat().st_size
                if size > MOST_BYTES:
                    raise UsageError(
                        "all tables are too large to be sent; use `gossamer export all -o DIR/`"
                    )
                archive.write(part, part.name)
            shutil.rmtree(folder)


def _check_archive(reader: CollectionReader) -> None:
    size = sum(file.stat().st_size for file in reader.paths.archive.glob("*.warc.gz"))
    if size > MOST_BYTES:
        raise UsageError(
            f"an archive of {size:,} bytes is too large to be sent; "
            "use `gossamer export wacz -o FILE`, or copy its files"
        )


def _check_links(counts: Counts) -> None:
    if counts.links > MOST_LINKS:
        raise UsageError(
            f"a network of {counts.links:,} links is too large to be sent; "
            "use `gossamer export graph -o FILE`"
        )


def _bounded(found: Iterator[Any], what: str) -> Iterator[Any]:
    size = 0
    for batch in found:
        size += batch.nbytes
        if size > MOST_BYTES:
            raise UsageError(
                f"that table is too large to be sent; use `gossamer export {what} -o FILE`"
            )
        yield batch
