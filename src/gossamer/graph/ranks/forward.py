"""Forward links, weighted: PageRank against the direction of links.

A page that links to good starting points is a good starting point (Cho, 1998, calls it IF). Memory
is bounded as in `ranks.py`. The result is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gossamer.graph import manifest as manifests
from gossamer.graph.arrow import pa
from gossamer.graph.columns import number_column
from gossamer.graph.ranks.compute import RanksRequest
from gossamer.graph.ranks.numbered_links import gather, packed, unpacked
from gossamer.graph.ranks.ranks import numbered
from gossamer.graph.ranks.spool import Spool
from gossamer.graph.ranks.vectors import pagerank

_SCHEMA: Final = pa.schema([("url", pa.string()), ("forward_rank", pa.float64())])


def forward_ranks(folder: Path, spill: Path) -> Iterator[Any]:
    """Record batches of url and forward_rank, times the number of pages: 1 is average. The first is
    empty. Data beyond one chunk is written to `spill`. Raises CorruptFile."""
    yield pa.RecordBatch.from_pylist([], schema=_SCHEMA)
    graph = manifests.read(folder)
    if not graph.links:
        return
    pages = numbered(folder, graph, spill, RanksRequest())
    against = Spool(spill, "against")
    for piece in pages.links.chunks():
        sources, targets = unpacked(piece)
        against.add(packed(targets, sources))
    values = pagerank(gather(against, pages.count, spill)).values * pages.count
    start = 0
    for column in pages.urls():
        span = slice(start, start + len(column))
        start = span.stop
        yield pa.RecordBatch.from_arrays([column, number_column(values[span])], schema=_SCHEMA)
