"""Sort rows in bounded memory.

    rows --> staged in a temporary Parquet file --> DuckDB sorts and joins --> batches

Rows are staged 10,000 at a time. DuckDB sorts within its memory limit and spills into the folder of
the staged files, which is deleted after the last batch or when the caller stops.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import duckdb

from gossamer.graph.arrow import pa, pq

_BATCH_ROWS: Final = 10_000
_MEMORY: Final = "256MB"


def ordered(rows: Iterable[tuple[object, ...]], schema: Any, order: str) -> Iterator[Any]:
    """Yield rows as record batches, sorted by some columns."""
    with tempfile.TemporaryDirectory(prefix="gossamer-export-") as folder:
        staged = stage(Path(folder) / "rows.parquet", schema, rows)
        sql = f"select * from {staged} order by {order}"  # noqa: S608
        yield from ask(sql, schema, Path(folder))


def stage(path: Path, schema: Any, rows: Iterable[tuple[object, ...]]) -> str:
    """Write rows to a temporary file; return its name in SQL."""
    with pq.ParquetWriter(path, schema, compression="lz4") as writer:
        for batch in batched(rows, schema, _BATCH_ROWS):
            writer.write_batch(batch)
    return _sql_name(path)


def stage_batches(path: Path, found: Iterator[Any]) -> str:
    """The same for record batches; there must be at least one."""
    first = next(found)
    with pq.ParquetWriter(path, first.schema, compression="lz4") as writer:
        writer.write_batch(first)
        for batch in found:
            writer.write_batch(batch)
    return _sql_name(path)


def _sql_name(path: Path) -> str:
    quoted = str(path).replace("'", "''")
    return f"read_parquet('{quoted}')"


def batched(rows: Iterable[tuple[object, ...]], schema: Any, size: int) -> Iterator[Any]:
    """Yield rows as record batches; at least one, so that the columns are known."""
    iterator = iter(rows)
    piece = list(islice(iterator, size))
    while True:
        columns = list(zip(*piece, strict=True)) or [()] * len(schema)
        arrays = [_array(column, f.type) for column, f in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        piece = list(islice(iterator, size))
        if not piece:
            return


def _array(column: tuple[object, ...], kind: Any) -> Any:
    """Build an Arrow column. A lone surrogate is not valid UTF-8 and becomes a question mark."""
    try:
        return pa.array(column, kind)
    except UnicodeEncodeError:
        whole = [
            cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
            for cell in column
        ]
        return pa.array(whole, kind)


def ask(sql: str, schema: Any, folder: Path) -> Iterator[Any]:
    """Run a query over staged files in bounded memory; yields at least one batch."""
    with duckdb.connect() as connection:
        connection.execute(f"set memory_limit = '{_MEMORY}'")
        connection.execute("set threads = 2")
        connection.execute(f"set temp_directory = '{str(folder).replace(chr(39), chr(39) * 2)}'")
        connection.execute("set preserve_insertion_order = false")
        connection.execute("set enable_progress_bar = false")  # a notebook would show it on stdout
        reader: Any = connection.sql(sql).to_arrow_reader(_BATCH_ROWS)
        batch = next(reader, None)
        if batch is None:
            yield pa.RecordBatch.from_pylist([], schema=schema)
        while batch is not None:
            yield pa.RecordBatch.from_arrays(
                [column.cast(f.type) for column, f in zip(batch.columns, schema, strict=True)],
                schema=schema,
            )
            batch = next(reader, None)
