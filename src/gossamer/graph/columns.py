"""Arrow columns over the memory of NumPy arrays and Python strings.

`pyarrow.array` makes the same columns. But it first loads pandas if that is installed, to know its
types: 0.3 s of CPU in every process of a crawl, none of which needs it. So do `pyarrow.scalar`,
`Array.to_numpy`, and `read_table` of `pyarrow.parquet`.

Compute functions are called by name, because `pyarrow.compute` builds a documented function for
each of 300 names when it is loaded, in 35 ms.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.arrow import pa


def number_column(values: NDArray[Any]) -> Any:
    """A column of numbers. It shares the array's memory: do not change that afterwards."""
    kept = np.ascontiguousarray(values)
    buffers = [None, pa.py_buffer(kept)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(kept.dtype), len(kept), buffers)


def number_array(column: Any) -> NDArray[Any]:
    """The numbers of a column. They share the column's memory: read only. Raises ArrowInvalid."""
    kind = np.dtype(column.type.to_pandas_dtype())  # a NumPy type, despite its name
    if not len(column):
        return np.empty(0, kind)
    if column.null_count or kind.kind not in "iuf":
        raise pa.ArrowInvalid(f"{column.null_count} nulls in a column of {column.type}")
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def text_column(values: Sequence[str]) -> Any:
    """A column of texts, of at most 2 GB together.

    A lone surrogate, which a script can put into a page, is not valid UTF-8: it becomes a `?`.
    """
    joined = "".join(values)
    data = joined.encode("utf-8", "replace")
    ends = np.zeros(len(values) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=ends[1:])
    if len(data) != len(joined):  # convert character offsets to byte offsets
        is_first = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
        ends = np.append(np.flatnonzero(is_first), len(data)).astype(np.int32)[ends]
    return pa.StringArray.from_buffers(len(values), pa.py_buffer(ends), pa.py_buffer(data))


def coded(column: Any) -> Any:
    """The same column, dictionary-encoded."""
    return _called("dictionary_encode", column)


def taken(column: Any, places: NDArray[Any]) -> Any:
    """Some rows of a column, by their numbers."""
    return _called("take", column, number_column(places))


def filled(column: Any, value: Any) -> Any:
    """The same column with a scalar of its type in place of nulls."""
    return _called("coalesce", column, value)


def places_in_order(column: Any) -> NDArray[Any]:
    """The row numbers of a column, sorted by value."""
    return number_array(_called("array_sort_indices", column))


def _called(name: str, *columns: Any) -> Any:
    return importlib.import_module("pyarrow._compute").call_function(name, list(columns))


def text_scalar(value: str) -> Any:
    """One text, to compare a column with."""
    return text_column((value,))[0]


def number_scalar(value: int, kind: type[np.integer[Any]]) -> Any:
    """One number, to fill a column with."""
    return number_column(np.array([value], kind))[0]
