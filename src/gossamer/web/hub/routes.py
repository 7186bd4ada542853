"""The JSON API of a hub for people and programs: the operations of the fleet under /api/fleet."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse, Response

from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.hub.orders import KINDS
from gossamer.fleet.hub.shown.job_files import FORMATS
from gossamer.fleet.hub.shown.operations import OPERATIONS, call
from gossamer.web.parameters import Param, Parameters
from gossamer.web.route import Route, ViewContext

API: Final = "/api/fleet"
_LIMIT = Param(name="limit", help="Rows.", kind="whole", default=100, least=1, most=10_000)
_OFFSET = Param(name="offset", help="Number of rows to skip.", kind="whole", default=0, most=10**9)
_JOB = Param(name="job", help="Task code of a job.", default="", longest=40)
_NEEDED_JOB = Param(name="job", help="Task code of a job.", is_needed=True, longest=40)
_NOTE = Param(name="note", help="A note for people.", default="", longest=500)
_STATES = ("", "unallocated", "allocated", "done", "failed")

PARAMS: Final[dict[str, tuple[Param, ...]]] = {
    "jobs": (
        Param(name="state", help="Only jobs in this state.", default="", choices=_STATES),
        _LIMIT,
        _OFFSET,
    ),
    "job": (Param(name="job", help="Task code.", place="path", is_needed=True, longest=40),),
    "packages": (_LIMIT, _OFFSET),
    "orders": (_LIMIT,),
    "audit": (_LIMIT,),
    "add": (
        Param(name="text", help="Jobs as text in a format.", is_needed=True, longest=8 * 2**20),
        Param(name="format", help="Format of the text.", default="txt", choices=FORMATS),
        Param(name="where", help="Name of the text in messages.", default="text", longest=500),
        Param(
            name="kind", help="Kind of jobs that do not say it.", default="",
            choices=("", "site", "list", "page"),
        ),
        Param(name="max_pages", help="Pages of each job; 0: no limit.", kind="whole", default=0),
        Param(name="fields", help="Other fields, as JSON.", default="", longest=65_536),
        Param(
            name="priority", help="Smaller comes first.", kind="whole", default=0, least=-10**6,
            most=10**6,
        ),
    ),
    "ban": (
        Param(name="add", help="Lines to add.", kind="texts", default=()),
        Param(name="lift", help="Lines to remove.", kind="texts", default=()),
        _NOTE,
    ),
    "ban_loop": (
        _NEEDED_JOB,
        Param(name="pattern", help="Default: the pattern that the job tells.", default=""),
    ),
    "order": (
        Param(name="unit", help="Id or name of a unit; `*`: all.", default="", longest=200),
        Param(name="kind", help="The order.", is_needed=True, choices=(*KINDS, "again")),
        _JOB,
    ),
    "again": (_NEEDED_JOB,),
    "invite": (
        _NOTE,
        Param(name="relay", help="The unit may be a relay.", kind="flag", default=False),
        Param(
            name="hours", help="How long it is valid; 0: as set.", kind="number", default=0,
            most=8_760,
        ),
    ),
    "revoke": (
        Param(name="name", help="Unit, token or code.", is_needed=True, longest=200),
    ),
    "token": (
        Param(name="name", help="A new name.", is_needed=True, longest=100),
        Param(name="scope", help="What it may do.", default="read", choices=("read", "manage")),
    ),
}  # fmt: skip


def fleet_routes(hub: Hub) -> tuple[Route, ...]:
    """The rows for the table of routes."""
    return tuple(_route(hub, name) for name in OPERATIONS)


def _route(hub: Hub, name: str) -> Route:
    operation = OPERATIONS[name]

    def answer(_context: ViewContext, parameters: Parameters) -> Response:
        values = _values(name, dict(parameters.values))
        who = "operator" if parameters.is_owner else "reader"
        return JSONResponse({"schema": 1, **call(hub, name, who, values)})

    return Route(
        method="POST" if operation.changes else "GET",
        path=API + operation.path,
        name=f"fleet_{name}",
        does=operation.does,
        answer=answer,
        params=PARAMS.get(name, ()),
        changes=operation.changes,
    )


def _values(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """The fields of new jobs in one object."""
    if name != "add":
        return values
    import json

    from gossamer.errors import UsageError

    try:
        fields = json.loads(values.pop("fields") or "{}")
    except ValueError as fault:
        raise UsageError(f"fields is not valid JSON: {fault}") from None
    if not isinstance(fields, dict):
        raise UsageError("fields must be a JSON object")
    for field in ("kind", "max_pages"):
        if value := values.pop(field):
            fields[field] = value
    return {**values, "fields": fields}
