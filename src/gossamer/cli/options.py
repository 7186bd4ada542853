"""Flags that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.collection import collection_at

__all__ = ["CollectionOption", "Json", "Url", "collection_at"]

CollectionOption = Annotated[
    Path | None,
    typer.Option(
        "-c",
        "--collection",
        metavar="DIR",
        help="Collection directory; default: $GOSSAMER_COLLECTION or ./gossamer.",
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON, also for errors: one object, or one per line.")
]
Url = Annotated[
    str,
    typer.Argument(metavar="URL", show_default=False, help="A URL, with or without https://."),
]
