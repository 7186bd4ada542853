"""Flags that many verbs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

Collection = Annotated[
    Path | None,
    typer.Option(
        "-c",
        "--collection",
        metavar="DIR",
        help="The collection; else $GOSSAMER_COLLECTION, else ./gossamer.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object, or one a line.")]
Url = Annotated[str, typer.Argument(metavar="URL", show_default=False)]


def collection_at(given: Path | None) -> Path:
    """The directory of the collection that is meant."""
    return given or Path(os.environ.get("GOSSAMER_COLLECTION") or "gossamer")
