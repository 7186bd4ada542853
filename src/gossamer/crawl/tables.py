"""Tables of a collection for notebooks: Arrow at heart, others on request.

A table is read when it is first asked for something, and then kept.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import duckdb

from gossamer.errors import UsageError


class Table:
    """Rows and columns. `sql` asks it under its own name."""

    def __init__(self, name: str, read: Callable[[], Any]) -> None:
        self.name = name
        self._read = read

    @cached_property
    def _arrow(self) -> Any:
        return self._read()

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
        """`study.pages.sql("select status, count(*) from pages group by 1")`."""
        return ask(query, {self.name: self})

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._arrow.column_names)

    def __len__(self) -> int:
        return int(self._arrow.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._arrow.to_batches():
            yield from batch.to_pylist()

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows of {', '.join(self.columns)}>"


def ask(query: str, tables: Mapping[str, Table]) -> Table:
    """The answer of DuckDB to a query over some tables. Raises UsageError for a wrong one."""
    with duckdb.connect() as connection:
        connection.execute("set enable_external_access = false")
        for name, table in tables.items():
            if name in query:
                connection.register(name, table.to_arrow())
        try:
            rows = connection.execute(query).to_arrow_table()
        except duckdb.Error as fault:
            raise UsageError(f"the query cannot be answered: {fault}") from fault
    return Table("answer", lambda: rows)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as fault:
        raise UsageError(f"{name} is not installed; `pip install {name}`") from fault
