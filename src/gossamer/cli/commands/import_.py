"""`gossamer import`: import archives, sitemaps and URL lists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="WARC, WACZ, sitemap or URL list; the format is detected."
        ),
    ],
    collection: CollectionOption = None,
    json: Json = False,
) -> None:
    """Import WARC and WACZ archives, sitemaps and URL lists.

    The collection is created if it does not exist.
    """
    from gossamer.cli.run.run_import import run_import

    raise typer.Exit(run_import(collection_at(collection), files, as_json=json))
