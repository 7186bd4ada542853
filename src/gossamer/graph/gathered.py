"""The edges of many pages on their way to a part, a row for each.

Pages share the edges that they have in common, so an edge is looked at once and not once a row:
which row has which is told by identity. Half of all links of a site are such.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gossamer.records import Edge

Coded = tuple[bytes, list[Any]]  # of each row the number of its value, in 4 bytes; the values


class Gathered:
    """Rows in the order in which they come."""

    def __init__(self) -> None:
        self._edges: list[Edge] = []

    def __len__(self) -> int:
        """How many there are."""
        return len(self._edges)

    def add(self, edges: Sequence[Edge]) -> int:
        """A row for each; how many characters their targets have together."""
        self._edges.extend(edges)
        return sum([len(edge[0]) for edge in edges])

    def columns(self) -> Sequence[Coded]:
        """Target, text, rel, place, kind, line and fault of the rows; of each column the distinct
        values in the order in which they first come."""
        # Not at the top: it takes NumPy along, which a crawl without a graph never loads.
        from gossamer.graph.part_table import code

        return code(self._edges)
