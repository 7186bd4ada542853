"""What one setting changes: medians and ranges of pages per second and per CPU-second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from gossamer.lab.experiment import CurvePoints, Experiment, LabCell, LabPlot, LabTable
from gossamer.lab.tune.crawls import TuneRun, varied
from gossamer.lab.tune.factor import Factor
from gossamer.lab.tune.local_web import LocalWeb

_COLUMNS: Final = (
    "pages/s", "from", "to", "change", "pages per CPU-second", "CPU from", "CPU to", "CPU change",
    "node, MB",
)  # fmt: skip
_LEAST_RUNS: Final = 3  # two ranges of fewer runs are easily apart by chance


@dataclass(frozen=True, slots=True)
class TuneLab:
    """What an experiment is made with."""

    factor: Factor
    held: dict[str, str]
    repeats: int = 5


def tune_experiment(
    lab: TuneLab, web: LocalWeb, notify: Callable[[str], None] = lambda _: None
) -> Experiment:
    """Crawl with each value, and compare. Raises GossamerError."""
    held = {**web.settings, **lab.held}
    runs = varied(lab.factor, web.seeds, held, lab.repeats, notify)
    pages = {run.pages for run in runs}
    return Experiment(
        name="tune",
        title=f"What {lab.factor.key} changes on {web.name}; all else held",
        settings={
            "key": lab.factor.key, "values": list(lab.factor.values), "held": held,
            "repeats": lab.repeats, "web": web.name, "seeds": list(web.seeds),
        },
        data_digest=f"live: {web.name}",
        results={value: point_of(_of(runs, value)) for value in lab.factor.values},
        tables=[table_of(lab.factor, runs, _note(pages))],
        plots=plots_of(lab.factor, runs),
    )  # fmt: skip


def _note(pages: set[int]) -> str:
    """A warning if the values do not crawl the same pages."""
    if len(pages) == 1:
        return f"{pages.pop():,} pages in each crawl."
    return f"Between {min(pages):,} and {max(pages):,} pages: speeds are of different pages."


def _of(runs: Sequence[TuneRun], value: str) -> list[TuneRun]:
    return [run for run in runs if run.value == value]


def point_of(runs: Sequence[TuneRun]) -> dict[str, object]:
    """One value: medians, and each run."""
    return {
        "pages": runs[0].pages,
        "pages_per_s": round(median(run.per_s for run in runs), 1),
        "pages_per_cpu_s": round(median(run.per_cpu_s for run in runs), 1),
        "mb_per_s": round(median(run.megabytes / run.wall_s for run in runs), 3),
        "peak_mb": round(median(run.peak_mb for run in runs), 1),
        "runs_per_s": [round(run.per_s, 1) for run in runs],
        "runs_per_cpu_s": [round(run.per_cpu_s, 1) for run in runs],
    }


def table_of(factor: Factor, runs: Sequence[TuneRun], note: str = "") -> LabTable:
    """A line per value. A difference to the first value is told where the ranges are apart."""
    lines: list[list[LabCell]] = []
    walls, cpus = _rates(factor, runs)
    for value in factor.values:
        peak = round(median(run.peak_mb for run in _of(runs, value)))
        first = factor.values[0]
        wall = _cells(walls[value], walls[first], is_first=value == first)
        cpu = _cells(cpus[value], cpus[first], is_first=value == first)
        lines.append([value, *wall, *cpu, peak])
    return LabTable(factor.key, (factor.key, *_COLUMNS), lines, note)


def _rates(
    factor: Factor, runs: Sequence[TuneRun]
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """By value, pages per second and per CPU-second of each run."""
    walls = {value: [run.per_s for run in _of(runs, value)] for value in factor.values}
    cpus = {value: [run.per_cpu_s for run in _of(runs, value)] for value in factor.values}
    return walls, cpus


def _cells(rates: Sequence[float], first: Sequence[float], *, is_first: bool) -> list[LabCell]:
    cells = [round(median(rates), 1), round(min(rates), 1), round(max(rates), 1)]
    return [*cells, None if is_first else difference(rates, first)]


def difference(rates: Sequence[float], first: Sequence[float]) -> str:
    """`+12 %` between two medians, or `not clear` if the ranges overlap or are of few runs."""
    if len(rates) < _LEAST_RUNS:
        return "not clear"
    if min(rates) <= max(first) and min(first) <= max(rates):
        return "not clear"
    return f"{median(rates) / median(first) - 1:+.0%}".replace("%", " %")


def plots_of(factor: Factor, runs: Sequence[TuneRun]) -> list[LabPlot]:
    """Rates over the values, if these are numbers."""
    try:
        places = {value: float(value) for value in factor.values}
    except ValueError:
        return []
    numbers = places.values()
    is_wide = min(numbers) > 0 and max(numbers) >= 8 * min(numbers)
    walls, cpus = _rates(factor, runs)
    return [
        LabPlot(
            f"{factor.key}: {name}", factor.key, name, _band(places, rates),
            "log" if is_wide else "linear",
        )
        for name, rates in (("pages/s", walls), ("pages per CPU-second", cpus))
    ]  # fmt: skip


def _band(places: dict[str, float], rates: dict[str, list[float]]) -> dict[str, CurvePoints]:
    """Median and range over the values."""
    return {
        name: [(place, middle(rates[value])) for value, place in places.items()]
        for name, middle in (("largest", max), ("median", median), ("smallest", min))
    }
