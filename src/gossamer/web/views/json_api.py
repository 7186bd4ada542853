"""The JSON API: one function per row of `routes.py`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from xml.sax.saxutils import escape

from starlette.responses import JSONResponse, PlainTextResponse, Response

from gossamer.graph.ego import Ego
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
from gossamer.web.views.explore import diff_object, graph_object, neighbours, top_object
from gossamer.web.views.exports import exports_object
from gossamer.web.views.metrics import metrics_text

_HOSTS_WATCHED = 50
_FRESH_S = 0.8  # shorter than a round of a feed, so that each round has new figures


def request_of(asked: Parameters) -> Request:
    """Return the search request. Raises UsageError."""
    return Request(
        query=asked.text("q"),
        limit=asked.whole("limit"),
        offset=asked.whole("offset"),
        site=asked.text("site").strip(),
        type=asked.text("type").strip(),
        lang=asked.text("lang").strip(),
        since=asked.text("since").strip(),
        sort=sort_of(asked.text("sort") or "relevance"),
        per_site=asked.whole("per_site"),
        explain=asked.flag("explain"),
    )


def searched(desk: ViewContext, asked: Parameters) -> tuple[Request, Results]:
    """Run a search. Raises QueryError, NoCollection, StoreError."""
    request = request_of(asked)
    return request, desk.collections.search(asked.text("c"), request)


async def search(desk: ViewContext, asked: Parameters) -> Response:
    found = await desk.collections.search_as_json(asked.text("c"), request_of(asked))
    return Response(found, media_type="application/json")


def page(desk: ViewContext, asked: Parameters) -> Response:
    with desk.collections.reader(asked.text("c")) as reader:
        story, kept = story_and_page(reader, asked.text("url"), asked.text("at"))
    return JSONResponse(page_object(story, kept, desk.clock.wall_us()))


def backlinks(desk: ViewContext, asked: Parameters) -> Response:
    with desk.collections.reader(asked.text("c")) as reader:
        found = backlinks_object(
            reader, asked.text("url"), asked.text("by"), asked.whole("limit"), asked.whole("offset")
        )
    return JSONResponse(found)


def links(desk: ViewContext, asked: Parameters) -> Response:
    with desk.collections.reader(asked.text("c")) as reader:
        found = links_object(reader, asked.text("url"), asked.whole("limit"), asked.whole("offset"))
    return JSONResponse(found)


def diff(desk: ViewContext, asked: Parameters) -> Response:
    with desk.collections.reader(asked.text("c")) as reader:
        found = diff_object(reader, asked.text("url"), asked.text("old"), asked.text("new"))
    return JSONResponse(found)


def listed_top(desk: ViewContext, asked: Parameters) -> dict[str, Any]:
    """Return the requested top pages or sites. Raises NoCollection, TooBusy."""
    by, level = asked.text("by"), asked.text("level")
    return top_object(desk.collections, asked.text("c"), by, level, asked.whole("limit"))


def top(desk: ViewContext, asked: Parameters) -> Response:
    return JSONResponse(listed_top(desk, asked))


def drawn(desk: ViewContext, asked: Parameters) -> Ego:
    """Return the requested node and its neighbours. Raises NotKnown, TooBusy."""
    of, level = asked.text("of").strip(), asked.text("level")
    return neighbours(desk.collections, asked.text("c"), of, level, asked.whole("limit"))


def graph(desk: ViewContext, asked: Parameters) -> Response:
    return JSONResponse(graph_object(drawn(desk, asked)))


def exports(_desk: ViewContext, _asked: Parameters) -> Response:
    return JSONResponse(exports_object())


def listed_hosts(desk: ViewContext, asked: Parameters) -> dict[str, Any]:
    """Return the requested hosts or sites. Raises NoCollection."""
    with desk.collections.reader(asked.text("c")) as reader:
        return hosts_object(
            reader,
            asked.text("by"),
            asked.text("sort"),
            asked.whole("limit"),
            asked.whole("offset"),
            desk.clock.wall_us(),
        )


def hosts(desk: ViewContext, asked: Parameters) -> Response:
    return JSONResponse(listed_hosts(desk, asked))


def status(desk: ViewContext, asked: Parameters) -> Response:
    return JSONResponse(desk.crawls.status(asked.text("c")))


def history(desk: ViewContext, asked: Parameters) -> Response:
    name = asked.text("c") or desk.collections.first
    return JSONResponse(history_object(desk.collections.paths(name), name))


def events(desk: ViewContext, asked: Parameters) -> Response:
    name = asked.text("c") or desk.collections.first
    paths = desk.collections.paths(name)
    watchers = desk.tally.watchers
    too_many = watchers.enter(asked.client)
    if too_many:
        raise NotAllowed(too_many, 429)

    def hosts_now() -> list[dict[str, Any]]:
        if not paths.exists:
            return []
        with desk.collections.reader(name) as reader:
            return busiest_hosts(reader, _HOSTS_WATCHED, desk.clock.wall_us())

    def status_lately() -> dict[str, Any]:
        now_s = desk.clock.now_s()
        return desk.lately.get(("status", name), now_s, _FRESH_S, lambda: desk.crawls.status(name))

    def hosts_lately() -> list[dict[str, Any]]:
        return desk.lately.get(("hosts", name), desk.clock.now_s(), _FRESH_S, hosts_now)

    def may_read() -> bool:
        """A client with a session may read only as long as it lasts."""
        return not asked.session or desk.doors.sessions.is_on(asked.session, desk.clock.now_s())

    watch = Watched(paths.log, status_lately, hosts_lately, may_read)
    return LiveView(feed(watch, asked.last_event_id, desk.clock), watchers, asked.client)


def crawls(desk: ViewContext, _asked: Parameters) -> Response:
    return JSONResponse(
        {"schema": 1, "first": desk.collections.first, "crawls": desk.crawls.list()}
    )


def options_of(asked: Parameters) -> dict[str, object]:
    """Return the options of a new crawl; empty ones keep their default."""
    given = {name: asked.values.get(name) for name in OPTIONS}
    return {name: value for name, value in given.items() if value not in (None, "", ())}


def start_crawl(desk: ViewContext, asked: Parameters) -> Response:
    name = desk.crawls.start(asked.text("name"), asked.texts("seeds"), options_of(asked))
    status = desk.crawls.status(name)
    return JSONResponse({**status, "told": list(desk.crawls.told(name))}, 202)


def order_crawl(desk: ViewContext, asked: Parameters) -> Response:
    give_order(desk, asked.text("name"), asked.text("order"))
    return JSONResponse(desk.crawls.status(asked.text("name")), 202)


def give_order(desk: ViewContext, name: str, order: str) -> None:
    """Resume a stored crawl, or send an order to a running one. Raises NotRunning."""
    if order == "start":
        desk.crawls.go_on(name)
    else:
        desk.crawls.order(name, order)


def bans(desk: ViewContext, asked: Parameters) -> Response:
    name = asked.text("name")
    lines = desk.crawls.bans(name)
    return JSONResponse({"schema": 1, "crawl": name, "bans": list(lines)})


def change_bans(desk: ViewContext, asked: Parameters) -> Response:
    name = asked.text("name")
    lines = desk.crawls.ban(name, asked.texts("added"), asked.texts("lifted"))
    return JSONResponse({"schema": 1, "crawl": name, "bans": list(lines)})


def clear_crawl(desk: ViewContext, asked: Parameters) -> Response:
    desk.crawls.clear(asked.text("name"), asked.text("confirm"))
    return JSONResponse({"schema": 1, "crawl": asked.text("name"), "state": "none"})


def scope(_desk: ViewContext, asked: Parameters) -> Response:
    patterns = (*asked.texts("include"), *asked.texts("exclude"))
    if not asked.is_owner and any(pattern.startswith("re:") for pattern in patterns):
        # A regular expression can run forever and block all other requests.
        raise NotAllowed("regular expressions need a login; log in first", 401)
    answers = judge_scope(asked.texts("seeds"), options_of(asked), asked.texts("url"))
    return JSONResponse({"schema": 1, "urls": [asdict(answer) for answer in answers]})


def health(_desk: ViewContext, _asked: Parameters) -> Response:
    return JSONResponse({"schema": 1, "status": "ok", "version": __version__})


def metrics(desk: ViewContext, _asked: Parameters) -> Response:
    return PlainTextResponse(
        metrics_text(desk.tally, desk.crawls.list()),
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


def opensearch(_desk: ViewContext, asked: Parameters) -> Response:
    text = _OPENSEARCH.format(origin=escape(asked.origin, {'"': "&quot;"}))
    return Response(text, media_type="application/opensearchdescription+xml")
