"""The result of `gossamer lab refresh`: a table and a plot."""

from __future__ import annotations

from gossamer.base.plurals import counted
from gossamer.lab.experiment import CurvePoints, Experiment, LabCell, LabPlot, LabTable
from gossamer.lab.refresh import (
    POLICIES,
    PolicyRow,
    RefreshLab,
    gap_closed,
    mean_gap,
    refresh_settings,
    result_object,
)
from gossamer.lab.replay import DAY_S
from gossamer.lab.traces import ChangeTrace


def refresh_experiment(
    lab: RefreshLab, trace: ChangeTrace, rows: dict[float, PolicyRow]
) -> Experiment:
    """What was replayed, and what each policy has reached."""
    pages, changes = counted(len(trace.paths), "page"), counted(len(trace.at_s), "change")
    ignored = f"{counted(trace.bulk_rows, 'row')} of bulk edits, {trace.bad_rows:,} bad rows"
    whole = result_object(lab, trace, rows)
    results = whole["results"]
    assert isinstance(results, dict)
    return Experiment(
        name="refresh",
        title=f"Refresh policies: {pages}, {changes} (ignored: {ignored})",
        settings=refresh_settings(lab, trace),
        data_digest=f"sha256:{trace.digest}",
        results=results,
        tables=[_table(rows)],
        plots=[refresh_plot(rows)],
        more={"data": whole["data"], "mean_gap_closed": whole["mean_gap_closed"]},
    )


def _table(rows: dict[float, PolicyRow]) -> LabTable:
    names = ["policy", "gap closed"]
    for budget in rows:
        names += [f"{budget:g} d fresh", "age", "gap"]
    note = "Mean gap closed, and for each budget: freshness, age in days, gap closed."
    return LabTable("Policies", tuple(names), [_line(name, rows) for name in POLICIES], note)


def _line(name: str, rows: dict[float, PolicyRow]) -> list[LabCell]:
    cells: list[LabCell] = [name, _share(mean_gap(rows, name))]
    for row in rows.values():
        reached = row[name]
        cells += [f"{reached.freshness:.4f}", f"{reached.age_s / DAY_S:.3g}"]
        cells.append(_share(gap_closed(row, name)))
    return cells


def _share(share: float | None) -> LabCell:
    return None if share is None else round(share, 2)


def refresh_plot(rows: dict[float, PolicyRow]) -> LabPlot:
    """The share of the gap that each policy closes at each budget."""
    curves: dict[str, CurvePoints] = {
        name: [
            (budget, share)
            for budget, row in rows.items()
            if (share := gap_closed(row, name)) is not None
        ]
        for name in POLICIES
    }
    title = "Refresh policies: share of the gap to known rates that is closed"
    return LabPlot(title, "days between two visits of a page", "gap closed", curves, x_scale="log")
