"""The graph as tables for people: links, malformed links, captures, links to a page.

Each query is one SQL statement over the files in the manifest, so a reader in another process never
stops the writer. DuckDB sorts and groups within a memory limit and spills to disk (`spilling`).
Rows have a fixed order, independent of the files.

The newest capture of a page counts: its links are the current links of the page. A capture without
changes adds no links, and only updates the time at which they were last seen.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from gossamer.errors import CorruptFile, StoreError
from gossamer.graph import manifest as manifests
from gossamer.graph.arrow import pa, pq
from gossamer.graph.manifest import REBUILD, Manifest

MEMORY: Final = "256MB"
THREADS: Final = 2  # each sorts in its own memory
BATCH_ROWS: Final = 50_000

_COLUMNS: Final = ["source", "target", "anchor", "rel", "place", "kind", "line", "fault", "seen_us"]

# A part of an older release has no rows of captures: there, the rows of links show them.
RAW_CAPTURES: Final = """
    select source, min(seen_us) as first_us,
           max(seen_us) filter (where kind <> 'capture' or rel <> 'same') as links_us,
           max(seen_us) as last_us
    from raw {} group by source
"""
_CAPTURES: Final = """
    create temp table captures as
    select source, min(first_us) as first_us, nullif(max(links_us), -1) as links_us,
           max(last_us) as last_us
    from ({}) group by source
"""
_ROWS: Final = """
    create view rows as
    select source, target, anchor, rel, place, kind, line, fault, seen_us as first_us, seen_us
    from raw where kind <> 'capture'
"""
_CURRENT: Final = """
    create view links as
    select rows.* from rows join captures using (source)
    where fault = '' and seen_us = links_us
"""

_LINKS: Final = """
    select source, target, anchor, rel, place,
           min(rows.first_us) as first_seen, any_value(last_us) as last_seen
    from rows join captures using (source) where fault = ''
    group by source, target, anchor, rel, place, kind
    having max(seen_us) = any_value(links_us)
    order by source, target, anchor, rel, place, kind
"""
_FAULTS: Final = """
    select source, target as written, fault, line
    from rows join captures using (source) where fault <> '' and seen_us = links_us
    group by source, target, fault, line
    order by source, line, written, fault
"""
_IN_LINKS: Final = """
    select target, count(distinct source) as pages
    from links where source <> target
    group by target order by target
"""
_PAGES: Final = "select source, first_us, links_us, last_us from captures order by source"


def links(folder: Path) -> Iterator[Any]:
    """Record batches of distinct links: source target anchor rel place first_seen last_seen.

    Times are microseconds since 1970. Two rows that look equal are links of two kinds.
    """
    return batches(folder, _LINKS)


def faults(folder: Path) -> Iterator[Any]:
    """Record batches of malformed links: source written fault line."""
    return batches(folder, _FAULTS)


def in_links(folder: Path) -> Iterator[Any]:
    """Record batches of `target` and the number of other `pages` that link to it."""
    return batches(folder, _IN_LINKS)


def captures(folder: Path) -> Iterator[Any]:
    """Record batches of pages with their first capture, the one with the current links, and the
    last: source first_us links_us last_us.
    """
    return batches(folder, _PAGES)


def table_of(batches: Iterator[Any]) -> Any:
    """All batches as one Arrow table."""
    return pa.Table.from_batches(list(batches))


def batches(folder: Path, sql: str) -> Iterator[Any]:
    """The result of a query over `links`, `rows` and `captures` (see `opened`).

    At least one batch, so that the columns are known. Raises CorruptFile, which says what to do.
    """
    with opened(folder) as connection:
        yield from answers(connection, sql)


def answers(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[Any]:
    """The same over a graph that is already open."""
    reader: Any = connection.sql(sql).to_arrow_reader(BATCH_ROWS)
    is_empty = True
    while (batch := _next(reader)) is not None:
        is_empty = False
        yield batch
    if is_empty:
        yield _empty(reader.schema)


def _next(reader: Any) -> Any:
    """The next batch. Errors of Arrow here are errors of DuckDB reading a file. They are converted,
    because the caller's writing may raise Arrow errors, too.
    """
    try:
        return next(reader, None)
    except (pa.ArrowException, OSError) as error:
        raise duckdb.IOException(str(error)) from error


@contextmanager
def opened(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The graph at this moment, for SQL queries in bounded memory.

        links     the current links of pages, one row for each occurrence:
                  source target anchor rel place kind line fault first_us seen_us
        captures  one row for each page: source first_us links_us last_us
        rows      links with those of older captures and malformed ones

    Raises CorruptFile, here or when a file turns out to be damaged within the block.
    """
    graph = manifests.read(folder)
    try:
        with spilling(folder.parent / "run") as spill, duckdb.connect() as connection:
            bound(connection, Path(spill))
            _make_views(connection, folder, graph)
            yield connection
    except duckdb.Error as error:
        raise blamed(folder, graph, error) from error


def spilling(run: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder for data that does not fit into the memory of one reader: in `run/`, on the large
    disk, or, if that is not writable, in the system's. Each reader needs its own folder.
    """
    make = functools.partial(
        tempfile.TemporaryDirectory, prefix="duckdb-", ignore_cleanup_errors=True
    )
    try:
        return make(dir=run)
    except OSError:
        return make()


def bound(connection: duckdb.DuckDBPyConnection, spill: Path) -> None:
    """Limit the memory of a connection, and spill the rest."""
    connection.execute(f"set memory_limit = '{MEMORY}'")
    connection.execute(f"set threads = {THREADS}")
    connection.execute("set temp_directory = " + quoted(spill))
    connection.execute("set preserve_insertion_order = false")  # every statement has its own order
    # it would go to stdout, for example in a notebook
    connection.execute("set enable_progress_bar = false")


def _make_views(connection: duckdb.DuckDBPyConnection, folder: Path, graph: Manifest) -> None:
    if graph.parts or not graph.sets:
        raw = [folder / part.name for part in graph.parts]
        if raw:
            connection.execute(f"create view raw as {_from(raw)}")
        else:
            connection.register("raw", _empty_raw())
        captured, rows = [RAW_CAPTURES.format("")], [_ROWS]
    else:
        captured, rows = [], ["create view rows as"]
    if graph.sets:
        captured.append(_from([folder / merged.captures_file for merged in graph.sets]))
        rows.append(_from([folder / merged.by_source for merged in graph.sets]))
    union = " union all by name "
    connection.execute(_CAPTURES.format(union.join(captured)))
    connection.execute(union.join(rows) if graph.parts else " ".join(rows))
    connection.execute(_CURRENT)


def _from(paths: list[Path]) -> str:
    return f"from read_parquet([{', '.join(map(quoted, paths))}])"


def quoted(path: Path) -> str:
    """A path as an SQL string."""
    return "'" + str(path).replace("'", "''") + "'"


def _empty_raw() -> Any:
    kinds = {"line": pa.int32(), "seen_us": pa.int64()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in _COLUMNS]).empty_table()


def _empty(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)


def blamed(folder: Path, graph: Manifest, error: Exception) -> StoreError:
    """The error that names the unreadable file."""
    for name in graph.files:
        fault = fault_of(folder / name)
        if fault:
            return CorruptFile(folder / name, 0, f"{fault}; {REBUILD}")
    return StoreError(f"the link graph cannot be read: {error}")


def fault_of(path: Path) -> str:
    """Why a file of the graph cannot be read; empty if it can. Reads all of it."""
    try:
        with pq.ParquetFile(path) as file:
            if "source" not in file.schema_arrow.names:
                return "its columns are not those of links"
            for batch in file.iter_batches():
                batch.validate(full=True)
    except FileNotFoundError:
        return "the manifest names this file, but it is missing"
    except (pa.ArrowException, OSError) as error:
        return "it cannot be read: " + (str(error).splitlines() or [repr(error)])[0]
    return ""
