"""`gossamer lab order`: compare orders on a stored link graph."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import (
    GraphArgument,
    LabOutput,
    RandomSeed,
    SitesOption,
    repeats_of,
    seeds_of,
)
from gossamer.cli.options import Json


def order(
    graph: GraphArgument,
    sites: SitesOption = None,
    seeds: Annotated[int, seeds_of("Random pages to start from.")] = 10,
    repeats: Annotated[int, repeats_of("Repeats with other random seeds.")] = 5,
    orders: Annotated[
        str,
        typer.Option(
            "--orders", metavar="NAME,...", show_default=False, help="Orders to compare; all."
        ),
    ] = "",
    in_flight: Annotated[
        int,
        typer.Option(
            "--in-flight",
            metavar="N",
            min=1,
            help="Pages that are requested before the links of the first are known.",
        ),
    ] = 100,
    random_seed: RandomSeed = 0,
    delay: Annotated[
        float,
        typer.Option(
            "--delay",
            metavar="S",
            min=0.0,
            help="Simulate time: seconds between two requests to a site; 0: no time.",
        ),
    ] = 0.0,
    latency: Annotated[
        float,
        typer.Option(
            "--latency",
            metavar="S",
            min=0.0,
            help="With --delay: seconds until a site answers; sites differ.",
        ),
    ] = 0.2,
    failures: Annotated[
        float,
        typer.Option(
            "--failures",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="With --delay: share of the requests that fail; tried three times.",
        ),
    ] = 0.0,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Compare orders on a stored link graph: how soon they find the pages that turn out to be
    important, beside a crawler that knows what pages are worth."""
    from gossamer.cli.show.lab import print_experiment, tell_on_terminal
    from gossamer.lab.graphs import read_graph
    from gossamer.lab.order.compare import OrderSettings, compare_orders
    from gossamer.lab.order.tables import order_experiment
    from gossamer.lab.simulated_time import TimeSettings
    from gossamer.policies.orders.named import LINK_ORDERS

    names = tuple(dict.fromkeys(name.strip() for name in orders.split(","))) if orders else ()
    time = TimeSettings(delay, latency, failures, random_seed) if delay else None
    settings = OrderSettings(
        names or tuple(LINK_ORDERS), seeds, repeats, in_flight, random_seed, time
    )
    read = read_graph(graph, sites)
    figures = compare_orders(read, settings, tell_on_terminal)
    tell_on_terminal("")
    experiment = order_experiment(read, graph.name, settings, figures)
    print_experiment(experiment, as_json=json, output=output)
