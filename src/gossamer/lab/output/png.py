"""Plots as a PNG picture, by matplotlib (an optional extra)."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from typing import Any, Final

from gossamer.errors import UsageError
from gossamer.lab.experiment import LabPlot
from gossamer.lab.output.svg import colour_of, dash_of

_STYLES: Final = {"": "-", "7 4": "--", "2 3": ":", "9 3 2 3": "-."}


def png_bytes(plots: Sequence[LabPlot]) -> bytes:
    """All plots below each other. Raises UsageError without matplotlib."""
    try:
        figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        raise UsageError(
            "PNG pictures need matplotlib, which is not installed; write .svg or .html, "
            "or install it with: pip install 'gossamer[lab]'"
        ) from None
    figure = figures.Figure(figsize=(9.0, 4.6 * max(1, len(plots))), dpi=110, layout="constrained")
    for number, plot in enumerate(plots):
        axes = figure.add_subplot(len(plots), 1, number + 1)
        for place, (name, points) in enumerate(plot.curves.items()):
            xs, ys = [x for x, _ in sorted(points)], [y for _, y in sorted(points)]
            line = {"color": colour_of(place), "linestyle": _STYLES[dash_of(place)], "label": name}
            axes.plot(xs, ys, marker="o" if len(xs) <= 30 else None, markersize=4, **line)
        axes.set_title(plot.title, loc="left")
        axes.set_xlabel(plot.x_name)
        axes.set_ylabel(plot.y_name)
        axes.set_xscale(plot.x_scale)
        axes.set_yscale(plot.y_scale)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
