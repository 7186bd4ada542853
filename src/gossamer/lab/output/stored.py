"""Results that were written as JSON, read again: the folder `lab` of a collection holds some.

A collection may come from someone else, so nothing in a file is trusted: it has the right types and
a limited size, or it is not shown.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final, Literal

import msgspec

from gossamer.errors import UsageError
from gossamer.lab.experiment import LabCell, LabPlot, LabTable

FOLDER: Final = "lab"
_MOST_FILES: Final = 200
_MOST_BYTES: Final = 10 * 2**20
_MOST_PLOTS: Final = 40
_MOST_CURVES: Final = 60


class _Table(msgspec.Struct):
    title: str
    columns: list[str]
    rows: list[list[LabCell]]
    note: str = ""


class _Plot(msgspec.Struct):
    title: str
    x: str
    y: str
    curves: dict[str, list[tuple[float, float]]]
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    note: str = ""


class StoredResult(msgspec.Struct):
    """A result as a file holds it."""

    experiment: str
    version: str
    data_digest: str
    title: str
    tables: list[_Table]
    plots: list[_Plot]

    def lab_tables(self) -> list[LabTable]:
        """Its tables; rows of another length than the columns are left out."""
        return [
            LabTable(
                one.title,
                tuple(one.columns),
                [row for row in one.rows if len(row) == len(one.columns)],
                one.note,
            )
            for one in self.tables[:_MOST_PLOTS]
        ]

    def lab_plots(self) -> list[LabPlot]:
        """Its plots; points that are no numbers are left out."""
        plots = []
        for one in self.plots[:_MOST_PLOTS]:
            curves = {
                name: [point for point in points if all(map(math.isfinite, point))]
                for name, points in list(one.curves.items())[:_MOST_CURVES]
            }
            plots.append(
                LabPlot(one.title, one.x, one.y, curves, one.x_scale, one.y_scale, one.note)
            )
        return plots


def stored_results(collection: Path) -> list[str]:
    """Names of the results of a collection, without the extension."""
    folder = collection / FOLDER
    if not folder.is_dir():
        return []
    return sorted(path.stem for path in folder.glob("*.json") if path.is_file())[:_MOST_FILES]


def read_result(collection: Path, name: str) -> StoredResult:
    """One of them. Raises UsageError."""
    if name not in stored_results(collection):
        raise UsageError(f"{name!r} is not a result of this crawl")
    path = collection / FOLDER / f"{name}.json"
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise UsageError(f"the result {name!r} is larger than 10 MB")
        return msgspec.json.decode(data, type=StoredResult)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise UsageError(f"the result {name!r} cannot be read ({error})") from None
