"""`gossamer lab parallel`: compare parallel crawlers on a stored link graph."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gossamer.cli.commands.lab.options import (
    GraphArgument,
    LabOutput,
    RandomSeed,
    SitesOption,
    fraction_of,
    repeats_of,
    seeds_of,
)
from gossamer.cli.options import Json


def parallel(
    graph: GraphArgument,
    sites: SitesOption = None,
    processes: Annotated[
        str,
        typer.Option("--processes", metavar="N,...", help="Numbers of processes, from 1 to 64."),
    ] = "2,4,8,16,32,64",
    partitions: Annotated[
        str,
        typer.Option("--partitions", metavar="NAME,...", help="How URLs are assigned."),
    ] = "url-hash,site-hash,hierarchical",
    seeds: Annotated[
        int, seeds_of("Random pages to start from: in all, for any number of processes.")
    ] = 64,
    repeats: Annotated[int, repeats_of("Repeats with other random seeds.")] = 1,
    random_seed: RandomSeed = 1,
    fraction: Annotated[
        float, fraction_of("Measure quality when this share of the pages is fetched.")
    ] = 0.1,
    importance: Annotated[
        Literal["pagerank", "backlinks"],
        typer.Option("--importance", help="What makes a page good, by all links of the graph."),
    ] = "pagerank",
    batch_pages: Annotated[
        int,
        typer.Option(
            "--batch-pages",
            metavar="N",
            min=1,
            help="For exchange-batch: pages of a process between two batches.",
        ),
    ] = 1000,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Compare parallel crawlers on a stored link graph: overlap, coverage, quality and URLs sent
    per page, by partition (URL hash, site hash, domain suffix) and mode (firewall, cross-over,
    exchange), with static, dynamic and no assignment."""
    from gossamer.cli.show.lab import print_experiment, tell_on_terminal
    from gossamer.lab.graphs import read_graph
    from gossamer.lab.parallel.compare import ParallelLab, partitions_in, processes_in
    from gossamer.lab.parallel.tables import parallel_experiment

    lab = ParallelLab(
        processes=processes_in(processes),
        partitions=partitions_in(partitions),
        seeds=seeds,
        repeats=repeats,
        random_seed=random_seed,
        fraction=fraction,
        importance=importance,
        batch_pages=batch_pages,
    )
    experiment = parallel_experiment(read_graph(graph, sites), lab, tell_on_terminal)
    tell_on_terminal("")
    print_experiment(experiment, as_json=json, output=output)
