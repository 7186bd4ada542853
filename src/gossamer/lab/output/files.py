"""Write a result to a file: the extension says how."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gossamer.errors import UsageError
from gossamer.lab.experiment import Experiment
from gossamer.lab.output.cells import harmless_cell
from gossamer.lab.output.html import html_page
from gossamer.lab.output.png import png_bytes
from gossamer.lab.output.stored import FOLDER
from gossamer.lab.output.svg import svg_file


def csv_text(experiment: Experiment) -> str:
    """One line per cell of a table and per point of a curve: kind, title, name, x, value.

    `name` is the first cell of the row, or the curve; `x` is the column, or the place of the point.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("kind", "title", "name", "x", "value"))
    for table in experiment.tables:
        for row in table.rows:
            for column, cell in zip(table.columns[1:], row[1:], strict=True):
                line = ("table", table.title, row[0], column, "" if cell is None else cell)
                writer.writerow([harmless_cell(one) for one in line])
    for plot in experiment.plots:
        for name, points in plot.curves.items():
            writer.writerows(
                ("plot", harmless_cell(plot.title), harmless_cell(name), x, y) for x, y in points
            )
    return file.getvalue()


def json_text(experiment: Experiment) -> str:
    """What `--json` prints, with tables and plots."""
    tables = [
        {"title": one.title, "note": one.note, "columns": one.columns, "rows": one.rows}
        for one in experiment.tables
    ]
    plots = [
        {
            "title": one.title, "note": one.note, "x": one.x_name, "y": one.y_name,
            "x_scale": one.x_scale, "y_scale": one.y_scale, "curves": dict(one.curves),
        }
        for one in experiment.plots
    ]  # fmt: skip
    whole = {**experiment.as_json(), "title": experiment.title, "tables": tables, "plots": plots}
    return json.dumps(whole, indent=1) + "\n"


_WRITERS: Final[dict[str, Callable[[Experiment], str | bytes]]] = {
    ".html": html_page,
    ".svg": lambda experiment: svg_file(experiment.plots),
    ".png": lambda experiment: png_bytes(experiment.plots),
    ".csv": csv_text,
    ".json": json_text,
}


def check_output(path: Path) -> None:
    """Raises UsageError for a file that could not be written, before an experiment begins."""
    if path.suffix not in _WRITERS:
        raise UsageError(f"-o {path}: the extension must be one of {', '.join(_WRITERS)}")
    folder = path.absolute().parent
    if not folder.is_dir() and not (folder.name == FOLDER and folder.parent.is_dir()):
        raise UsageError(f"-o {path}: the folder {folder} does not exist")


def write_experiment(experiment: Experiment, path: Path) -> None:
    """Write a result. Raises UsageError."""
    check_output(path)
    written = _WRITERS[path.suffix](experiment)
    if path.suffix in (".svg", ".png") and not experiment.plots:
        raise UsageError(f"-o {path}: this experiment has no plots; write .html, .csv or .json")
    data = written.encode() if isinstance(written, str) else written
    try:
        path.absolute().parent.mkdir(exist_ok=True)  # the folder `lab` of a collection
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror})") from None
