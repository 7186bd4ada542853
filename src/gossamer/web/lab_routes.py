"""The route for results of experiments; a row of the table in `routes.py`."""

from __future__ import annotations

from typing import Final

from gossamer.web.parameters import Param
from gossamer.web.route import Route
from gossamer.web.views.lab import lab_page

PAGES: Final = (
    Route(
        method="GET", path="/lab", name="lab_page",
        does="Results of experiments, from the folder lab of the collection.", answer=lab_page,
        params=(
            Param(name="result", help="Name of the result.", default="", longest=200),
            Param(name="c", help="Name of the crawl; default: the first.", default="", longest=64),
        ),
        gives="html",
    ),
)  # fmt: skip
