"""Tables of a collection for notebooks: Arrow, and other formats on request.

A table is read on first use and then kept in memory.
"""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import duckdb

from gossamer.base.clock import iso_of
from gossamer.base.notebook import cell_of, rows_table, text_table
from gossamer.base.plurals import counted
from gossamer.errors import UsageError
from gossamer.graph.arrow import pa
from gossamer.graph.tables import bound, table_of

_SHOWN_IN_TEXT: Final = 5
_SHOWN: Final = 10


class Table:
    """Rows and columns. In `sql` the table has its own name.

    `read` returns record batches, at least one.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], Iterator[Any]],
        glance: Callable[[], Iterator[Any]] | None = None,
    ) -> None:
        """`glance` returns the same rows without columns that take long to read. Display and
        `len` use it until the whole table has been read."""
        self.name = name
        self.batches = read
        self._glance_batches = glance

    @classmethod
    def of(cls, name: str, rows: Any) -> Table:
        """Return a table of rows that are already read: a pyarrow.Table."""
        return cls(name, lambda: iter(rows.to_batches() or [_no_rows(rows.schema)]))

    @cached_property
    def _arrow(self) -> Any:
        return table_of(self.batches())

    @property
    def _shown(self) -> Any:
        """The table, or the part that is quick to read."""
        if self._glance_batches is None or "_arrow" in self.__dict__:
            return self._arrow
        return self._glance

    @cached_property
    def _glance(self) -> Any:
        assert self._glance_batches is not None, "used only if there is one"
        return table_of(self._glance_batches())

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return self._arrow

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; pandas must be installed."""
        _import("pandas")
        return self._arrow.to_pandas()

    def to_polars(self) -> Any:
        """A polars.DataFrame; polars must be installed."""
        return _import("polars").from_arrow(self._arrow)

    def sql(self, query: str) -> Table:
        """`reader.pages.sql("select status, count(*) from pages group by 1")`."""
        return ask(query, {self.name: self})

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._arrow.column_names)

    def __len__(self) -> int:
        return int(self._shown.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._arrow.to_batches():
            yield from batch.to_pylist()

    def __repr__(self) -> str:
        title = f"<Table {self.name}: {counted(len(self), 'row')}>"
        rows = [tuple(row.values()) for row in self._first(_SHOWN_IN_TEXT)]
        more = "\n..." if len(self) > len(rows) else ""
        return f"{title}\n{text_table(self._shown.column_names, rows)}{more}"

    def _repr_html_(self) -> str:
        """For notebooks: the first rows, escaped."""
        rows = [[cell_of(value) for value in row.values()] for row in self._first(_SHOWN)]
        shown = f", the first {len(rows)} shown" if len(self) > len(rows) else ""
        note = f"{self.name}: {counted(len(self), 'row')}{shown}"
        return rows_table(self._shown.column_names, rows, note, wraps=False)

    def _first(self, most: int) -> list[dict[str, Any]]:
        first: list[dict[str, Any]] = times_as_text(self._shown.slice(0, most)).to_pylist()
        return first


def ask(query: str, tables: Mapping[str, Table]) -> Table:
    """Run a DuckDB query over some tables. Raises UsageError for an invalid one.

    The tables that the query names are copied to DuckDB batch by batch; data beyond its memory
    limit goes to the disk.
    """
    with (
        tempfile.TemporaryDirectory(prefix="gossamer-sql-") as spill,
        duckdb.connect() as connection,
    ):
        bound(connection, Path(spill))
        connection.execute("set TimeZone = 'UTC'")
        connection.execute("set enable_external_access = false")
        for name, table in tables.items():
            if name in query:
                _copy(connection, table)
        try:
            found: Any = connection.sql(query)
            rows = None if found is None else found.to_arrow_table()
        except duckdb.Error as fault:
            raise UsageError(f"the query failed: {fault}") from fault
    if rows is None:
        raise UsageError("the query returns no table; start it with SELECT")
    return Table.of("answer", rows)


def may_name(query: str, columns: Collection[str]) -> bool:
    """Whether a query may use one of these columns, by name or by a star; True if uncertain."""
    if not re.search(r"\bselect\b", query, re.IGNORECASE):
        return True  # `from pages` is `select * from pages`
    names = "|".join(map(re.escape, columns))
    return bool(re.search(rf"(?<!\()\*|\b(?:{names}|columns)\b", query, re.IGNORECASE))


def _copy(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    for number, batch in enumerate(table.batches()):
        connection.register("batch", table_of(iter([batch])))
        verb = "insert into {} from batch" if number else "create temp table {} as from batch"
        connection.execute(verb.format(table.name))
        connection.unregister("batch")


def _no_rows(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as fault:
        raise UsageError(f"{name} is not installed; run `pip install {name}`") from fault


def times_as_text(batch: Any) -> Any:
    """Return the batch with its times as text, `2026-01-31T12:00:00Z`. Parquet has them as
    timestamps, to the microsecond."""
    for number, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            moments = batch.column(number).cast(pa.int64()).to_pylist()
            texts = [None if at_us is None else iso_of(at_us) for at_us in moments]
            named = pa.field(field.name, pa.string())
            batch = batch.set_column(number, named, pa.array(texts, pa.string()))
    return batch
