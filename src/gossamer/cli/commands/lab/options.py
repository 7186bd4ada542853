"""Flags that several commands of the lab share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _checked(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before the experiment begins, not after it."""
    if path is not None:
        from gossamer.lab.output.files import check_output

        check_output(path)
    return path


LabOutput = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default=False,
        callback=_checked,
        help="Write the result, too: .html (interactive plots), .svg, .png, .csv or .json.",
    ),
]

GraphArgument = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        show_default=False,
        help="Links: lines source<TAB>target (.gz too), Parquet, WebGraph, WARC, a collection.",
    ),
]
SitesOption = Annotated[
    Path | None,
    typer.Option(
        "--sites",
        metavar="FILE",
        show_default=False,
        help="Sites: lines page<TAB>site. Not needed if the pages are URLs.",
    ),
]
