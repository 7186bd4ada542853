"""`gossamer forget`: delete pages permanently (takedown)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def forget(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="URL|HOST",
            help="A URL with all its versions, or a host with all its URLs.",
            show_default=False,
        ),
    ],
    site: Annotated[
        bool, typer.Option("--site", help="The whole site: the domain with all its hosts.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show how much would be deleted; change nothing.")
    ] = False,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo", help="Allow it to be crawled again; deleted data does not come back."
        ),
    ] = False,
    json: Json = False,
    collection: CollectionOption = None,
) -> None:
    """Delete a URL, a host or a site permanently (takedown).

    It is deleted from archive, state, links, index and log, and never requested again. The audit
    log keeps a record without its name. Pages that mention it stay as they are.
    """
    from gossamer.base.clock import SystemClock
    from gossamer.collection.directory import CollectionPaths
    from gossamer.errors import UsageError
    from gossamer.upkeep.forget import allow, survey
    from gossamer.upkeep.forget import forget as take_out

    paths = CollectionPaths(collection_at(collection))
    if undo:
        count = allow(paths, names, SystemClock(), is_site=site)
        _say(
            {"schema": 1, "allowed": count},
            f"{count} takedowns lifted. The crawl may request these URLs again.",
            as_json=json,
        )
        return
    if dry_run or (not yes and sys.stdin.isatty()):
        sums = survey(paths, names, SystemClock(), _tell, is_site=site)
        if dry_run:
            _say(sums.as_json(), f"Would delete {sums.text}.", as_json=json)
            return
        typer.confirm(f"Delete {sums.text} of {paths.path} permanently?", abort=True)
    elif not yes:
        raise UsageError(f"forget deletes from {paths.path} permanently; add --yes to confirm")
    sums = take_out(paths, names, SystemClock(), _tell, is_site=site)
    told = f"Deleted {sums.text}. It will never be requested again."
    _say(sums.as_json(), told if sums else "It is already deleted.", as_json=json)


def _tell(text: str) -> None:
    print(f"{text}...", file=sys.stderr, flush=True)


def _say(facts: dict[str, object], text: str, *, as_json: bool) -> None:
    if as_json:
        from json import dumps

        print(dumps(facts))
    else:
        print(text, file=sys.stderr)
