"""Build the web application: the one place that imports all its parts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.routing import Route as Path_
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from gossamer.web.endpoint import endpoint, stray_response
from gossamer.web.protect.guard import Names, RequestGuard
from gossamer.web.render import FOLDER
from gossamer.web.route import Route, ViewContext
from gossamer.web.routes import API, PAGES


def _by_path(routes: Iterable[Route]) -> dict[str, list[Route]]:
    found: dict[str, list[Route]] = {}
    for route in routes:
        found.setdefault(route.path, []).append(route)
    return found


def _joined(path: str, routes: Sequence[Route], context: ViewContext) -> Path_:
    """Return one path with all its methods, so that a wrong method gets the list of valid ones."""
    answers = {route.method: endpoint(route, context) for route in routes}

    async def respond(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await answers[method](request)  # type: ignore[index]  # Starlette rejects other methods

    return Path_(path, respond, methods=list(answers))


def build_app(context: ViewContext, names: Names, more: Sequence[Route] = ()) -> ASGIApp:
    """Return the whole application, with further routes. It closes the collections when the server
    ends."""

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        yield
        context.collections.close()

    async def strayed(request: Request, fault: Exception) -> Response:
        return await run_in_threadpool(stray_response, context, request, fault)

    rows = [
        _joined(path, routes, context) for path, routes in _by_path((*API, *PAGES, *more)).items()
    ]
    static = Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    faults = {HTTPException: strayed, Exception: strayed}
    app = Starlette(routes=[*rows, static], lifespan=living, exception_handlers=faults)
    return RequestGuard(app, names)
