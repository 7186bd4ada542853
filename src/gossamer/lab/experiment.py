"""The result of an experiment: what every command of the lab returns.

A command makes one `Experiment`. `cli/show/lab.py` prints it, and `lab/output/` writes it to files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gossamer.version import __version__

LabCell = str | int | float | None  # None: does not apply, or was not measured
CurvePoints = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class LabTable:
    """Rows for a person. `note` says how to read them."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[LabCell]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class LabPlot:
    """Curves for a person."""

    title: str
    x_name: str
    y_name: str
    curves: Mapping[str, CurvePoints]
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was tried, on which data, and what came out."""

    name: str  # of the command: "order", "focus"
    title: str
    settings: Mapping[str, object]  # all that a repetition needs, the random seed included
    data_digest: str
    results: Mapping[str, object]  # what `--json` shows; plain values only
    tables: Sequence[LabTable] = field(default_factory=tuple)
    plots: Sequence[LabPlot] = field(default_factory=tuple)
    more: Mapping[str, object] = field(default_factory=dict)  # further fields of `--json`

    def as_json(self) -> dict[str, object]:
        """The object that `--json` prints."""
        return {
            "schema": 1,
            "experiment": self.name,
            "version": __version__,
            "settings": dict(self.settings),
            "data_digest": self.data_digest,
            "results": dict(self.results),
            **self.more,
        }
