"""Generate the OpenAPI document from the table of routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import JSONResponse

from gossamer.transfer.feeds import ATOM_TYPE, JSON_TYPE
from gossamer.version import __version__
from gossamer.web.parameters import Param
from gossamer.web.route import Route
from gossamer.web.schemas import KEY_SCHEMAS

_MEDIA: Final = {
    "json": "application/json",
    "text": "text/plain",
    "events": "text/event-stream",
    "xml": "application/opensearchdescription+xml",
    "html": "text/html",
    "copy": "text/html",
}


def openapi_of(routes: Sequence[Route]) -> JSONResponse:
    """Return the document as a response."""
    return JSONResponse(document(routes))


def document(routes: Sequence[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gossamer",
            "version": __version__,
            "description": "Search and read collections, and control crawls. Reading is open on "
            "loopback; every change needs the token.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Fault": {
                    "type": "object",
                    "required": ["schema", "error"],
                    "properties": {
                        "schema": {"const": 1},
                        "error": {"type": "string"},
                        "at": {"type": "integer", "description": "Character of a query."},
                    },
                }
            },
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.does,
        "parameters": [_parameter(param) for param in route.params if param.place != "body"],
        "responses": {
            str(route.status): {"description": "Done.", "content": _content(route)},
            **{str(status): _fault(says) for status, says in _faults(route)},
        },
    }
    fields = [param for param in route.params if param.place == "body"]
    if fields:
        found["requestBody"] = _body(fields)
    if route.changes:
        found["security"] = [{"token": []}]
    return found


def _faults(route: Route) -> list[tuple[int, str]]:
    found = [(400, "The request is invalid.")]
    if not route.is_open:
        found.append((401, "The token is missing or wrong."))
    if route.changes:
        found.append((403, "The request came from a page of another site."))
    found += [(404, "Not found."), (409, "Not possible in the current state.")]
    return [*found, (413, "Body too large."), (414, "URL too long."), (429, "Too many requests.")]


def _fault(says: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Fault"}
    return {
        "description": says,
        "content": {"application/json": {"schema": schema}, "text/plain": {}},
    }


def _content(route: Route) -> dict[str, Any]:
    if route.gives == "feed":
        is_json = route.path.endswith(".json")
        media, kind = (JSON_TYPE, "object") if is_json else (ATOM_TYPE, "string")
        return {media: {"schema": {"type": kind}}}
    if route.gives != "json":
        return {_MEDIA[route.gives]: {"schema": {"type": "string"}}}
    schema = {
        "type": "object",
        "required": list(route.keys),
        "properties": {key: KEY_SCHEMAS.get(key, {}) for key in route.keys},
    }
    return {_MEDIA["json"]: {"schema": schema}}


def _parameter(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "in": param.place,
        "required": param.is_needed,
        "description": param.help,
        "schema": _schema(param, in_body=False),
    }


def _body(fields: Sequence[Param]) -> dict[str, Any]:
    needed = [param.name for param in fields if param.is_needed]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {param.name: _schema(param, in_body=True) for param in fields},
        "additionalProperties": False,
    }
    if needed:
        schema["required"] = needed
    return {"required": bool(needed), "content": {"application/json": {"schema": schema}}}


def _schema(param: Param, *, in_body: bool) -> dict[str, Any]:
    match param.kind:
        case "text":
            found: dict[str, Any] = {"type": "string", "maxLength": param.longest}
            if param.choices:
                found["enum"] = list(param.choices)
            if param.is_needed:
                found["minLength"] = 1
        case "texts":
            least = int(param.is_needed)
            item = {"type": "string", "maxLength": param.longest, "minLength": least}
            listed = {"type": "array", "items": item, "maxItems": 100, "minItems": least}
            found = listed if in_body else item
        case "whole" | "number":
            kind = "integer" if param.kind == "whole" else "number"
            found = {"type": kind, "minimum": param.least, "maximum": param.most}
        case "flag":
            found = {"type": "boolean"}
    if param.default not in (None, ""):
        found["default"] = param.default
    return found
