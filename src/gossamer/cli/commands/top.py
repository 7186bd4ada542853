"""`gossamer top`: rank pages or sites by their links."""

from __future__ import annotations

import json as jsons
import sys
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def top(
    collection: CollectionOption = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="ORDER",
            help="Rank by: backlinks, hosts, sites, pagerank, hubs or authorities.",
        ),
    ] = "backlinks",
    level: Annotated[
        str, typer.Option("--level", metavar="LEVEL", help="What to rank: page or site.")
    ] = "page",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Number of rows.")] = 20,
    json: Json = False,
) -> None:
    """Rank pages or sites by their links."""
    from gossamer.base.clock import SystemClock
    from gossamer.cli.show.tables import print_table
    from gossamer.collection.directory import CollectionPaths
    from gossamer.graph.ranks.top import check_order
    from gossamer.graph.ranks.top import top as first

    check_order(by, level)
    paths = CollectionPaths(collection_at(collection))
    if not paths.exists:
        raise paths.missing()
    found = first(paths.graph, SystemClock(), by, level, limit)
    rows = found.to_pylist()
    if json:
        for row in rows:
            print(jsons.dumps({"schema": 1, **row}))
    elif not rows:
        print("The collection has no links yet.", file=sys.stderr)
    else:
        print_table(found.column_names, [[_cell(value) for value in row.values()] for row in rows])


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
