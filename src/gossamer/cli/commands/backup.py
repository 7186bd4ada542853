"""`gossamer backup`: a whole copy of a collection."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def backup(
    target: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new or empty directory.", show_default=False)
    ],
    json: Json = False,
    collection: CollectionOption = None,
) -> None:
    """Copy a collection, also while a crawl runs.

    The copy is a complete collection. Files that never change are shared as hard links if the
    file system allows it.
    """
    from gossamer.base.plurals import counted
    from gossamer.base.sizes import size_text
    from gossamer.collection.directory import CollectionPaths
    from gossamer.upkeep.backup import backup as copy

    copied = copy(CollectionPaths(collection_at(collection)), target)
    if json:
        from json import dumps

        print(dumps(copied.as_json()))
        return
    shared = f", {size_text(copied.linked_bytes)} shared" if copied.linked_files else ""
    print(
        f"{target} is a copy with {counted(copied.pages, 'page')}: "
        f"{counted(copied.files, 'file')}, {size_text(copied.copied_bytes)} copied{shared}.",
        file=sys.stderr,
    )
