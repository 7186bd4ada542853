"""The comparison of parallel crawls as one `Experiment`: JSON, tables and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from gossamer.lab.experiment import CurvePoints, Experiment, LabCell, LabPlot, LabTable
from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.compare import (
    NO_PARTITION,
    ParallelLab,
    ParallelProgress,
    ParallelRow,
    compare,
    usable,
)
from gossamer.lab.parallel.measures import LEVELS
from gossamer.lab.parallel.modes import MODES
from gossamer.lab.parallel.owners import PageOwners

_FIGURES: Final = ("overlap", "coverage", "quality", "urls_per_page", "hot", "balance")
_NO_SITES: Final = (
    "Site-hash and hierarchical are left out: the graph has neither URLs nor sites. "
    "Give --sites FILE with lines page<TAB>site."
)
_RANGES: Final = (
    "The graph has no URLs: hierarchical cuts ranges of site numbers, in the order of the data."
)


def parallel_experiment(
    graph: LinkGraph, lab: ParallelLab, notify: ParallelProgress = lambda _: None
) -> Experiment:
    """Compare parallel crawlers on a graph. Raises UsageError."""
    rows = compare(graph, lab, notify)
    owners = PageOwners(graph)
    notes = []
    if len(usable(lab.partitions, owners)) < len(lab.partitions):
        notes.append(_NO_SITES)
    elif not owners.has_urls and "hierarchical" in lab.partitions:
        notes.append(_RANGES)
    return Experiment(
        name="parallel",
        title="Parallel crawlers",
        settings={**asdict(lab), "pages": graph.pages, "links": graph.links, "notes": notes},
        data_digest=graph.digest,
        results=_results(rows),
        tables=_tables(rows, lab, " ".join(notes)),
        plots=_plots(rows),
    )


def _results(rows: Iterable[ParallelRow]) -> dict[str, dict[str, dict[str, object]]]:
    """By partition, mode and number of processes."""
    results: dict[str, dict[str, dict[str, object]]] = {}
    for row in rows:
        of_mode = results.setdefault(row.partition, {}).setdefault(row.mode, {})
        of_mode[str(row.processes)] = _figures(row)
    return results


def _figures(row: ParallelRow) -> dict[str, object]:
    figures: dict[str, object] = {name: row.mean(name) for name in _FIGURES}
    figures["assignment"] = row.assignment
    figures["ranges"] = {name: list(row.span(name)) for name in _FIGURES}
    if row.runs[0].overlap_at:
        figures["overlap_at"] = {f"{level:g}": _mean_at(row, level) for level in LEVELS}
    return figures


def _mean_at(row: ParallelRow, level: float) -> float | None:
    """The mean overlap when a share of the pages is reached; None if a run never got there."""
    values = [run.overlap_at.get(level) for run in row.runs]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def _tables(rows: Sequence[ParallelRow], lab: ParallelLab, note: str) -> list[LabTable]:
    single = next(row for row in rows if row.processes == 1)
    share, worth = f"{lab.fraction:.0%}", lab.importance
    return [
        _table(rows, lab, "firewall", "coverage", "Firewall: coverage", note),
        _table(
            rows, lab, "cross-over", "overlap", "Cross-over: overlap when all processes are done"
        ),
        _crossing(rows, lab),
        _by_modes(rows, lab, "urls_per_page", "Exchange: URLs sent per page"),
        _by_modes(
            rows,
            lab,
            "quality",
            f"Quality of the first {share} ({worth}; one process: {single.mean('quality'):.3f})",
        ),
        _by_modes(rows, lab, "balance", "Balance: pages of the busiest process / mean"),
    ]


def _table(
    rows: Sequence[ParallelRow],
    lab: ParallelLab,
    mode: str,
    figure: str,
    title: str,
    note: str = "",
) -> LabTable:
    """A line per partition, a column per number of processes."""
    chosen = [row for row in rows if row.mode == mode]
    lines = [
        [partition, *_cells((row for row in chosen if row.partition == partition), figure)]
        for partition in dict.fromkeys(row.partition for row in chosen)
    ]
    return LabTable(title, ("partition", *_heads(lab)), lines, note)


def _crossing(rows: Sequence[ParallelRow], lab: ParallelLab) -> LabTable:
    chosen = [row for row in rows if row.runs[0].overlap_at and row.processes in lab.processes]
    lines: list[list[LabCell]] = []
    for partition, mode in dict.fromkeys((row.partition, row.mode) for row in chosen):
        own = [row for row in chosen if (row.partition, row.mode) == (partition, mode)]
        for level in LEVELS:
            cells = [_rounded(_mean_at(row, level)) for row in own]
            lines.append([partition, mode, f"{level:.0%}", *cells])
    columns = ("partition", "mode", "coverage", *_heads(lab))
    return LabTable("Overlap when a share of the pages is reached", columns, lines)


def _by_modes(rows: Sequence[ParallelRow], lab: ParallelLab, figure: str, title: str) -> LabTable:
    """A line per partition and mode."""
    lines: list[list[LabCell]] = []
    for partition, mode in dict.fromkeys((row.partition, row.mode) for row in rows):
        if figure == "urls_per_page" and not _sends(mode):
            continue
        own = [row for row in rows if (row.partition, row.mode) == (partition, mode)]
        wanted = [row for row in own if row.processes in lab.processes]
        lines.append([partition, mode, *_cells(wanted, figure)])
    return LabTable(title, ("partition", "mode", *_heads(lab)), lines)


def _sends(mode: str) -> bool:
    return mode.startswith("exchange") or mode == "dynamic"


def _heads(lab: ParallelLab) -> list[str]:
    return [f"n = {count}" for count in lab.processes]


def _cells(rows: Iterable[ParallelRow], figure: str) -> list[LabCell]:
    return [_rounded(row.mean(figure)) for row in rows]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _plots(rows: Sequence[ParallelRow]) -> list[LabPlot]:
    several = [row for row in rows if row.processes > 1]  # one process shares nothing
    partitions = [row.partition for row in several if row.partition != NO_PARTITION]
    if not partitions:
        return []
    shown = "site-hash" if "site-hash" in partitions else partitions[0]
    walled = _curves(several, "coverage", "firewall")
    crossing = _curves(several, "overlap", "cross-over") | _curves(
        several, "overlap", "independent"
    )
    sent = _curves(several, "urls_per_page", "exchange")
    quality = {
        mode: points
        for mode in MODES
        if (points := _curves(several, "quality", mode).get(shown)) is not None
    }
    is_positive = all(y > 0 for points in sent.values() for _, y in points)
    return [
        _plot("Firewall: coverage", "coverage", walled),
        _plot("Cross-over: overlap when all processes are done", "overlap", crossing),
        _plot("Exchange: URLs sent per page, each once", "URLs per page", sent, is_log=is_positive),
        _plot(f"Quality with {shown}", "quality", quality),
    ]


def _plot(
    title: str, y_name: str, curves: Mapping[str, CurvePoints], *, is_log: bool = False
) -> LabPlot:
    return LabPlot(title, "processes", y_name, curves, "log", "log" if is_log else "linear")


def _curves(rows: Iterable[ParallelRow], figure: str, mode: str) -> dict[str, CurvePoints]:
    """One curve per partition, over the number of processes."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if row.mode == mode:
            name = mode if row.partition == NO_PARTITION else row.partition
            found.setdefault(name, []).append((row.processes, row.mean(figure)))
    return dict(found)
