"""Collect the edges of many pages for a part, one row for each.

Pages share common edges, so an edge is processed once and not once per row: rows with the same edge
are recognised by identity. Half of all links of a site are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gossamer.records import Edge

Coded = tuple[bytes, list[Any]]  # for each row the number of its value, in 4 bytes; the values


class Gathered:
    """Rows in the order of their arrival."""

    def __init__(self) -> None:
        self._edges: list[Edge] = []

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._edges)

    def add(self, edges: Sequence[Edge]) -> int:
        """Add a row for each. Return the total length of their targets in characters."""
        self._edges.extend(edges)
        return sum([len(edge[0]) for edge in edges])

    def columns(self) -> Sequence[Coded]:
        """Target, text, rel, place, kind, line and fault of the rows; for each column the distinct
        values in the order of first use.
        """
        # Imported here: it loads NumPy, which a crawl without a graph does not need.
        from gossamer.graph.part_table import code

        return code(self._edges)
