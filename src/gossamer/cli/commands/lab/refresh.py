"""`gossamer lab refresh`: compare refresh policies on a change trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.commands.lab.options import LabOutput
from gossamer.cli.options import Json


def refresh(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            show_default=False,
            help="Changes of pages: CSV or CSV.gz with the columns path and timestamp.",
        ),
    ],
    budgets: Annotated[
        str,
        typer.Option(
            "--budgets",
            metavar="DAYS,...",
            help="Days between two visits of a page, on average; one experiment for each.",
        ),
    ] = "365,90,30,7",
    max_files: Annotated[
        int,
        typer.Option(
            "--max-files",
            metavar="N",
            min=0,
            help="Ignore changes of more than N files at once (bulk edits); 0 keeps all.",
        ),
    ] = 50,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Write the curves as a picture: .svg or .png.",
            show_default=False,
        ),
    ] = None,
    output: LabOutput = None,
    json: Json = False,
) -> None:
    """Compare refresh policies on a change trace: freshness, age, and the share of the gap between
    uniform visits and known rates that each policy closes."""
    from gossamer.cli.show.lab import print_experiment
    from gossamer.errors import UsageError
    from gossamer.lab.output.files import write_experiment
    from gossamer.lab.refresh import RefreshLab, measure_all, parse_budgets
    from gossamer.lab.refresh_result import refresh_experiment
    from gossamer.lab.traces import read_trace

    try:
        wanted = tuple(parse_budgets(budgets))
    except ValueError:
        raise UsageError(
            f"--budgets {budgets!r} is not a list of different numbers of days, such as 365,90,30,7"
        ) from None
    lab = RefreshLab(trace, wanted, max_files)
    read = read_trace(trace, max_files)
    experiment = refresh_experiment(lab, read, measure_all(lab))
    if plot is not None:
        write_experiment(experiment, plot)
    print_experiment(experiment, as_json=json, output=output)
