"""`gossamer lab scale`: a month on many machines, from costs measured on this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput, LocalFolder, LocalUrls, repeats_of
from gossamer.cli.options import Json


def scale(
    pages: Annotated[
        str, typer.Option("--pages", metavar="N,...", help="Pages to fetch.")
    ] = "1e9,1e10,1e11",
    machines: Annotated[
        str, typer.Option("--machines", metavar="N,...", help="Numbers of machines.")
    ] = "1,10,100,1000",
    days: Annotated[
        float, typer.Option("--days", metavar="N", min=0.01, help="Time for the crawl.")
    ] = 30.0,
    delay: Annotated[
        float,
        typer.Option("--delay", metavar="S", min=0.0, help="Seconds between requests to a site."),
    ] = 1.0,
    cores: Annotated[int, typer.Option("--cores", min=1, help="Cores of a machine.")] = 16,
    network: Annotated[
        float,
        typer.Option("--network", metavar="GBIT", min=0.001, help="Its network, in Gbit/s."),
    ] = 1.0,
    disk: Annotated[
        float, typer.Option("--disk", metavar="TB", min=0.001, help="Its disk, in TB.")
    ] = 16.0,
    disk_speed: Annotated[
        float,
        typer.Option("--disk-speed", metavar="MB", min=0.1, help="What it writes, in MB/s."),
    ] = 200.0,
    urls_per_page: Annotated[
        float,
        typer.Option(
            "--urls-per-page",
            metavar="N",
            min=0.0,
            help="URLs sent to other machines per page, from `lab parallel`.",
        ),
    ] = 0.16,
    costs: Annotated[
        Path | None,
        typer.Option(
            "--costs",
            metavar="FILE",
            show_default=False,
            help="Read the costs of a page from JSON (an earlier `lab scale --json`); "
            "without it they are measured by crawls of this machine.",
        ),
    ] = None,
    url: LocalUrls = None,
    folder: LocalFolder = None,
    repeats: Annotated[int, repeats_of("Rounds of measuring.")] = 3,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Estimate a month of crawling on 1 to 1,000 machines, from costs of a page that are measured
    here: how far each resource is used, and what breaks first."""
    from gossamer.cli.show.lab import print_experiment, tell_on_terminal
    from gossamer.lab.scale.compare import ScaleLab, scale_experiment, sizes_in
    from gossamer.lab.scale.costs import measured_costs, read_costs
    from gossamer.lab.scale.model import Machine
    from gossamer.lab.tune.factor import HELD
    from gossamer.lab.tune.local_web import local_web

    lab = ScaleLab(
        pages=sizes_in(pages, "pages"),
        machines=tuple(map(int, sizes_in(machines, "machines"))),
        days=days,
        delay_s=delay,
        urls_per_page=urls_per_page,
        machine=Machine(cores, network, disk, disk_speed),
    )
    if costs is not None:
        found, source = read_costs(costs), str(costs)
    else:
        with local_web(url or [], folder) as web:
            found = measured_costs(web.seeds, {**HELD, **web.settings}, repeats, tell_on_terminal)
            source = f"measured on {web.name}"
    tell_on_terminal("")
    print_experiment(scale_experiment(lab, found, source), as_json=json, output=output)
