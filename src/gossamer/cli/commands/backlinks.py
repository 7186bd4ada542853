"""`gossamer backlinks` and `gossamer anchors`: the links to a URL and their anchor texts."""

from __future__ import annotations

import json as jsons
import sys
from typing import Annotated, Any

import typer

from gossamer.cli.options import CollectionOption, Json, Url, collection_at

Limit = Annotated[
    int, typer.Option("--limit", metavar="N", min=0, help="Maximum number of rows; 0: all.")
]


def backlinks(
    url: Url,
    collection: CollectionOption = None,
    by: Annotated[
        str,
        typer.Option("--by", metavar="WHAT", help="One row per linking: page, host or site."),
    ] = "page",
    limit: Limit = 0,
    json: Json = False,
) -> None:
    """List the links to a URL."""
    from gossamer.reader.collection_reader import CollectionReader
    from gossamer.reader.links import backlinks as ask

    with CollectionReader.open(collection_at(collection)) as reader:
        meant, table = ask(reader, url, by)
    _show(meant, "backlinks", table, limit, as_json=json)


def anchors(
    url: Url, collection: CollectionOption = None, limit: Limit = 0, json: Json = False
) -> None:
    """List the anchor texts of the links to a URL."""
    from gossamer.reader.collection_reader import CollectionReader
    from gossamer.reader.links import anchors as ask

    with CollectionReader.open(collection_at(collection)) as reader:
        meant, table = ask(reader, url)
    _show(meant, "anchors", table, limit, as_json=json)


def _show(url: str, what: str, table: Any, limit: int, *, as_json: bool) -> None:
    from gossamer.cli.show.tables import print_table

    rows = table.slice(0, limit or table.num_rows).to_pylist()
    if as_json:
        print(jsons.dumps({"schema": 1, "url": url, "total": table.num_rows, what: rows}))
        return
    if not rows:
        print(f"No fetched page links to {url}.", file=sys.stderr)
        return
    print_table(table.column_names, [[str(value) for value in row.values()] for row in rows])
    if len(rows) < table.num_rows:
        print(f"{table.num_rows - len(rows)} more; --limit 0 shows all.", file=sys.stderr)
