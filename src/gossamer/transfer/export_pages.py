"""The table of pages: every known URL, joined with its links, rank and copies.

    rows of the state -----+
    links into each page --+--> DuckDB joins and sorts --> batches
    ranks -----------------+
    facts of the archive --+    (page_facts.py)

Only what the selected columns need is staged: without the columns of `READ_AGAIN` no page is read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import iso_of
from gossamer.frontier.duplicates.pointers import all_pointers, has_duplicates
from gossamer.frontier.rows import UrlRow
from gossamer.graph import tables
from gossamer.graph.arrow import pa
from gossamer.graph.ranks.ranks import ranks
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.transfer.export_choice import Choice
from gossamer.transfer.export_schemas import FACTS, MEASURED, MEASURED_PAGES, READ_AGAIN, SCHEMAS
from gossamer.transfer.export_sort import ask, stage, stage_batches
from gossamer.transfer.page_facts import page_facts

_JOINED: Final = (*READ_AGAIN, "duplicate_of", "in_links", "rank")
_STAGED: Final = pa.schema(
    [
        *(field for field in SCHEMAS["pages"] if field.name not in _JOINED),
        pa.field("at_us", pa.int64()),
    ]
)
_POINTERS: Final = pa.schema([("url", pa.string()), ("first", pa.string())])
# For a collection of an earlier version, which has no table of duplicates: pages with the same
# content, the first fetched first; a URL that is not a page is its own group.
_COPIES: Final = (
    "partition by case when p.outcome = 'fetched' and p.status = 200 and p.bytes > 0 "
    "then p.digest else p.url end order by p.at_us, p.url"
)


def pages(reader: CollectionReader, choice: Choice) -> Iterator[Any]:
    """Yield record batches of the selected pages and columns, sorted by URL."""
    has_measured = bool(set(choice.columns).intersection(MEASURED))
    schema = choice.narrowed(MEASURED_PAGES if has_measured else SCHEMAS["pages"])
    with tempfile.TemporaryDirectory(prefix="gossamer-export-") as name:
        folder = Path(name)
        rows = (_page_row(row) for row in reader.url_rows())
        staged = stage(folder / "pages.parquet", _STAGED, rows)
        wanted = set(schema.names)
        columns = {name: f"p.{name}" for name in _STAGED.names}
        columns["duplicate_of"] = f"nullif(first_value(p.url) over ({_COPIES}), p.url)"
        joins = []
        if "duplicate_of" in wanted and has_duplicates(reader.store):
            pointers = stage(folder / "duplicates.parquet", _POINTERS, _duplicates(reader))
            columns["duplicate_of"] = "d.first"
            joins.append(f"left join {pointers} d on p.url = d.url")
        if "in_links" in wanted:
            linked = stage_batches(folder / "linked.parquet", tables.in_links(reader.paths.graph))
            columns["in_links"] = "coalesce(l.pages, 0)::bigint"
            joins.append(f"left join {linked} l on p.url = l.target")
        if "rank" in wanted:
            ranked = stage_batches(folder / "ranked.parquet", ranks(reader.paths.graph))
            columns["rank"] = f"r.pagerank * (select count(*) from {ranked})"  # noqa: S608
            joins.append(f"left join {ranked} r on p.url = r.url")
        if wanted.intersection(READ_AGAIN):
            facts = stage(folder / "facts.parquet", FACTS, page_facts(reader, choice))
            columns |= {name: f"f.{name}" for name in READ_AGAIN}
            joins.append(f"left join {facts} f on p.url = f.url")
        if has_measured:
            from gossamer.transfer.page_importance import joined_importance  # loads NumPy

            more = joined_importance(reader, folder, wanted.intersection(MEASURED))
            columns |= more[0]
            joins += more[1]
        told = ", ".join(f"{columns[name]} as {name}" for name in schema.names)
        # Copies are found among all pages, so the filter comes after them.
        sql = (
            f"select {', '.join(schema.names)} from (select p.url as by_url, "  # noqa: S608
            f"p.outcome as outcome_, p.status as status_, {told} "
            f"from {staged} p {' '.join(joins)}) "
            f"where {choice.condition()} order by by_url"
        )
        yield from ask(sql, schema, folder)


def _duplicates(reader: CollectionReader) -> Iterator[tuple[object, ...]]:
    """Yield the URL of each duplicate with that of the page that it points to."""
    for key, row in all_pointers(reader.store):
        page, first = reader.find_key(key), reader.find_key(row.first)
        if page is not None and first is not None:
            yield page.url, first.url


def _page_row(row: UrlRow) -> tuple[object, ...]:
    """Return a row with the columns of `_STAGED`."""
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
        row.at_us if is_fetched else None,
        http_moment(row.modified_at),
        row.digest or None,
        row.out_links,
        # From microseconds, as the archive keeps them: a rebuilt state gives the same value.
        round(round(row.took_s * 1000, 3), 1) if is_fetched else None,
        row.redirect or None,
        row.importance or None,
        row.at_us,
    )


def http_moment(value: str) -> int | None:
    """Return the date of a header in microseconds since 1970, or None if it is invalid."""
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:  # no zone, or an unknown one: HTTP has only GMT
            moment = moment.replace(tzinfo=UTC)
        at_us = int(moment.timestamp()) * 1_000_000
        iso_of(at_us)  # raises for a year out of range
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None
    return at_us
