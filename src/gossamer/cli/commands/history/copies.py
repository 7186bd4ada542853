"""`gossamer copies`: find where else a text stands."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def copies(
    text: Annotated[
        str,
        typer.Argument(
            metavar="FILE|URL",
            show_default=False,
            help="A text, Markdown, HTML or PDF file, `-` for stdin, or a page of the collection.",
        ),
    ],
    collection: CollectionOption = None,
    min_words: Annotated[
        int,
        typer.Option(
            "--min-words",
            metavar="N",
            help="Only passages with at least this many words of the text.",
        ),
    ] = 20,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="Maximum number of pages to show.")
    ] = 20,
    json: Json = False,
) -> None:
    """Find pages that contain parts of a text, and show the passages."""
    from gossamer.cli.show.copies import run_copies

    path = collection_at(collection)
    raise typer.Exit(run_copies(path, text, min_words=min_words, limit=limit, as_json=json))
