"""`gossamer clear`: delete a collection."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gossamer.cli.options import Collection, collection_at


def clear(
    collection: Collection = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a collection: archive, state, links and log. There is no way back."""
    import shutil

    from gossamer.crawl.home import Home, locked
    from gossamer.crawl.study import Study
    from gossamer.errors import NoCollection, UsageError

    home = Home(collection_at(collection))
    if not home.exists:
        raise NoCollection(home.path)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"clear deletes {home.path} for good; add --yes if you mean it")
        with Study.open(home.path) as study:
            count = study.counts().fetched
        typer.confirm(f"Delete {home.path} with {count} pages for good?", abort=True)
    with locked(home):
        for part in (home.archive, home.graph, home.log.parent, home.state):
            shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(home.run, ignore_errors=True)
    if not any(home.path.iterdir()):
        home.path.rmdir()
    print(f"{home.path} is cleared.", file=sys.stderr)
