"""`gossamer compare`: compare two collections, or two moments of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at

_HELP = "A collection directory, or a time of the collection: a date, 7d, yesterday, now."


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=_HELP, show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help=_HELP, show_default=False)],
    collection: CollectionOption = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Compare digests only: no words, and noise counts as a change."
        ),
    ] = False,
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", min=0, help="How many to list of each kind; 0: all."),
    ] = 20,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", metavar="FILE", help="Write all differences: .csv, .jsonl, .parquet or .html."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two collections, or two moments of one: new, gone, moved and changed pages."""
    from gossamer.cli.show.compare import CompareRequest, run_compare

    request = CompareRequest(a, b, is_quick=quick, limit=limit, output=output, as_json=json)
    raise typer.Exit(run_compare(collection_at(collection), request))
