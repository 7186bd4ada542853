"""`gossamer clear`: delete a collection."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, collection_at


def clear(
    collection: CollectionOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a collection with its archive. This cannot be undone."""
    from gossamer.base.plurals import counted
    from gossamer.collection.directory import CollectionPaths, locked
    from gossamer.errors import UsageError
    from gossamer.node.session import delete_collection
    from gossamer.reader.collection_reader import CollectionReader

    paths = CollectionPaths(collection_at(collection))
    if not paths.exists and not paths.is_state_lost:
        raise paths.missing()
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"clear deletes {paths.path} permanently; add --yes to confirm")
        pages = ""
        if paths.exists:
            with CollectionReader.open(paths.path) as reader:
                pages = f" with {counted(reader.counts().fetched, 'page')}"
        typer.confirm(f"Delete {paths.path}{pages} permanently?", abort=True)
    paths.run.mkdir(exist_ok=True)  # a copied collection may lack it
    with locked(paths):
        delete_collection(paths)
    print(f"{paths.path} is deleted.", file=sys.stderr)
