"""`gossamer diff`: show what changed between two versions of a URL."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, Url, collection_at

_HELP = "A number from `gossamer versions`, counted from 1, or a time: a date, 7d, yesterday."


def diff(
    url: Url,
    a: Annotated[str, typer.Argument(metavar="[A]", help=_HELP, show_default=False)] = "",
    b: Annotated[str, typer.Argument(metavar="[B]", help=_HELP, show_default=False)] = "",
    collection: CollectionOption = None,
    html: Annotated[
        bool, typer.Option("--html", help="Compare lines of the source, not words.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Also show noise: counters, dates, adverts.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what changed between two versions of a URL.

    By default the last two are compared.
    """
    from gossamer.cli.show.diff import DiffRequest, run_diff

    request = DiffRequest(url, a, b, is_source=html, with_noise=all_, as_json=json)
    raise typer.Exit(run_diff(collection_at(collection), request))
