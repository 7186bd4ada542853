"""The JSON API: one function per row of `routes.py`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from xml.sax.saxutils import escape

from starlette.responses import JSONResponse, PlainTextResponse, Response

from gossamer.errors import NoCollection, StoreError, UsageError
from gossamer.graph.ego import Ego
from gossamer.node.snapshot import disk_figures, trap_figures
from gossamer.search.results import Request, Results, sort_of
from gossamer.version import __version__
from gossamer.web.crawls import OPTIONS, judge_scope
from gossamer.web.parameters import Parameters
from gossamer.web.protect.live_view_limit import LiveView
from gossamer.web.reading import (
    backlinks_object,
    busiest_hosts,
    hosts_object,
    links_object,
    page_object,
    story_and_page,
)
from gossamer.web.route import NotAllowed, ViewContext
from gossamer.web.views.curves import history_object
from gossamer.web.views.events import Watched, feed
from gossamer.web.views.explore import graph_object, neighbours, top_object
from gossamer.web.views.exports import exports_object
from gossamer.web.views.metrics import metrics_text
from gossamer.web.views.page_diff import diff_object
from gossamer.web.visit_options import VISITS

_HOSTS_WATCHED = 50
_FRESH_S = 0.8  # shorter than a round of a feed, so that each round has new figures


def request_of(parameters: Parameters) -> Request:
    """Return the search request. Raises UsageError."""
    return Request(
        query=parameters.text("q"),
        limit=parameters.whole("limit"),
        offset=parameters.whole("offset"),
        site=parameters.text("site").strip(),
        type=parameters.text("type").strip(),
        lang=parameters.text("lang").strip(),
        since=parameters.text("since").strip(),
        changed=parameters.text("changed").strip(),
        sort=sort_of(parameters.text("sort") or "relevance"),
        per_site=parameters.whole("per_site"),
        explain=parameters.flag("explain"),
        all_copies=parameters.flag("copies"),
    )


def searched(context: ViewContext, parameters: Parameters) -> tuple[Request, Results]:
    """Run a search. Raises QueryError, NoCollection, StoreError."""
    request = request_of(parameters)
    return request, context.collections.search(parameters.text("c"), request)


async def search(context: ViewContext, parameters: Parameters) -> Response:
    found = await context.collections.search_as_json(parameters.text("c"), request_of(parameters))
    return Response(found, media_type="application/json")


def page(context: ViewContext, parameters: Parameters) -> Response:
    with context.collections.reader(parameters.text("c")) as reader:
        story, kept = story_and_page(reader, parameters.text("url"), parameters.text("at"))
    return JSONResponse(page_object(story, kept, context.clock.wall_us()))


def backlinks(context: ViewContext, parameters: Parameters) -> Response:
    with context.collections.reader(parameters.text("c")) as reader:
        found = backlinks_object(
            reader,
            parameters.text("url"),
            parameters.text("by"),
            parameters.whole("limit"),
            parameters.whole("offset"),
        )
    return JSONResponse(found)


def links(context: ViewContext, parameters: Parameters) -> Response:
    with context.collections.reader(parameters.text("c")) as reader:
        found = links_object(
            reader, parameters.text("url"), parameters.whole("limit"), parameters.whole("offset")
        )
    return JSONResponse(found)


def diff(context: ViewContext, parameters: Parameters) -> Response:
    with context.collections.reader(parameters.text("c")) as reader:
        found = diff_object(
            reader,
            parameters.text("url"),
            parameters.text("old"),
            parameters.text("new"),
            with_noise=parameters.flag("noise"),
        )
    return JSONResponse(found)


def listed_top(context: ViewContext, parameters: Parameters) -> dict[str, Any]:
    """Return the requested top pages or sites. Raises NoCollection, TooBusy."""
    by, level = parameters.text("by"), parameters.text("level")
    return top_object(
        context.collections, parameters.text("c"), by, level, parameters.whole("limit")
    )


def top(context: ViewContext, parameters: Parameters) -> Response:
    return JSONResponse(listed_top(context, parameters))


def drawn(context: ViewContext, parameters: Parameters) -> Ego:
    """Return the requested node and its neighbours. Raises NotKnown, TooBusy."""
    of, level = parameters.text("of").strip(), parameters.text("level")
    return neighbours(
        context.collections, parameters.text("c"), of, level, parameters.whole("limit")
    )


def graph(context: ViewContext, parameters: Parameters) -> Response:
    return JSONResponse(graph_object(drawn(context, parameters)))


def exports(_context: ViewContext, _parameters: Parameters) -> Response:
    return JSONResponse(exports_object())


def listed_hosts(context: ViewContext, parameters: Parameters) -> dict[str, Any]:
    """Return the requested hosts or sites. Raises NoCollection."""
    with context.collections.reader(parameters.text("c")) as reader:
        return hosts_object(
            reader,
            parameters.text("by"),
            parameters.text("sort"),
            parameters.whole("limit"),
            parameters.whole("offset"),
            context.clock.wall_us(),
        )


def hosts(context: ViewContext, parameters: Parameters) -> Response:
    return JSONResponse(listed_hosts(context, parameters))


def status(context: ViewContext, parameters: Parameters) -> Response:
    found = context.crawls.status(parameters.text("c"))
    with suppress(NoCollection, StoreError):  # the status says which
        paths = context.collections.paths(found["crawl"])
        found["disk"], found["traps"] = disk_figures(paths), trap_figures(paths)
    return JSONResponse(found)


def history(context: ViewContext, parameters: Parameters) -> Response:
    name = parameters.text("c") or context.collections.first
    return JSONResponse(history_object(context.collections.paths(name), name))


def events(context: ViewContext, parameters: Parameters) -> Response:
    name = parameters.text("c") or context.collections.first
    paths = context.collections.paths(name)
    watchers = context.tally.watchers
    too_many = watchers.enter(parameters.client)
    if too_many:
        raise NotAllowed(too_many, 429)

    def hosts_now() -> list[dict[str, Any]]:
        if not paths.exists:
            return []
        with context.collections.reader(name) as reader:
            return busiest_hosts(reader, _HOSTS_WATCHED, context.clock.wall_us())

    def status_lately() -> dict[str, Any]:
        now_s = context.clock.now_s()
        return context.lately.get(
            ("status", name), now_s, _FRESH_S, lambda: context.crawls.status(name)
        )

    def hosts_lately() -> list[dict[str, Any]]:
        return context.lately.get(("hosts", name), context.clock.now_s(), _FRESH_S, hosts_now)

    def may_read() -> bool:
        """A client with a session may read only as long as it lasts."""
        return not parameters.session or context.credentials.sessions.is_on(
            parameters.session, context.clock.now_s()
        )

    watch = Watched(paths.log, status_lately, hosts_lately, may_read)
    return LiveView(
        feed(watch, parameters.last_event_id, context.clock), watchers, parameters.client
    )


def crawls(context: ViewContext, _parameters: Parameters) -> Response:
    return JSONResponse(
        {"schema": 1, "first": context.collections.first, "crawls": context.crawls.list()}
    )


def options_of(parameters: Parameters) -> dict[str, object]:
    """Return the options of a new crawl; empty ones keep their default."""
    given = {name: parameters.values.get(name) for name in OPTIONS}
    return {name: value for name, value in given.items() if value not in (None, "", ())}


def start_crawl(context: ViewContext, parameters: Parameters) -> Response:
    name = context.crawls.start(
        parameters.text("name"), parameters.texts("seeds"), options_of(parameters)
    )
    status = context.crawls.status(name)
    return JSONResponse({**status, "told": list(context.crawls.told(name))}, 202)


def order_crawl(context: ViewContext, parameters: Parameters) -> Response:
    give_order(
        context, parameters.text("name"), parameters.text("order"), visit_options_of(parameters)
    )
    return JSONResponse(context.crawls.status(parameters.text("name")), 202)


def visit_options_of(parameters: Parameters) -> dict[str, object]:
    """Return the options about visits that were given."""
    return {name: value for name in VISITS if (value := parameters.values.get(name))}


def give_order(
    context: ViewContext, name: str, order: str, visits: Mapping[str, object] | None = None
) -> None:
    """Resume a stored crawl, or send an order to a running one. Raises NotRunning, UsageError."""
    if order == "start":
        context.crawls.go_on(name, visits)
    elif visits:
        raise UsageError(f"{next(iter(visits))} is only for the order start")
    else:
        context.crawls.order(name, order)


def bans(context: ViewContext, parameters: Parameters) -> Response:
    name = parameters.text("name")
    lines = context.crawls.bans(name)
    return JSONResponse({"schema": 1, "crawl": name, "bans": list(lines)})


def change_bans(context: ViewContext, parameters: Parameters) -> Response:
    name = parameters.text("name")
    lines = context.crawls.ban(name, parameters.texts("added"), parameters.texts("lifted"))
    return JSONResponse({"schema": 1, "crawl": name, "bans": list(lines)})


def clear_crawl(context: ViewContext, parameters: Parameters) -> Response:
    context.crawls.clear(parameters.text("name"), parameters.text("confirm"))
    return JSONResponse({"schema": 1, "crawl": parameters.text("name"), "state": "none"})


def scope(_context: ViewContext, parameters: Parameters) -> Response:
    patterns = (*parameters.texts("include"), *parameters.texts("exclude"))
    if not parameters.is_owner and any(pattern.startswith("re:") for pattern in patterns):
        # A regular expression can run forever and block all other requests.
        raise NotAllowed("regular expressions need a login; log in first", 401)
    answers = judge_scope(
        parameters.texts("seeds"), options_of(parameters), parameters.texts("url")
    )
    return JSONResponse({"schema": 1, "urls": [asdict(answer) for answer in answers]})


def health(_context: ViewContext, _parameters: Parameters) -> Response:
    return JSONResponse({"schema": 1, "status": "ok", "version": __version__})


def metrics(context: ViewContext, _parameters: Parameters) -> Response:
    return PlainTextResponse(
        metrics_text(context.tally, context.crawls.list()),
        media_type="text/plain; version=0.0.4; charset=utf-8",
    )


_OPENSEARCH = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Gossamer</ShortName>
  <Description>Search the pages that were crawled.</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Url type="text/html" template="{origin}/?q={{searchTerms}}"/>
  <Url type="application/json" template="{origin}/api/search?q={{searchTerms}}"/>
  <Url type="application/opensearchdescription+xml" rel="self" template="{origin}/opensearch.xml"/>
</OpenSearchDescription>
"""


def opensearch(_context: ViewContext, parameters: Parameters) -> Response:
    text = _OPENSEARCH.format(origin=escape(parameters.origin, {'"': "&quot;"}))
    return Response(text, media_type="application/opensearchdescription+xml")
