"""Export tables: pages, hosts, refused URLs, texts, captures, links.

    rows of the state --> export_sort.py ------> batches --> export_files.py, export_folder.py
    archive, graph ------------------------------^

Works during a crawl, on one moment of it, in bounded memory. `export_schemas.py` defines the
columns and their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from gossamer.archive.wacz import ListedPage
from gossamer.base.clock import iso_of
from gossamer.errors import UsageError
from gossamer.frontier.rows import CaptureRow, HostRow, time_of
from gossamer.frontier.store import StateTable
from gossamer.graph import tables
from gossamer.graph.arrow import pa
from gossamer.graph.formats import NETWORK_FORMATS
from gossamer.graph.network import check_level
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.found_files import found_files
from gossamer.reader.pages import StoredCapture, StoredPage, times_of
from gossamer.records import Outcome, Reason
from gossamer.settings import nearest
from gossamer.transfer import export_links
from gossamer.transfer.export_archive import ARCHIVES, check_archive, export_archive, is_listed
from gossamer.transfer.export_choice import ALL, Choice
from gossamer.transfer.export_files import check_name, is_text, write_batches
from gossamer.transfer.export_pages import pages
from gossamer.transfer.export_schemas import (
    CAPTURES_AS_TEXT,
    LISTED,
    MEASURED_PAGES,
    PLACES,
    READ_AGAIN,
    SCHEMAS,
)
from gossamer.transfer.export_sort import batched, ordered
from gossamer.urls.keys import KEY_BYTES
from gossamer.urls.site import site_of

# Columns of pages that come from the state, the links and the ranks.
QUICK: Final = tuple(name for name in SCHEMAS["pages"].names if name not in READ_AGAIN)
WORDS_APART: Final = " | "  # between the anchor texts of a file
_TEXT_ROWS: Final = 200  # of whole pages: some megabytes
# These exist for hosts and sites too; the last two are networks.
LEVELLED: Final = ("anchors", "links", "graph")
_NETWORKS: Final = LEVELLED[1:]


def export(
    reader: CollectionReader,
    what: str,
    path: Path,
    level: str = "page",
    prefix: str = "",
    *,
    is_exact: bool = False,
    choice: Choice = ALL,
) -> int:
    """Write a table in the format of the file's extension; return the number of rows.

    `-` writes JSON lines to standard output. For `warc` and `wacz` the result is the number of
    bytes; `prefix` selects the URLs that begin with it. `is_exact` keeps CSV cells that a
    spreadsheet would run as formulas. `choice` selects pages and columns.
    Raises UsageError for an invalid table, level, format or place, DiskFault when the disk is
    full, Rewritten when a takedown happened during the export; after an error no file appears.
    """
    check_export(what, path, level, prefix, choice)
    if what in ARCHIVES:
        return export_archive(reader, what, path, _listed_pages(reader, prefix), prefix)
    if what in _NETWORKS and path.suffix.lower() in NETWORK_FORMATS:
        with reader.steady() as check:
            return export_links.write_network(reader, level, path, check)
    return write_table(reader, what, path, level, choice, is_exact=is_exact)


def write_table(
    reader: CollectionReader,
    what: str,
    path: Path,
    level: str = "page",
    choice: Choice = ALL,
    *,
    is_exact: bool = False,
    bounded: Callable[[Iterator[Any]], Iterator[Any]] = iter,
) -> int:
    """The same for a table. `bounded` may stop an export that is too large."""
    as_text = is_text(path)
    found = bounded(batches(reader, what, level, choice, as_text=as_text))
    schema = schema_of(what, level, choice, as_text=as_text)
    return write_batches(path, schema, found, is_exact=is_exact)


def check_export(
    what: str, path: Path, level: str = "page", prefix: str = "", choice: Choice = ALL
) -> None:
    """Raise UsageError for an invalid export."""
    if what in ARCHIVES and level == "page":
        if choice != ALL:
            raise UsageError("--outcome, --status and --columns work only with tables")
        check_archive(what, path, prefix)
        return
    if prefix:
        raise UsageError(f"--prefix works only with warc and wacz, not with {what}")
    check_table(what, level, choice)
    ending = check_name(path, tuple(NETWORK_FORMATS) if what in _NETWORKS else ())
    if ending in NETWORK_FORMATS and choice.columns:
        raise UsageError(f"--columns works only with tables; {ending} files have fixed columns")


def check_table(what: str, level: str = "page", choice: Choice = ALL) -> None:
    """Raise UsageError for an unknown table, or a level or filter that the table does not have."""
    if what not in SCHEMAS:
        *most, last = (*SCHEMAS, *ARCHIVES)
        raise UsageError(
            f"{what!r} cannot be exported{nearest(what, (*SCHEMAS, *ARCHIVES))}; use "
            f"{', '.join(most)} or {last}"
        )
    check_level(level)
    if level != "page" and what not in LEVELLED:
        raise UsageError(f"--level works only with links, anchors and graph, not with {what}")
    if choice.is_filter and what != "pages":
        raise UsageError(f"--outcome and --status work only with pages, not with {what}")
    choice.names(_whole_schema(what, level, choice))


def batches(
    reader: CollectionReader,
    what: str,
    level: str = "page",
    choice: Choice = ALL,
    *,
    as_text: bool = False,
) -> Iterator[Any]:
    """Yield the record batches of a table, with the selected columns of `SCHEMAS[what]`.

    Links of hosts or sites have the columns of `graph`. `as_text` names captures by a text that
    `page --at` accepts. All batches are of one state: if a takedown replaces it, the next batch
    raises Rewritten.
    """
    check_table(what, level, choice)
    return _steadily(reader, what, level, choice, as_text=as_text)


def glance(reader: CollectionReader, what: str) -> Iterator[Any]:
    """The same without the columns for which pages are read again."""
    return batches(reader, what, "page", Choice(columns=QUICK) if what == "pages" else ALL)


def _steadily(
    reader: CollectionReader, what: str, level: str, choice: Choice, *, as_text: bool
) -> Iterator[Any]:
    with reader.steady() as check:
        if what == "captures":
            found = _captures(reader, as_text=as_text)
        else:
            found = _batches(reader, what, level, choice)
        for batch in found:
            check()
            yield batch.select(list(choice.columns)) if choice.columns else batch
        check()


def _batches(reader: CollectionReader, what: str, level: str, choice: Choice) -> Iterator[Any]:
    schema = _whole_schema(what, level)
    found: Iterator[Any]
    match what:
        case "anchors":
            found = export_links.anchors(reader.paths.graph, level)
        case "links" if level == "page":
            found = export_links.links(reader.paths.graph)
        case "links" | "graph":
            found = export_links.edges(reader.paths.graph, level)
        case "pages":
            return pages(reader, choice)
        case "importance":
            names = choice.names(schema)
            return pages(reader, Choice((Outcome.FETCHED.value,), columns=names))
        case _:
            return _TABLES[what](reader)
    return (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in found)


def schema_of(
    what: str, level: str = "page", choice: Choice = ALL, *, as_text: bool = False
) -> Any:
    """Return the selected columns of a table, with their types. Raises UsageError."""
    if as_text and what == "captures":
        return choice.narrowed(CAPTURES_AS_TEXT)
    return choice.narrowed(_whole_schema(what, level, choice))


def _whole_schema(what: str, level: str, choice: Choice = ALL) -> Any:
    if what == "pages" and choice.columns:
        return MEASURED_PAGES
    return SCHEMAS["graph" if what == "links" and level != "page" else what]


# -- pages


def _listed_pages(reader: CollectionReader, prefix: str) -> Iterator[ListedPage]:
    """Yield pages for the list of a WACZ, those nearest to the seeds first."""
    rows = (
        (row.url, iso_of(row.at_us), row.title, row.depth)
        for row in reader.url_rows()
        if is_listed(row) and row.url.startswith(prefix)
    )
    for batch in ordered(rows, LISTED, "depth, url"):
        for row in batch.to_pylist():
            yield ListedPage(row["url"], row["at"], row["title"])


# -- hosts


def _hosts(reader: CollectionReader) -> Iterator[Any]:
    rows = (_host_row(row) for row in reader.host_rows())
    return ordered(rows, SCHEMAS["hosts"], "host")


def _host_row(row: HostRow) -> tuple[object, ...]:
    return (
        row.name,
        site_of(row.name),
        row.known,
        row.queued + row.waiting,
        row.fetched,
        row.failed,
        row.refused,
        row.size_bytes,
        row.trouble or None,
        row.crawl_delay_s or None,
    )


# -- refused


def _refused(reader: CollectionReader) -> Iterator[Any]:
    return ordered(_refused_rows(reader), SCHEMAS["refused"], "url, via, detail")


def _refused_rows(reader: CollectionReader) -> Iterator[tuple[object, ...]]:
    for row in reader.url_rows():
        if row.outcome is Outcome.REFUSED:
            via = reader.find_key(row.via) if row.via else None
            yield (
                row.url,
                row.reason,
                row.detail or None,
                row.depth,
                via.url if via else None,
                row.first_us or None,
            )
    for batch in tables.faults(reader.paths.graph):
        for fault in batch.to_pylist():
            yield _malformed_row(reader, fault)


def _malformed_row(reader: CollectionReader, fault: dict[str, Any]) -> tuple[object, ...]:
    source = reader.find(fault["source"])
    where = f", line {fault['line']}" if fault["line"] else ""
    return (
        fault["written"],
        Reason.MALFORMED.value,
        f"{fault['fault']}{where}",
        source.depth + 1 if source else None,
        fault["source"],
        source.at_us if source and source.at_us else None,
    )


# -- files


def _files(reader: CollectionReader) -> Iterator[Any]:
    rows = (
        (
            one.url, one.type or None, one.bytes, one.is_taken, one.title or None,
            WORDS_APART.join(one.words) or None, one.pages_total,
            one.pages[0] if one.pages else None, one.found_us,
        )
        for one in found_files(reader)
    )  # fmt: skip
    return ordered(rows, SCHEMAS["files"], "found_at, url")


# -- text


def _text(reader: CollectionReader) -> Iterator[Any]:
    """Yield texts in the order of the archive, so that each file is read once from end to end."""
    places = ordered(_text_places(reader), PLACES, "file, start")
    rows = (
        (page.url, page.title or None, page.language or None, page.text)
        for page in _stored_pages(reader, places)
        if page.kind != "other"
    )
    return batched(rows, SCHEMAS["text"], _TEXT_ROWS)


def _text_places(reader: CollectionReader) -> Iterator[tuple[object, ...]]:
    for row in reader.url_rows():
        if row.outcome is Outcome.FETCHED and 200 <= row.status < 300:
            capture = reader.last_capture(row)
            if capture is not None:
                yield row.url, capture.file, capture.offset


def _stored_pages(reader: CollectionReader, places: Iterator[Any]) -> Iterator[StoredPage]:
    for batch in places:
        for place in batch.to_pylist():
            row = reader.get(place["url"])
            capture = reader.last_capture(row)
            assert capture is not None, "it existed when the places were listed"
            yield reader.page_at(row.url, capture)


# -- captures


def _captures(reader: CollectionReader, *, as_text: bool) -> Iterator[Any]:
    schema = CAPTURES_AS_TEXT if as_text else SCHEMAS["captures"]
    return ordered(_capture_rows(reader, as_text=as_text), schema, "url, fetched_at, file")


def _capture_rows(reader: CollectionReader, *, as_text: bool) -> Iterator[tuple[object, ...]]:
    by_url = groupby(reader.scan(StateTable.CAPTURE), key=lambda row: row[0][:KEY_BYTES])
    for key, rows in by_url:
        url = reader.find_key(key)
        captures = [
            StoredCapture.of(time_of(at[KEY_BYTES:]), CaptureRow.decode(packed))
            for at, packed in rows
        ]
        for row, named in zip(captures, times_of(captures), strict=True):
            yield (
                url.url if url else None,
                named if as_text else row.at_us,
                row.status or None,
                row.type or None,
                row.size_bytes,
                row.digest or None,
                row.file,
                row.offset,
                row.length,
            )


_TABLES: Final[dict[str, Callable[[CollectionReader], Iterator[Any]]]] = {
    "files": _files,
    "hosts": _hosts,
    "refused": _refused,
    "text": _text,
}
