"""The rows of a part as a dictionary-encoded Arrow table, with few steps per link.

Each column has a list of its distinct values in the order of first use, and for each row the number
of its value (`gathered.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.graph.arrow import pa
from gossamer.graph.columns import number_column, text_column
from gossamer.graph.gathered import Coded
from gossamer.records import Edge

_MAX_LINE: Final = 2**31 - 1
# Of an edge: target, text, rel, place, kind, line, fault. Its key is not a column.
_FIELDS: Final = (0, 2, 3, 4, 5, 6, 7)


def table_of(
    schema: Any,
    coded: Sequence[Coded],
    counts: list[int],
    sources: list[str],
    seen_us: list[int],
) -> Any:
    """The table of rows with the columns `coded`, with dictionaries where `schema` has texts.

    The first of `counts` is the number of rows of the first of `sources`, seen at the first of
    `seen_us`, and so on.
    """
    target, text, rel, place, kind, line, fault = coded
    of_page = np.repeat(np.arange(len(counts), dtype=np.int32), np.array(counts, np.int64))
    lines = np.array([min(number, _MAX_LINE) for number in line[1]], np.int32)
    columns = [
        pa.DictionaryArray.from_arrays(number_column(of_page), text_column(sources)),
        *map(_column, (target, text, rel, place, kind)),
        number_column(lines[_codes(line)]),
        _column(fault),
        number_column(np.array(seen_us, np.int64)[of_page]),
    ]
    named = zip(schema, columns, strict=True)
    fields = [pa.field(field.name, column.type, nullable=False) for field, column in named]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _column(coded: Coded) -> Any:
    return pa.DictionaryArray.from_arrays(number_column(_codes(coded)), text_column(coded[1]))


def _codes(coded: Coded) -> NDArray[np.int32]:
    return np.frombuffer(coded[0], np.int32)


def code(edges: list[Edge]) -> Sequence[Coded]:
    """The columns of some edges: target, text, rel, place, kind, line, fault."""
    distinct, forms = _by_identity(edges)
    return [_coded(list(map(itemgetter(field), distinct)), forms) for field in _FIELDS]


def _by_identity(edges: list[Edge]) -> tuple[list[Edge], NDArray[np.intp]]:
    """Each edge once, in the order of first use, and the number of each row's edge."""
    names = np.fromiter(map(id, edges), np.int64, len(edges))
    _, firsts, forms = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    numbers_of = np.empty(len(order), np.intp)
    numbers_of[order] = np.arange(len(order))
    return list(map(edges.__getitem__, firsts[order].tolist())), numbers_of[forms]


def _coded(values: Sequence[Any], forms: NDArray[np.intp]) -> Coded:
    distinct = list(dict.fromkeys(values))
    number_of = dict(zip(distinct, range(len(distinct)), strict=True))
    codes = np.fromiter(map(number_of.__getitem__, values), np.int32, len(values))
    return codes[forms].tobytes(), distinct
