"""Handle a request: authentication, parameters, the view, and errors.

The same code serves every route, so that no route can skip the authentication.
"""

from __future__ import annotations

import hmac
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, cast
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from gossamer.errors import (
    CollectionInUse,
    CorruptFile,
    DiskFault,
    GossamerError,
    NoCollection,
    NotKnown,
    StoreError,
    UsageError,
)
from gossamer.node.control import NotRunning
from gossamer.search.searchers import NoAnswer
from gossamer.web.parameters import Parameters, check_names, read_as_typed, read_body, read_values
from gossamer.web.protect.guard import TooLarge, TooSlow, too_large, too_slow
from gossamer.web.route import NotAllowed, Route, ViewAnswer, ViewContext
from gossamer.web.slow_answers import TooBusy
from gossamer.web.views.stored_copy import no_copy

# The first match counts.
_STATUS: Final[tuple[tuple[type[GossamerError], int], ...]] = (
    (UsageError, 400),
    (TooBusy, 429),
    (NotKnown, 404),
    (NoCollection, 404),
    (NotRunning, 409),
    (CollectionInUse, 409),
    (CorruptFile, 500),
    (DiskFault, 507),
    (NoAnswer, 503),
    (StoreError, 409),  # no index, or another release's format
)


def endpoint(route: Route, context: ViewContext) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler that Starlette calls for a route."""
    answer = _awaitable(route.answer)

    async def respond(request: Request) -> Response:
        began_s = context.clock.now_s()
        try:
            body = read_body(request.headers.get("content-type", ""), await request.body())
            parameters = _read_parameters(route, context, request, body)
            response = await answer(context, parameters)
        except TooLarge:
            response = too_large()
        except TooSlow:
            response = too_slow()
        except GossamerError as fault:
            response = await run_in_threadpool(fault_response, route, context, request, fault)
        context.tally.answers[route.name, response.status_code] += 1
        context.tally.seconds[route.name] += context.clock.now_s() - began_s  # type: ignore[assignment]  # a sum of floats
        return response

    return respond


def _awaitable(answer: ViewAnswer) -> Callable[[ViewContext, Parameters], Awaitable[Response]]:
    """Run a blocking view in a thread, and a coroutine directly."""
    if inspect.iscoroutinefunction(answer):
        return answer
    blocking = cast("Callable[[ViewContext, Parameters], Response]", answer)

    async def in_thread(context: ViewContext, parameters: Parameters) -> Response:
        return await run_in_threadpool(blocking, context, parameters)

    return in_thread


def _read_parameters(
    route: Route, context: ViewContext, request: Request, body: dict[str, object]
) -> Parameters:
    """Return the parameters of an authenticated request. Raises NotAllowed, UsageError."""
    session = _session(context, request)
    scope = _token_scope(context, request)
    has_token = scope == "manage"
    if route.method != "GET":
        _check_origin(request)
    if not route.is_open:
        is_for_all = (
            context.credentials.is_open_to_readers and not route.changes and not route.is_costly
        )
        is_known = bool(session) or bool(scope) or _has_key(route, context, request)
        if not is_known and not is_for_all:
            raise NotAllowed("not logged in; log in, or send the token", 401)
        if route.changes and scope == "read":
            raise NotAllowed("this token may only read", 403)
        if route.changes and not has_token:
            _check_csrf(context, session, request, body)
    given: dict[str, Any] = {**request.query_params, **body, **request.path_params}
    values, fault = _values(route, body, given)
    return Parameters(
        values=values,
        origin=_origin(request),
        csrf=context.credentials.sessions.csrf_of(session) if session else "",
        is_owner=bool(session or has_token),
        last_event_id=request.headers.get("last-event-id", ""),
        if_none_match=request.headers.get("if-none-match", ""),
        client=_client(context, request),
        session=session,
        fault=fault,
    )


def _values(
    route: Route, body: dict[str, object], given: dict[str, Any]
) -> tuple[dict[str, Any], UsageError | None]:
    """Return the parameters, and their fault if the view reports it itself.

    Raises UsageError for all other routes.
    """
    try:
        check_names(route.params, body)
        return read_values(route.params, given), None
    except UsageError as fault:
        if not route.tells_faults:
            raise
        return read_as_typed(route.params, given), fault


def _client(context: ViewContext, request: Request) -> str:
    peer = request.client.host if request.client else ""
    return context.credentials.proxies.client(peer, request.headers.getlist("x-forwarded-for"))


def _session(context: ViewContext, request: Request) -> str:
    name = request.cookies.get(context.credentials.cookie, "")
    return name if context.credentials.sessions.is_on(name, context.clock.now_s()) else ""


def _token_scope(context: ViewContext, request: Request) -> Literal["", "read", "manage"]:
    """What the token of a request may do; empty if it has none. Raises NotAllowed."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return ""
    if scope := context.credentials.scope_of(given.strip()):  # also after many wrong tries
        return scope
    if context.credentials.throttle.note_failure(_client(context, request), context.clock.now_s()):
        raise NotAllowed("the token is wrong", 401)
    raise NotAllowed("too many wrong tokens; send the right one, or wait five minutes", 429)


def _has_key(route: Route, context: ViewContext, request: Request) -> bool:
    """Whether the request follows a link in a copy that a logged-in user has opened."""
    given = request.query_params.get("key", "")
    return (
        route.gives == "copy"
        and bool(given)
        and context.credentials.sessions.has_key(given, context.clock.now_s())
    )


def _origin(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def _check_origin(request: Request) -> None:
    """Reject changes that come from a page of another site.

    The scheme is not compared: a TLS proxy may be in front of the server.
    """
    origin = request.headers.get("origin")
    is_ours = origin is None or origin.partition("://")[2] == request.headers.get("host")
    if not is_ours or request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise NotAllowed("the request came from a page of another site", 403)


def _check_csrf(
    context: ViewContext, session: str, request: Request, body: dict[str, object]
) -> None:
    given = request.headers.get("x-csrf-token") or body.get("csrf") or ""
    wanted = context.credentials.sessions.csrf_of(session)
    word = given.encode("utf-8", "replace") if isinstance(given, str) else b""
    if not hmac.compare_digest(word, wanted.encode()):
        raise NotAllowed("the form is out of date; load the page again", 403)


def status_of(fault: GossamerError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(fault, NotAllowed):
        return fault.status
    return next((status for kind, status in _STATUS if isinstance(fault, kind)), 500)


def fault_response(
    route: Route, context: ViewContext, request: Request, fault: GossamerError
) -> Response:
    """Return the error as a page for people, or as an object for programs."""
    status = status_of(fault)
    if route.gives == "copy":
        return no_copy(str(fault), status)
    if route.gives != "html":
        found: dict[str, Any] = {"schema": 1, "error": str(fault)}
        return JSONResponse(found, status, _challenge(status))
    if status == 401 and route.method == "GET":
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(wanted, safe='')}", 303)
    return _fault_page(context, request, status, str(fault), _challenge(status))


def stray_response(context: ViewContext, request: Request, fault: Exception) -> Response:
    """Return the response to an unknown page, a wrong method, or an internal error."""
    status = fault.status_code if isinstance(fault, HTTPException) else 500
    headers = dict(fault.headers or {}) if isinstance(fault, HTTPException) else {}
    sentence = _STRAYED.get(status, "The request failed.")
    if request.url.path.startswith("/api/"):
        return JSONResponse({"schema": 1, "error": sentence}, status, headers)
    return _fault_page(context, request, status, sentence, headers)


def _fault_page(
    context: ViewContext, request: Request, status: int, sentence: str, headers: dict[str, str]
) -> Response:
    """Return an error page; like all pages it shows whether the user is logged in."""
    session = _session(context, request)
    csrf = context.credentials.sessions.csrf_of(session) if session else ""
    parameters = Parameters({}, csrf=csrf, is_owner=bool(session), session=session)
    names = {"parameters": parameters, "status": status, "sentence": sentence, "nav": ""}
    markup = context.renderer.page("fault.html", crawl="", crawls=[], **names)
    return Response(markup, status, headers, "text/html")


_STRAYED: Final = {
    404: "this page does not exist",
    405: "this URL does not accept this HTTP method",
    500: "the server has an internal error; its terminal shows the details",
}


def _challenge(status: int) -> dict[str, str]:
    return {"www-authenticate": "Bearer"} if status == 401 else {}
