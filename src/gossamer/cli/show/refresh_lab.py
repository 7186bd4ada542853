"""The result of `gossamer lab refresh` as a table and as a picture."""

from __future__ import annotations

from gossamer.base.plurals import counted
from gossamer.cli.show.tables import print_table
from gossamer.lab.plot import svg_curves
from gossamer.lab.refresh import POLICIES, PolicyRow, gap_closed, mean_gap
from gossamer.lab.replay import DAY_S
from gossamer.lab.traces import ChangeTrace


def print_refresh(trace: ChangeTrace, rows: dict[float, PolicyRow]) -> None:
    """Print what was replayed, and a line for each policy."""
    pages, changes = counted(len(trace.paths), "page"), counted(len(trace.at_s), "change")
    ignored = f"{counted(trace.bulk_rows, 'row')} of bulk edits, {trace.bad_rows:,} bad rows"
    print(f"{pages}, {changes} (ignored: {ignored})")
    print("Mean gap closed, and for each budget: freshness, age in days, gap closed.")
    names = ["policy", "gap closed"]
    for budget in rows:
        names += [f"{budget:g} d fresh", "age", "gap"]
    print_table(names, [_line(name, rows) for name in POLICIES])


def _line(name: str, rows: dict[float, PolicyRow]) -> list[str]:
    cells = [name, _share(mean_gap(rows, name))]
    for row in rows.values():
        reached = row[name]
        cells += [f"{reached.freshness:.4f}", f"{reached.age_s / DAY_S:.3g}"]
        cells.append(_share(gap_closed(row, name)))
    return cells


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"


def refresh_plot(rows: dict[float, PolicyRow]) -> str:
    """The share of the gap that each policy closes at each budget, as SVG."""
    curves = {
        name: [
            (budget, share)
            for budget, row in rows.items()
            if (share := gap_closed(row, name)) is not None
        ]
        for name in POLICIES
    }
    title = "Refresh policies: share of the gap to known rates that is closed"
    return svg_curves(title, "days between two visits of a page", "gap closed", curves)
