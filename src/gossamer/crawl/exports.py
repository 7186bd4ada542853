"""Tables for people and their programs: pages, hosts, refused URLs, texts, captures, links.

    rows of the state --> export_staging.py --> batches --> export_files.py
    archive, graph ------------------------------^

Works beside a running crawl and sees one moment of it, in bounded memory. The columns are those of
docs/formats/exports.md, in that order.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from gossamer.archive.wacz import ListedPage
from gossamer.base.clock import iso_of
from gossamer.crawl import export_links
from gossamer.crawl.export_archive import ARCHIVES, check_archive, export_archive, is_listed
from gossamer.crawl.export_files import check_name, write_batches
from gossamer.crawl.export_staging import ask, batched, ordered, stage, stage_batches
from gossamer.crawl.study import Study
from gossamer.crawl.study_pages import Capture, StoredPage, times_of
from gossamer.errors import UsageError
from gossamer.frontier.rows import CaptureRow, HostRow, UrlRow, time_of
from gossamer.frontier.store import Table
from gossamer.graph import tables
from gossamer.graph.arrow import pa
from gossamer.graph.formats import NETWORK_FORMATS
from gossamer.graph.network import check_level
from gossamer.graph.ranks import ranks
from gossamer.records import Outcome, Reason
from gossamer.settings import nearest
from gossamer.urls.keys import KEY_BYTES
from gossamer.urls.site import site_of

_TEXT_ROWS: Final = 200  # of whole pages: some megabytes

_TYPES: Final = {"s": pa.string(), "i": pa.int64(), "f": pa.float64()}


def _schema(columns: str) -> Any:
    """`name:s count:i`: texts, whole numbers and numbers."""
    parted = (column.split(":") for column in columns.split())
    return pa.schema([(name, _TYPES[kind]) for name, kind in parted])


SCHEMAS: Final = {
    "pages": _schema(
        "url:s status:i outcome:s reason:s type:s bytes:i title:s language:s depth:i fetched_at:s "
        "modified_at:s digest:s duplicate_of:s in_links:i out_links:i rank:f"
    ),
    "links": _schema("source:s target:s anchor:s rel:s place:s first_seen:s last_seen:s"),
    "anchors": _schema("target:s anchor:s sites:i hosts:i pages:i links:i"),
    "graph": _schema("source:s target:s pages:i links:i"),
    "hosts": _schema(
        "host:s site:s known:i queued:i fetched:i failed:i refused:i bytes:i trouble:s "
        "crawl_delay_s:f"
    ),
    "refused": _schema("url:s reason:s detail:s depth:i via:s first_seen:s"),
    "text": _schema("url:s title:s language:s text:s"),
    "captures": _schema(
        "url:s fetched_at:s status:i type:s bytes:i digest:s file:s offset:i length:i"
    ),
}
_PLACES: Final = _schema("url:s file:s start:i")
_LISTED: Final = _schema("url:s at:s title:s depth:i")
_STAGED_PAGES: Final = SCHEMAS["pages"].append(pa.field("at_us", pa.int64()))
# Pages of one content, the first fetched first; what is no page is the only one of its kind. The
# same rule as in `frontier/copies.py`.
_COPIES: Final = (
    "partition by case when p.outcome = 'fetched' and p.status = 200 and p.bytes > 0 "
    "then p.digest else p.url end order by p.at_us, p.url"
)


# Of these there is one for hosts and for sites, too; and the last two are networks.
LEVELLED: Final = ("anchors", "links", "graph")
_NETWORKS: Final = LEVELLED[1:]


def export(
    study: Study,
    what: str,
    path: Path,
    level: str = "page",
    prefix: str = "",
    *,
    is_exact: bool = False,
) -> int:
    """Write a table to a file, its format told by the name; how many rows.

    `-` writes JSON lines to standard output. Of `warc` and `wacz`, which are no tables, it is how
    many bytes; `prefix` is what the URLs of a part of them begin with. `is_exact` leaves cells of
    CSV as they are, though a spreadsheet would run them. Raises UsageError for a table, level,
    format or place that cannot be, DiskFault when the disk is full, Rewritten when a takedown came
    in between; then no file appears.
    """
    check_export(what, path, level, prefix)
    if what in ARCHIVES:
        return export_archive(study, what, path, _listed_pages(study, prefix), prefix)
    if what in _NETWORKS and path.suffix.lower() in NETWORK_FORMATS:
        with study.steady() as check:
            return export_links.write_network(study.home.graph, level, path, check)
    found = batches(study, what, level)
    return write_batches(path, _schema_of(what, level), found, is_exact=is_exact)


def check_export(what: str, path: Path, level: str = "page", prefix: str = "") -> None:
    """Raise UsageError for what cannot be exported, or not to that file."""
    if what in ARCHIVES and level == "page":
        check_archive(what, path, prefix)
        return
    if prefix:
        raise UsageError("--prefix is for warc and wacz")
    check_table(what, level)
    check_name(path, tuple(NETWORK_FORMATS) if what in _NETWORKS else ())


def check_table(what: str, level: str = "page") -> None:
    """Raise UsageError for what is no table, or has no such level."""
    if what not in SCHEMAS:
        *most, last = (*SCHEMAS, *ARCHIVES)
        raise UsageError(
            f"{what!r} cannot be exported{nearest(what, (*SCHEMAS, *ARCHIVES))}; there are "
            f"{', '.join(most)} and {last}"
        )
    check_level(level)
    if level != "page" and what not in LEVELLED:
        raise UsageError(f"{what} have no level; --level is for links, anchors and graph")


def batches(study: Study, what: str, level: str = "page") -> Iterator[Any]:
    """The record batches of a table, with the columns of `SCHEMAS[what]`.

    Links of hosts or sites have those of `graph`. All batches are of one state: when a takedown
    replaces it, the next one is not given, and Rewritten is raised.
    """
    check_table(what, level)
    return _steadily(study, what, level)


def _steadily(study: Study, what: str, level: str) -> Iterator[Any]:
    with study.steady() as check:
        for batch in _batches(study, what, level):
            check()
            yield batch
        check()


def _batches(study: Study, what: str, level: str) -> Iterator[Any]:
    schema = _schema_of(what, level)
    match what:
        case "anchors":
            found = export_links.anchors(study.home.graph, level)
        case "links" if level == "page":
            found = export_links.links(study.home.graph)
        case "links" | "graph":
            found = export_links.edges(study.home.graph, level)
        case _:
            return _TABLES[what](study)
    return (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in found)


def _schema_of(what: str, level: str) -> Any:
    return SCHEMAS["graph" if what == "links" and level != "page" else what]


# -- pages


def _pages(study: Study) -> Iterator[Any]:
    rows = (_page_row(row) for row in study.url_rows())
    with tempfile.TemporaryDirectory(prefix="gossamer-export-") as folder:
        pages = stage(Path(folder) / "pages.parquet", _STAGED_PAGES, rows)
        linked = stage_batches(Path(folder) / "linked.parquet", tables.in_links(study.home.graph))
        ranked = stage_batches(Path(folder) / "ranked.parquet", ranks(study.home.graph))
        joined = {
            "duplicate_of": f"nullif(first_value(p.url) over ({_COPIES}), p.url) as duplicate_of",
            "in_links": "coalesce(l.pages, 0)::bigint as in_links",
            "rank": f"r.pagerank * (select count(*) from {ranked}) as rank",  # noqa: S608
        }
        names = ", ".join(joined.get(name, f"p.{name}") for name in SCHEMAS["pages"].names)
        sql = (
            f"select {names} from {pages} p left join {linked} l on p.url = l.target "  # noqa: S608
            f"left join {ranked} r on p.url = r.url order by p.url"
        )
        yield from ask(sql, SCHEMAS["pages"], Path(folder))


def _page_row(row: UrlRow) -> tuple[object, ...]:
    is_fetched = row.outcome is Outcome.FETCHED
    has_reason = row.outcome in (Outcome.FAILED, Outcome.REFUSED)
    return (
        row.url,
        row.status or None,
        row.outcome.value,
        (row.reason or None) if has_reason else None,
        row.type or None,
        row.size_bytes if is_fetched else None,
        row.title or None,
        row.language or None,
        row.depth,
        iso_of(row.at_us) if is_fetched else None,
        http_date(row.modified_at),
        row.digest or None,
        None,
        0,
        row.out_links,
        None,
        row.at_us,
    )


def http_date(value: str) -> str | None:
    """The date of a header in ISO form; None when it is none."""
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:  # no zone, or one that is not known: HTTP has only GMT
            moment = moment.replace(tzinfo=UTC)
        return iso_of(int(moment.timestamp()) * 1_000_000)
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None


def _listed_pages(study: Study, prefix: str) -> Iterator[ListedPage]:
    """Pages for people, those nearest to the seeds first."""
    rows = (
        (row.url, iso_of(row.at_us), row.title, row.depth)
        for row in study.url_rows()
        if is_listed(row) and row.url.startswith(prefix)
    )
    for batch in ordered(rows, _LISTED, "depth, url"):
        for row in batch.to_pylist():
            yield ListedPage(row["url"], row["at"], row["title"])


# -- hosts


def _hosts(study: Study) -> Iterator[Any]:
    rows = (_host_row(row) for row in study.host_rows())
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


def _refused(study: Study) -> Iterator[Any]:
    return ordered(_refused_rows(study), SCHEMAS["refused"], "url, via, detail")


def _refused_rows(study: Study) -> Iterator[tuple[object, ...]]:
    for row in study.url_rows():
        if row.outcome is Outcome.REFUSED:
            via = study.find_key(row.via) if row.via else None
            yield (
                row.url,
                row.reason,
                row.detail or None,
                row.depth,
                via.url if via else None,
                iso_of(row.first_us) if row.first_us else None,
            )
    for batch in tables.faults(study.home.graph):
        for fault in batch.to_pylist():
            yield _malformed_row(study, fault)


def _malformed_row(study: Study, fault: dict[str, Any]) -> tuple[object, ...]:
    source = study.find(fault["source"])
    where = f", line {fault['line']}" if fault["line"] else ""
    return (
        fault["written"],
        Reason.MALFORMED.value,
        f"{fault['fault']}{where}",
        source.depth + 1 if source else None,
        fault["source"],
        iso_of(source.at_us) if source and source.at_us else None,
    )


# -- text


def _text(study: Study) -> Iterator[Any]:
    """In the order of the archive, so that its files are read from end to end once."""
    places = ordered(_text_places(study), _PLACES, "file, start")
    rows = (
        (page.url, page.title or None, page.language or None, page.text)
        for page in _stored_pages(study, places)
        if page.kind != "other"
    )
    return batched(rows, SCHEMAS["text"], _TEXT_ROWS)


def _text_places(study: Study) -> Iterator[tuple[object, ...]]:
    for row in study.url_rows():
        if row.outcome is Outcome.FETCHED and 200 <= row.status < 300:
            capture = study.last_capture(row)
            if capture is not None:
                yield row.url, capture.file, capture.offset


def _stored_pages(study: Study, places: Iterator[Any]) -> Iterator[StoredPage]:
    for batch in places:
        for place in batch.to_pylist():
            row = study.get(place["url"])
            capture = study.last_capture(row)
            assert capture is not None, "it was there when the places were listed"
            yield study.page_at(row.url, capture)


# -- captures


def _captures(study: Study) -> Iterator[Any]:
    return ordered(_capture_rows(study), SCHEMAS["captures"], "url, fetched_at, file")


def _capture_rows(study: Study) -> Iterator[tuple[object, ...]]:
    by_url = groupby(study.scan(Table.CAPTURE), key=lambda row: row[0][:KEY_BYTES])
    for key, rows in by_url:
        url = study.find_key(key)
        captures = [
            Capture.of(time_of(at[KEY_BYTES:]), CaptureRow.decode(packed)) for at, packed in rows
        ]
        for row, at in zip(captures, times_of(captures), strict=True):
            yield (
                url.url if url else None,
                at,
                row.status or None,
                row.type or None,
                row.size_bytes,
                row.digest or None,
                row.file,
                row.offset,
                row.length,
            )


_TABLES: Final[dict[str, Callable[[Study], Iterator[Any]]]] = {
    "pages": _pages,
    "hosts": _hosts,
    "refused": _refused,
    "text": _text,
    "captures": _captures,
}
