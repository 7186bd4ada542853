"""The tables behind a report, queried with SQL.

    urls    every known URL: url status outcome reason detail type bytes title language depth
            took_s at_us robots redirect digest, `content` (the digest, for a duplicate that of the
            first page), is_seed, and `inside`: it belongs to the site
    heads   of pages inside: url, description, insecure (the first file loaded by http)

Both are staged in Parquet files, 10,000 rows at a time, so memory is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import turbohtml

from gossamer.errors import CorruptFile, NotKnown, UsageError
from gossamer.frontier.duplicates.pointers import first_of, has_duplicates
from gossamer.frontier.rows import UrlRow
from gossamer.graph.arrow import pa, pq
from gossamer.parse.head_facts import description_of, insecure_files
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredCapture
from gossamer.records import Outcome
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

_BATCH_ROWS: Final = 10_000
_HTML: Final = ("text/html", "application/xhtml+xml", "")
_URLS: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("url", "outcome", "reason", "detail", "type", "title")),
        *((name, pa.string()) for name in ("language", "robots", "redirect", "digest", "content")),
        *((name, pa.int64()) for name in ("status", "bytes", "depth", "at_us")),
        ("took_s", pa.float64()),
        ("is_seed", pa.bool_()),
        ("inside", pa.bool_()),
    ]
)
_HEADS: Final = pa.schema(
    [("url", pa.string()), ("description", pa.string()), ("insecure", pa.string())]
)

Inside = Callable[[str], bool]


def inside_of(reader: CollectionReader, site: str) -> Inside:
    """Return the test whether a URL belongs to a host, a site or a URL prefix.

    Raises UsageError for a text that is none of them.
    """
    if not site:
        return lambda _url: True
    spellings = tuple(reader.spellings(site))
    if not spellings:
        raise UsageError(f"{site!r} is not a site (example.org or a URL expected)")
    if "/" in site:
        return lambda url: url.startswith(spellings)
    name = host_of(spellings[0])
    return lambda url: (host := host_of(url)) == name or site_of(host) == name


def stage_urls(reader: CollectionReader, inside: Inside, folder: Path) -> Path:
    """Write the table `urls`. Raises NotKnown when no URL is inside."""
    seeds = frozenset(reader.seeds())
    path = folder / "urls.parquet"
    content_of = _contents(reader)
    rows = (_url_row(row, content_of(row), seeds, inside) for row in reader.url_rows())
    if not _write(path, _URLS, rows):
        raise NotKnown(
            "the collection has no URL of that site; list its hosts with `gossamer export hosts`"
        )
    return path


def _contents(reader: CollectionReader) -> Callable[[UrlRow], str]:
    """What is equal for pages with the same content, by the rule of the crawl (`--duplicates`)."""
    if not has_duplicates(reader.store):
        return lambda row: row.digest

    def content_of(row: UrlRow) -> str:
        is_page = row.outcome is Outcome.FETCHED and row.status == 200
        pointer = first_of(reader.store, reader.keys.of(row.url)) if is_page else None
        first = reader.find_key(pointer.first) if pointer else None
        return first.digest if first else row.digest

    return content_of


def _url_row(
    row: UrlRow, content: str, seeds: frozenset[str], inside: Inside
) -> tuple[object, ...]:
    return (
        row.url,
        row.outcome.value,
        row.reason,
        row.detail,
        row.type,
        row.title,
        row.language,
        row.robots,
        row.redirect,
        row.digest,
        content,
        row.status,
        row.size_bytes,
        row.depth,
        row.at_us,
        row.took_s,
        row.url in seeds,
        inside(row.url),
    )


def stage_heads(reader: CollectionReader, inside: Inside, folder: Path, *, is_quick: bool) -> Path:
    """Write the table `heads` in the order of the archive; `is_quick` leaves it empty."""
    path = folder / "heads.parquet"
    rows = () if is_quick else _head_rows(reader, inside)
    _write(path, _HEADS, rows)
    return path


def _head_rows(reader: CollectionReader, inside: Inside) -> Iterator[tuple[object, ...]]:
    places: list[tuple[StoredCapture, str]] = []
    for row in reader.url_rows():
        is_page = row.outcome is Outcome.FETCHED and row.status == 200 and row.type in _HTML
        if is_page and inside(row.url) and (capture := reader.last_capture(row)) is not None:
            places.append((capture, row.url))
    # About 400 bytes per page. The archive is read in its own order, not in key order.
    places.sort(key=lambda place: (place[0].file, place[0].offset))
    for capture, url in places:
        yield _head_row(reader, capture, url)


def _head_row(reader: CollectionReader, capture: StoredCapture, url: str) -> tuple[object, ...]:
    try:
        page = reader.page_at(url, capture)
    except CorruptFile:  # `gossamer verify` reports it; the report omits this page
        return url, None, None
    if page.kind not in ("html", "xhtml"):
        return url, None, None
    insecure = None
    if url.startswith("https:"):
        insecure = next(insecure_files(turbohtml.parse(page.html)), None)
    return url, description_of(page.body, ""), insecure


def _write(path: Path, schema: Any, rows: Iterable[tuple[object, ...]]) -> int:
    """Write rows to a file; return how many are inside, if the last column says so."""
    iterator, count = iter(rows), 0
    with pq.ParquetWriter(path, schema, compression="lz4") as writer:
        while piece := list(islice(iterator, _BATCH_ROWS)):
            count += sum(row[-1] is True for row in piece)
            columns = zip(*piece, strict=True)
            arrays = [_array(column, f.type) for column, f in zip(columns, schema, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return count


def _array(column: tuple[object, ...], kind: Any) -> Any:
    """Build an Arrow column; a lone surrogate becomes a question mark."""
    try:
        return pa.array(column, kind)
    except UnicodeEncodeError:
        return pa.array([_whole(cell) for cell in column], kind)


def _whole(cell: object) -> object:
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
