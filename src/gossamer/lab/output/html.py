"""One HTML page with tables and interactive plots, which needs no other file and no network."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Final

from gossamer.lab.experiment import Experiment, LabPlot, LabTable
from gossamer.lab.output.cells import cell_text
from gossamer.lab.output.svg import FLOOR, HEIGHT, LEFT, RIGHT, STYLE, TOP, WIDTH, axes_of, drawn
from gossamer.version import __version__

# Nothing is loaded from anywhere: a name in the data cannot reach the network.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html_page(experiment: Experiment) -> str:
    """The page of a result."""
    here = files(__package__)
    style = here.joinpath("page.css").read_text(encoding="utf-8")
    script = here.joinpath("page.js").read_text(encoding="utf-8")
    title = escape(experiment.title)
    plots = "\n".join(_figure(number, plot) for number, plot in enumerate(experiment.plots))
    tables = "\n".join(map(_table, experiment.tables))
    data = json.dumps([_plot_data(plot) for plot in experiment.plots])
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}{STYLE}</style></head><body>
<header><h1>{title}</h1>
<p>gossamer {escape(__version__)}, lab {escape(experiment.name)}</p></header>
<main>
<section class="plots">{plots}</section>
<section class="tables">{tables}</section>
<section><h2>Settings</h2>{_settings(experiment)}</section>
</main>
<script type="application/json" id="plots">{_harmless(data)}</script>
<script>{script}</script>
</body></html>
"""


def _figure(number: int, plot: LabPlot) -> str:
    note = f"<figcaption>{escape(plot.note)}</figcaption>" if plot.note else ""
    return (
        f'<figure data-plot="{number}"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(plot.title)}">{drawn(plot)}</svg>{note}</figure>'
    )


def _plot_data(plot: LabPlot) -> dict[str, object]:
    """What the script needs to show values: places are computed as `svg.py` does."""
    x_axis, y_axis = axes_of(plot)
    return {
        "x": [x_axis.low, x_axis.high, x_axis.scale],
        "y": [y_axis.low, y_axis.high, y_axis.scale],
        "box": [LEFT, RIGHT, TOP, FLOOR],
        "x_name": plot.x_name,
        "curves": [[name, sorted(points)] for name, points in plot.curves.items()],
    }


def _table(table: LabTable) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = []
    for row in table.rows:
        cells = "".join(
            f"<td{'' if isinstance(cell, str) else ' class=number'}>{escape(cell_text(cell))}</td>"
            for cell in row
        )
        rows.append(f"<tr>{cells}</tr>")
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2>{note}<div class=wide><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _settings(experiment: Experiment) -> str:
    facts = {**experiment.settings, "data": experiment.data_digest, "version": __version__}
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(_shown(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<div class=wide><table><tbody>{rows}</tbody></table></div>"


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _harmless(text: str) -> str:
    """JSON that cannot end the script element that holds it."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
