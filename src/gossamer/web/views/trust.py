"""Verdicts about traps, and URLs that are trusted whatever they bring."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from starlette.responses import JSONResponse, RedirectResponse, Response

from gossamer.errors import StoreError
from gossamer.node.bans import TRUST, change_lines, lines_of
from gossamer.node.snapshot import trap_figures
from gossamer.web.parameters import Parameters
from gossamer.web.route import ViewContext

_MOST_SHOWN: Final = 20


class TrustShown(NamedTuple):
    """What the page of a crawl shows of traps."""

    lines: tuple[str, ...]
    traps: list[dict[str, Any]]
    total: int


def trust_shown(context: ViewContext, name: str) -> TrustShown:
    """What the page of a crawl shows; nothing if it cannot be read, as its status says."""
    paths = context.collections.paths(name)
    try:
        traps = trap_figures(paths)
        return TrustShown(lines_of(paths, TRUST), traps[:_MOST_SHOWN], len(traps))
    except StoreError:
        return TrustShown((), [], 0)


def trusted(context: ViewContext, parameters: Parameters) -> Response:
    name = parameters.text("name")
    return _answer(context, name, lines_of(context.collections.paths(name), TRUST))


def change_trust(context: ViewContext, parameters: Parameters) -> Response:
    return _answer(context, parameters.text("name"), _change(context, parameters))


def order_trust(context: ViewContext, parameters: Parameters) -> Response:
    """The same for the page of a crawl."""
    _change(context, parameters)
    return RedirectResponse(f"/crawls/{parameters.text('name')}#traps", 303)


def _change(context: ViewContext, parameters: Parameters) -> tuple[str, ...]:
    paths, clock = context.collections.paths(parameters.text("name")), context.collections.clock
    return change_lines(paths, clock, TRUST, parameters.texts("added"), parameters.texts("lifted"))


def _answer(context: ViewContext, name: str, lines: tuple[str, ...]) -> Response:
    traps = trap_figures(context.collections.paths(name))
    return JSONResponse({"schema": 1, "crawl": name, "trusted": list(lines), "traps": traps})
