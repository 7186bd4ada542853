"""Print the result of an experiment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gossamer.cli.show.printable import printable
from gossamer.cli.show.tables import print_table
from gossamer.lab.experiment import Experiment
from gossamer.lab.output.cells import cell_text
from gossamer.lab.output.files import write_experiment


def print_experiment(
    experiment: Experiment, *, as_json: bool, output: Path | None = None
) -> None:  # fmt: skip
    """One JSON object, or the tables for a person. Writes the file `output`, too, if given."""
    if output is not None:
        write_experiment(experiment, output)
        print(f"wrote {output}", file=sys.stderr)
    if as_json:
        print(json.dumps(experiment.as_json()))
        return
    print(printable(experiment.title))
    for table in experiment.tables:
        print(f"\n{table.title}")
        if table.note:
            print(table.note)
        print_table(
            table.columns, [[printable(cell_text(cell)) for cell in row] for row in table.rows]
        )


def tell_on_terminal(what: str) -> None:
    """Show on a terminal what runs now; elsewhere nothing."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)
