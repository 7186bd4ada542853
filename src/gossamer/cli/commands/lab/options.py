"""Flags that several commands of the lab share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo


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


def repeats_of(what: str) -> OptionInfo:
    """The flag --repeats; `what` is repeated."""
    return _number("--repeats", what)


def seeds_of(what: str) -> OptionInfo:
    """The flag --seeds; `what` they are."""
    return _number("--seeds", what)


def fraction_of(what: str) -> OptionInfo:
    """The flag --fraction; `what` happens with this share of the pages."""
    info: OptionInfo = typer.Option("--fraction", metavar="SHARE", min=0.001, max=1.0, help=what)
    return info


def _number(flag: str, what: str) -> OptionInfo:
    info: OptionInfo = typer.Option(flag, metavar="N", min=1, help=what)
    return info


RandomSeed = Annotated[
    int,
    typer.Option(
        "--random-seed", metavar="N", min=0, help="The same number gives the same random choices."
    ),
]
# Where an experiment crawls this machine.
LocalUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--url",
        metavar="URL",
        show_default=False,
        help="Crawl this site of this machine, not the demo web; may be repeated.",
    ),
]
LocalFolder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        show_default=False,
        help="Serve this folder of pages, and crawl it.",
    ),
]
