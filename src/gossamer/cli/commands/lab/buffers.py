"""`gossamer lab buffers`: compare ways to keep duplicates out of the buffer of new URLs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput, RandomSeed, repeats_of, seeds_of
from gossamer.cli.options import Json


def buffers(
    graph: Annotated[
        Path | None,
        typer.Argument(
            metavar="[GRAPH]",
            show_default=False,
            help="Links: lines source<TAB>target, or a collection. Without it: a random web.",
        ),
    ] = None,
    pages: Annotated[
        int, typer.Option("--pages", metavar="N", min=10, help="Pages of the random web.")
    ] = 20_000,
    seeds: Annotated[int, seeds_of("Random pages to start from.")] = 10,
    repeats: Annotated[int, repeats_of("Rounds; the ways take turns.")] = 3,
    random_seed: RandomSeed = 1,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Compare ways to keep duplicates out of the buffer of new URLs: checked when added, checked in
    memory with new URLs dropped past a threshold, and checked when taken."""
    from gossamer.cli.show.lab import print_experiment, tell_on_terminal
    from gossamer.lab.buffers.compare import BufferLab, buffers_experiment
    from gossamer.lab.buffers.measure import random_web
    from gossamer.lab.graphs import read_graph

    read = read_graph(graph) if graph is not None else random_web(pages)
    lab = BufferLab(repeats, seeds, random_seed)
    experiment = buffers_experiment(read, lab, tell_on_terminal)
    tell_on_terminal("")
    print_experiment(experiment, as_json=json, output=output)
