"""Results of experiments that lie in the folder `lab` of a collection. They are only shown."""

from __future__ import annotations

from markupsafe import Markup
from starlette.responses import Response

from gossamer.lab.output.cells import cell_text
from gossamer.lab.output.stored import read_result, stored_results
from gossamer.lab.output.svg import HEIGHT, WIDTH, drawn
from gossamer.web.parameters import Parameters
from gossamer.web.route import ViewContext
from gossamer.web.views.html import html


def lab_page(context: ViewContext, parameters: Parameters) -> Response:
    """The list of results, and one of them. Raises UsageError, NoCollection."""
    path = context.collections.existing(parameters.text("c")).path
    names = stored_results(path)
    wanted = parameters.text("result") or (names[0] if names else "")
    shown = read_result(path, wanted) if wanted else None
    plots = [] if shown is None else shown.lab_plots()
    return html(
        context,
        parameters,
        "lab.html",
        nav="lab",
        results=names,
        wanted=wanted,
        shown=shown,
        tables=[] if shown is None else shown.lab_tables(),
        # `drawn` escapes every text of the result.
        plots=[(plot.title, Markup(drawn(plot)), plot.note) for plot in plots],  # noqa: S704
        size=f"0 0 {WIDTH} {HEIGHT}",
        cell_text=cell_text,
    )
