"""The graph as tables for people: links, malformed links, links into a page.

Each question is one SQL statement over the parts that the manifest names, so a reader in another
process never stops the writer. DuckDB sorts and groups within a memory limit and spills to
`run/` beside the graph's folder. Rows come in a fixed order whatever the parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from gossamer.errors import CorruptFile, StoreError
from gossamer.graph import manifest
from gossamer.graph.arrow import pa, pq
from gossamer.graph.parts import SCHEMA

MEMORY: Final = "256MB"
THREADS: Final = 2  # each sorts in memory of its own
BATCH_ROWS: Final = 50_000

_LINKS: Final = """
    select source, target, anchor, rel, place,
           min(seen_us) as first_seen, max(seen_us) as last_seen
    from parts where fault = ''
    group by source, target, anchor, rel, place, kind
    order by source, target, anchor, rel, place, kind
"""
_FAULTS: Final = """
    select source, target as written, fault, line
    from parts where fault <> ''
    group by source, target, fault, line
    order by source, line, written, fault
"""
_IN_LINKS: Final = """
    select target, count(distinct source) as pages
    from parts where fault = '' and source <> target
    group by target order by target
"""


def links(folder: Path) -> Iterator[Any]:
    """Record batches of distinct links: source target anchor rel place first_seen last_seen.

    Times are microseconds since 1970. Two rows alike in all that is shown are links of two kinds.
    """
    return _batches(folder, _LINKS)


def faults(folder: Path) -> Iterator[Any]:
    """Record batches of links that are no URL: source written fault line."""
    return _batches(folder, _FAULTS)


def in_links(folder: Path) -> Iterator[Any]:
    """Record batches of `target` and the number of other `pages` that link to it."""
    return _batches(folder, _IN_LINKS)


def table_of(batches: Iterator[Any]) -> Any:
    """All batches as one Arrow table."""
    return pa.Table.from_batches(list(batches))


def _batches(folder: Path, sql: str) -> Iterator[Any]:
    """The answer to a question, at least one batch, so that the columns are known."""
    paths = _parts_of(folder)
    with _open(folder, paths) as connection:
        try:
            reader: Any = connection.sql(sql).to_arrow_reader(BATCH_ROWS)
            is_empty = True
            for batch in reader:
                is_empty = False
                yield batch
            if is_empty:
                yield _empty(reader.schema)
        except (duckdb.Error, OSError) as e:
            raise _blamed(paths, e) from e


def _empty(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)


@contextmanager
def _open(folder: Path, paths: list[Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the view `parts`, bounded in memory."""
    spill = folder.parent / "run" / "duckdb"
    with duckdb.connect() as connection:
        connection.execute(f"set memory_limit = '{MEMORY}'")
        connection.execute(f"set threads = {THREADS}")
        connection.execute("set temp_directory = " + _quoted(str(spill)))
        connection.execute("set preserve_insertion_order = false")  # every statement orders itself
        if paths:
            files = ", ".join(_quoted(str(path)) for path in paths)
            try:
                connection.execute(f"create view parts as from read_parquet([{files}])")
            except duckdb.Error as e:
                raise _blamed(paths, e) from e
        else:
            connection.register("parts", SCHEMA.empty_table())
        yield connection


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _parts_of(folder: Path) -> list[Path]:
    return [folder / part.name for part in manifest.read(folder).parts]


def _blamed(paths: list[Path], error: Exception) -> StoreError:
    """The error that names the part which cannot be read."""
    for path in paths:
        try:
            if not pq.read_schema(path).equals(SCHEMA):
                return CorruptFile(path, 0, "it has other columns than a part")
            for batch in pq.ParquetFile(path).iter_batches():
                batch.validate(full=True)
        except FileNotFoundError:
            return CorruptFile(path, 0, "the manifest names it and it is not there")
        except (pa.ArrowException, OSError) as e:
            return CorruptFile(path, 0, str(e))
    return StoreError(f"the link graph cannot be read: {error}")
