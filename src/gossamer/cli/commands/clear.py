"""`gossamer clear`: delete a collection."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gossamer.cli.options import Collection, collection_at


def clear(
    collection: Collection = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a collection with its archive. This cannot be undone."""
    from gossamer.base.plurals import counted
    from gossamer.collection.directory import CollectionPaths, locked
    from gossamer.errors import UsageError
    from gossamer.node.session import delete_collection
    from gossamer.reader.collection_reader import CollectionReader

    home = CollectionPaths(collection_at(collection))
    if not home.exists and not home.is_state_lost:
        raise home.missing()
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"clear deletes {home.path} permanently; add --yes to confirm")
        pages = ""
        if home.exists:
            with CollectionReader.open(home.path) as study:
                pages = f" with {counted(study.counts().fetched, 'page')}"
        typer.confirm(f"Delete {home.path}{pages} permanently?", abort=True)
    home.run.mkdir(exist_ok=True)  # a copy may have come without it
    with locked(home):
        delete_collection(home)
    print(f"{home.path} is deleted.", file=sys.stderr)
