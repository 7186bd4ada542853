"""The routes for marks of a focused crawl; rows of the table in `routes.py`."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse, RedirectResponse, Response

from gossamer.web.parameters import Param, Parameters
from gossamer.web.render import here
from gossamer.web.route import Route, ViewContext

_MARK: Final = (
    Param(name="url", help="A stored page.", place="body", is_needed=True, longest=8_192),
    Param(
        name="relevant", help="1: it is about the topic; 0: it is not.", place="body",
        is_needed=True, choices=("0", "1"),
    ),
    Param(
        name="c", help="Name of the crawl; default: the first.", place="body", default="",
        longest=64,
    ),
)  # fmt: skip


def _mark(context: ViewContext, parameters: Parameters) -> Response:
    is_wanted = parameters.text("relevant") == "1"
    figures = context.crawls.mark(parameters.text("c"), parameters.text("url"), is_wanted=is_wanted)
    return JSONResponse({"schema": 1, "focus": figures})


def _mark_on_page(context: ViewContext, parameters: Parameters) -> Response:
    _mark(context, parameters)
    back = here("/page", url=parameters.text("url"), c=parameters.text("c"))
    return RedirectResponse(back, 303)


API: Final = (
    Route(
        method="POST", path="/api/marks", name="mark",
        does="Mark a stored page as relevant to the topic of a focused crawl, or not.",
        answer=_mark, params=_MARK, keys=("schema", "focus"), changes=True,
    ),
)  # fmt: skip
PAGES: Final = (
    Route(
        method="POST", path="/marks", name="mark_page",
        does="Mark a page, and show it again.", answer=_mark_on_page, params=_MARK, gives="html",
        changes=True, tells_faults=True,
    ),
)  # fmt: skip
