"""`gossamer lab duplicates`: compare the modes of `--duplicates` on a stored crawl."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.options import CollectionOption, Json, collection_at


def duplicates(
    collection: CollectionOption = None,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="SHARE",
            min=0.8,
            max=1.0,
            help="For html95: the least share of HTML that is the same.",
        ),
    ] = 0.95,
    json: Json = False,
) -> None:
    """Compare the modes of `crawl --duplicates` on a stored crawl: pages kept and dropped, groups,
    and dropped pages that are different to a reader. Changes nothing."""
    import json as jsons

    from gossamer.cli.show.duplicates_lab import print_modes
    from gossamer.lab.duplicates import compare_modes, result_object
    from gossamer.reader.collection_reader import CollectionReader

    with CollectionReader.open(collection_at(collection)) as reader:
        results = compare_modes(reader, threshold)
    if json:
        print(jsons.dumps(result_object(results, threshold)))
    else:
        print_modes(results)
