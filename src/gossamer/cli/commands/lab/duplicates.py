"""`gossamer lab duplicates`: compare the modes of `--duplicates` on a stored crawl."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput
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
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Compare the modes of `crawl --duplicates` on a stored crawl: pages kept and dropped, groups,
    and dropped pages that are different to a reader. Changes nothing."""
    from gossamer.cli.show.lab import print_experiment
    from gossamer.lab.duplicates import compare_modes
    from gossamer.lab.duplicates_result import duplicates_experiment
    from gossamer.reader.collection_reader import CollectionReader

    where = collection_at(collection)
    with CollectionReader.open(where) as reader:
        results = compare_modes(reader, threshold)
    experiment = duplicates_experiment(where.name, results, threshold)
    print_experiment(experiment, as_json=json, output=output)
