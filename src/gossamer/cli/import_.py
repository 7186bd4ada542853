"""`gossamer import`: what others, or other programs, have gathered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import Collection, Json, collection_at


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="WARC, WACZ, sitemap or URL list, told by their content."
        ),
    ],
    collection: Collection = None,
    json: Json = False,
) -> None:
    """Bring archives and lists of URLs into a collection, which is made where there is none."""
    from gossamer.cli.importing import run_import

    raise typer.Exit(run_import(collection_at(collection), files, as_json=json))
