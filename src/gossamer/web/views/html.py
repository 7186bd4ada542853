"""Make the response of a page from a template and what every page needs."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from gossamer.web.parameters import Parameters
from gossamer.web.route import ViewContext


def html(context: ViewContext, parameters: Parameters, template: str, **names: Any) -> Response:
    """The page. `names` are those of its template; `status` is that of the response."""
    crawl = parameters.text("c") or context.collections.first
    markup = context.renderer.page(
        template,
        parameters=parameters,
        crawl=crawl if crawl != context.collections.first else "",
        crawl_name=crawl,
        first=context.collections.first,
        crawls=context.collections.names(),
        has_fleet=context.hub is not None,
        **names,
    )
    return Response(markup, names.get("status", 200), media_type="text/html")
