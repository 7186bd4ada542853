"""The type of a row in the table of routes (`routes.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from starlette.responses import Response

from gossamer.base.clock import Clock
from gossamer.errors import GossamerError
from gossamer.web.brief_cache import BriefCache
from gossamer.web.crawls import Crawls
from gossamer.web.open_collections import OpenCollections
from gossamer.web.parameters import Param, Parameters
from gossamer.web.protect.live_view_limit import LiveViewLimit
from gossamer.web.protect.login import Credentials
from gossamer.web.render import Renderer

if TYPE_CHECKING:  # only a hub loads it
    from gossamer.fleet.hub.hub import Hub


class NotAllowed(GossamerError):
    """The client is not logged in, or the request came from another site."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(slots=True)
class ServerCounters:
    """Counters of the server, for /metrics."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)  # by route and status
    seconds: Counter[str] = field(default_factory=Counter)  # by route; the values are floats
    watchers: LiveViewLimit = field(default_factory=LiveViewLimit)


@dataclass(frozen=True, slots=True)
class ViewContext:
    """Everything that a view may use. Built in `app.py`."""

    collections: OpenCollections
    crawls: Crawls
    credentials: Credentials
    renderer: Renderer
    clock: Clock
    tally: ServerCounters = field(default_factory=ServerCounters)
    lately: BriefCache = field(default_factory=BriefCache)
    hub: Hub | None = None  # of a server that is the control unit of a fleet


ViewAnswer = (
    Callable[[ViewContext, Parameters], Response]
    | Callable[[ViewContext, Parameters], Coroutine[Any, Any, Response]]
)
Gives = Literal["json", "html", "text", "events", "xml", "copy", "feed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route: the app, the OpenAPI document and the tests read this row.

    `answer` may block: it runs in a thread, unless it is a coroutine. `keys` are those of its JSON
    object.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    does: str
    answer: ViewAnswer
    params: tuple[Param, ...] = ()
    gives: Gives = "json"
    keys: tuple[str, ...] = ()
    status: int = 200
    changes: bool = False  # needs a token, or a session and its CSRF token
    is_costly: bool = False  # makes no change, but needs a token or a session
    tells_faults: bool = False  # the view shows `Parameters.fault` beside the typed values
    is_open: bool = False  # even to clients that may not read
