"""`gossamer files`: list the files that a crawl has found, and where they are linked."""

from __future__ import annotations

import json as jsons
import sys
from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def files(
    collection: CollectionOption = None,
    type: Annotated[
        str,
        typer.Option(
            "--type",
            metavar="LIST",
            help="Only these types: pdf, image, audio, video, text, or MIME types.",
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Number of files; 0: all.")
    ] = 0,
    json: Json = False,
) -> None:
    """List found files with type, size, anchor texts and linking pages."""
    from itertools import islice

    from gossamer.base.plurals import counted
    from gossamer.cli.show.files import file_lines
    from gossamer.reader.collection_reader import CollectionReader
    from gossamer.reader.found_files import found_files

    types = tuple(name for name in (part.strip() for part in type.split(",")) if name)
    with CollectionReader.open(collection_at(collection)) as reader:
        count = 0
        for one in islice(found_files(reader, types), limit or None):
            count += 1
            if json:
                print(jsons.dumps({"schema": 1, **one.as_json()}))
            else:
                print("\n".join(file_lines(one)))
    if not json:
        of = f" of the types {', '.join(types)}" if types else ""
        hint = "" if count else "; `gossamer crawl --type audio,video` looks for such files"
        print(f"{counted(count, 'file')}{of}{hint}.", file=sys.stderr)
