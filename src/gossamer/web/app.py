"""The server's parts, joined: the one place that names them all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.routing import Route as Path_
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from gossamer.web.endpoint import endpoint
from gossamer.web.guard import Guard, Names
from gossamer.web.render import FOLDER
from gossamer.web.route import Desk
from gossamer.web.routes import API, PAGES


def build_app(desk: Desk, names: Names) -> ASGIApp:
    """The whole application. Closes the shelf when the server ends."""

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        yield
        desk.shelf.close()

    rows = [
        Path_(route.path, endpoint(route, desk), methods=[route.method], name=route.name)
        for route in (*API, *PAGES)
    ]
    static = Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")
    return Guard(Starlette(routes=[*rows, static], lifespan=living), names)
