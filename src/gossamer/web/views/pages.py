"""The HTML pages: one function per row of `routes.py`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from gossamer.base.answer_class import LABELS
from gossamer.errors import (
    CorruptFile,
    GossamerError,
    NoCollection,
    NotKnown,
    QueryError,
    StoreError,
    UsageError,
)
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import NoLinks
from gossamer.search.searchers import NoAnswer
from gossamer.transfer.export_choice import OUTCOMES, Choice
from gossamer.urls.scope import ScopeKind
from gossamer.web.check_crawl import WrongContact
from gossamer.web.crawls import OPTIONS, orders_known
from gossamer.web.parameters import Parameters
from gossamer.web.protect.login import SESSION_S
from gossamer.web.reading import (
    backlinks_object,
    captured,
    links_object,
    page_object,
    story_and_page,
)
from gossamer.web.route import ViewContext
from gossamer.web.views.curves import (
    CURVES,
    PLOT_SCRIPT,
    PLOT_STYLE,
    depths_of,
    has_plots,
    history_object,
    table_of,
)
from gossamer.web.views.explore import ORDERS
from gossamer.web.views.exports import export_file, tables
from gossamer.web.views.gone_pages import gone_among
from gossamer.web.views.graph_picture import WIDTH, draw
from gossamer.web.views.history import folded, visits_of
from gossamer.web.views.html import html
from gossamer.web.views.json_api import (
    drawn,
    give_order,
    listed_hosts,
    listed_top,
    options_of,
    searched,
    visit_options_of,
)
from gossamer.web.views.narrow_graph_picture import WIDTH as NARROW
from gossamer.web.views.narrow_graph_picture import draw_narrow
from gossamer.web.views.page_diff import diff_object
from gossamer.web.views.stored_copy import cached_response
from gossamer.web.views.timeline import SMALL, timeline_of
from gossamer.web.views.trust import order_trust, trust_shown
from gossamer.web.visit_options import policies_known

VIEWS: Final = ("text", "copy", "about", "in", "out", "versions", "diff", "headers", "story")
PER_PAGE: Final = 10
SCOPES: Final[dict[ScopeKind, str]] = {
    "host": "Host: all its pages",
    "prefix": "Directory and below",
    "site": "Site: the whole domain",
    "page": "Page: no links",
    "list": "List of domains",
    "any": "Any: all links",
}
TYPES: Final = ("html", "pdf", "image", "audio", "video", "text", "any")
# Fields in the "more" part of the form.
_MORE: Final = (
    "max_time", "max_bytes", "max_matches", "delay", "max_rate", "hours", "sitemaps", "proxy",
    "ascend", "list_only", "keep_best", "threshold", "importance", "forever", "rate",
)  # fmt: skip
_SHOWN: Final = 200  # rows per page of a table


# -- search


def search(context: ViewContext, parameters: Parameters) -> Response:
    template = "results.html" if parameters.flag("part") else "search.html"
    names: dict[str, Any] = {
        "nav": "search",
        "results": None,
        "fault": None,
        "absent": "",
        "gone": (),
    }
    names |= {
        "query": parameters.text("q"),
        "is_empty": not context.collections.names(),
        "known": _searchable(context, parameters.text("c")),
        "per_page": PER_PAGE,
        "status": 200,
    }
    names["filters"] = {
        name: parameters.text(name)
        for name in ("site", "type", "lang", "since", "changed")
        if parameters.text(name)
    }
    if parameters.flag("copies"):
        names["filters"]["copies"] = "1"
    if parameters.text("sort") == "date":
        names["filters"]["sort"] = "date"
    if parameters.text("q").strip():
        try:
            names["results"] = results = searched(context, parameters)[1]
            names["gone"] = gone_among(context, parameters.text("c"), (hit.url for hit in results))
        except QueryError as fault:
            # The user can change the filters on the same page, so this is not an error page.
            names |= {"fault": fault, "status": 200 if parameters.flag("part") else 400}
        except NoCollection:
            names["is_empty"] = True
        except (CorruptFile, NoAnswer):
            raise
        except StoreError as fault:  # no index yet, or none at all
            names["absent"] = str(fault)
    return html(context, parameters, template, types=TYPES, **names)


def _searchable(context: ViewContext, crawl: str) -> int:
    """Return the number of searchable pages; 0 if there is no collection."""
    try:
        with context.collections.reader(crawl) as reader:
            return reader.counts().indexed
    except NoCollection:
        return 0


# -- one page


def page(context: ViewContext, parameters: Parameters) -> Response:
    url, view, crawl = parameters.text("url"), parameters.text("view"), parameters.text("c")
    names: dict[str, Any] = {"nav": "search", "view": view, "views": VIEWS, "note": ""}
    names |= {"absent": "", "diff": None}
    with context.collections.reader(crawl) as reader:
        story, kept = story_and_page(reader, url, parameters.text("at"))
        if view in ("in", "out"):
            names |= _links(reader, url, view, parameters.whole("offset"))
        elif view == "versions" and kept:
            names |= _visits(reader, url)
        elif view == "diff":
            with suppress(NotKnown):
                names["diff"] = diff_object(
                    reader,
                    url,
                    parameters.text("old"),
                    parameters.text("new"),
                    with_noise=parameters.flag("noise"),
                )
    found = page_object(story, kept, context.clock.wall_us())
    if not kept and view not in ("in", "out"):
        names["view"] = "story"  # the only view of a URL without a page
    return html(context, parameters, "page.html", found=found, shown=_SHOWN, **names)


def _visits(reader: CollectionReader, url: str) -> dict[str, Any]:
    visits = visits_of(reader, url)
    changes_seen = sum(visit["kind"] not in {"first", *SMALL} for visit in visits)
    return {
        "visits": visits,
        "rows": folded(visits),
        "timeline": timeline_of(visits),
        "changes_seen": changes_seen,
    }


def _links(reader: CollectionReader, url: str, view: str, offset: int) -> dict[str, Any]:
    """Return the links to or from a page; nothing if it is unknown."""
    try:
        if view == "in":
            return {"links": backlinks_object(reader, url, "page", _SHOWN, offset)}
        return {"links": links_object(reader, url, _SHOWN, offset)}
    except NotKnown:
        return {"links": None}
    except NoLinks as fault:
        return {"links": None, "absent": str(fault)}


def cached(context: ViewContext, parameters: Parameters) -> Response:
    with context.collections.reader(parameters.text("c")) as reader:
        kept = captured(reader, parameters.text("url"), parameters.text("at"))
    is_open = context.credentials.is_open_to_readers
    key = (
        context.credentials.sessions.key_of(parameters.session)
        if parameters.session and not is_open
        else ""
    )
    return cached_response(kept, parameters.text("c"), key or parameters.text("key"))


def hosts(context: ViewContext, parameters: Parameters) -> Response:
    found = listed_hosts(context, parameters)
    return html(context, parameters, "hosts.html", nav="hosts", found=found)


# -- exploring


def top(context: ViewContext, parameters: Parameters) -> Response:
    found = listed_top(context, parameters)
    return html(context, parameters, "top.html", nav="top", found=found, orders=ORDERS)


def graph(context: ViewContext, parameters: Parameters) -> Response:
    ego = drawn(context, parameters)
    title = "" if ego.centre else "all"
    return html(
        context, parameters, "graph.html", nav="graph", ego=ego, title=title,
        pictures=(draw(ego), draw_narrow(ego)),
        is_page="://" in ego.centre, widths=(WIDTH, NARROW),
    )  # fmt: skip


def exports(context: ViewContext, parameters: Parameters) -> Response:
    context.collections.existing(parameters.text("c"))
    return html(
        context, parameters, "exports.html", nav="exports", tables=tables(), outcomes=OUTCOMES
    )


def export(context: ViewContext, parameters: Parameters) -> Response:
    what, level, ending = parameters.text("what"), parameters.text("level"), parameters.text("as")
    choice = Choice.of(*([parameters.text(name)] for name in ("outcome", "status", "columns")))
    return export_file(context.collections, parameters.text("c"), what, level, ending, choice)


# -- crawls


def crawls(context: ViewContext, parameters: Parameters) -> Response:
    return _crawls_page(context, parameters)


def _crawls_page(
    context: ViewContext, parameters: Parameters, fault: GossamerError | None = None
) -> Response:
    given = {name: parameters.values.get(name) for name in ("seeds", "name", *OPTIONS)}
    return html(
        context, parameters, "crawls.html", nav="crawls", lines=context.crawls.list(),
        scopes=SCOPES, types=TYPES, fault=fault, status=400 if fault else 200, given=given,
        orders=orders_known(), contact=context.crawls.contact(),
        is_contact_wrong=isinstance(fault, WrongContact),
        more_given=any(given[name] for name in _MORE), policies=policies_known(),
    )  # fmt: skip


def start_crawl(context: ViewContext, parameters: Parameters) -> Response:
    if parameters.fault is not None:
        return _crawls_page(context, parameters, parameters.fault)
    try:
        name = context.crawls.start(
            parameters.text("name"), parameters.texts("seeds"), options_of(parameters)
        )
    except UsageError as fault:
        return _crawls_page(context, parameters, fault)
    return RedirectResponse(f"/crawls/{name}", 303)


def crawl(context: ViewContext, parameters: Parameters) -> Response:
    name = parameters.text("name")
    status = context.crawls.status(name)
    if status["state"] == "none":
        raise NotKnown(f"there is no crawl {name!r}")
    series = history_object(context.collections.paths(name), name)["series"]
    return html(
        context, parameters, "crawl.html", nav="crawls", now=status, status=200,
        told=context.crawls.told(name), seeds=context.crawls.seeds(name, 20),
        bans=_bans_or_none(context, name), trust=trust_shown(context, name), classes=LABELS,
        samples=table_of(series), plots=(PLOT_SCRIPT, PLOT_STYLE) if has_plots() else None,
        curves=CURVES, depths=depths_of(status["by_depth"]), policies=policies_known(),
    )  # fmt: skip


def _bans_or_none(context: ViewContext, name: str) -> tuple[str, ...]:
    """Return the bans of a crawl; none if it cannot be read, as its status says."""
    try:
        return context.crawls.bans(name)
    except StoreError:
        return ()


def order_crawl(context: ViewContext, parameters: Parameters) -> Response:
    name, order = parameters.text("name"), parameters.text("order")
    if order == "clear":
        context.crawls.clear(name, parameters.text("confirm").strip())
        return RedirectResponse("/crawls", 303)
    if order == "ban":
        context.crawls.ban(name, parameters.texts("added"), parameters.texts("lifted"))
        return RedirectResponse(f"/crawls/{name}#bans", 303)
    if order == "trust":
        return order_trust(context, parameters)
    if order == "again":
        visits = visit_options_of(parameters)
        if not visits:
            raise UsageError("choose whether the pages are visited once more or again and again")
        give_order(context, name, "start", visits)
        return RedirectResponse(f"/crawls/{name}", 303)
    if order == "resume" and context.crawls.status(name)["state"] in ("stored", "failed"):
        order = "start"  # one button resumes a paused or stored crawl
    give_order(context, name, order)
    return RedirectResponse(f"/crawls/{name}", 303)


# -- coming and going


def login(context: ViewContext, parameters: Parameters) -> Response:
    if parameters.text("ticket"):
        # Not counted: 128 bits cannot be guessed, but any page can link to this URL.
        if context.credentials.take_ticket(parameters.text("ticket")):
            return _welcome(context, "/")
        return _login_page(
            context, parameters, "This link works only once. Enter the token instead."
        )
    return _login_page(context, parameters)


def try_login(context: ViewContext, parameters: Parameters) -> Response:
    """Log in by token or password. The right token is accepted even after many wrong tries."""
    credentials, now_s, word = context.credentials, context.clock.now_s(), parameters.text("word")
    if not credentials.is_token(word):
        begin = (
            credentials.throttle.begin_try
            if credentials.password
            else credentials.throttle.note_failure
        )
        if not begin(parameters.client, now_s):
            return _login_page(context, parameters, _TOO_MANY, 429)
        if not credentials.is_password(word):
            return _login_page(context, parameters, _wrong_word(context), 401)
        credentials.throttle.succeed(parameters.client)
    return _welcome(context, inner(parameters.text("next")))


_TOO_MANY: Final = "Too many wrong tries. Wait five minutes, or use the server's token."


def _wrong_word(context: ViewContext) -> str:
    wanted = "token or password" if context.credentials.password else "token"
    return f"Wrong {wanted}. `gossamer serve` prints the token, or it is in its --token-file."


def inner(path: str) -> str:
    """Return a path within the server; `/` for any other, which may lead to another site."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_ours and path.isprintable() and "\\" not in path else "/"


def _login_page(
    context: ViewContext, parameters: Parameters, fault: str = "", status: int = 200
) -> Response:
    next_ = inner(parameters.text("next"))
    has_password = bool(context.credentials.password)
    names = {"nav": "", "fault": fault, "next": next_, "has_password": has_password}
    markup = context.renderer.page(
        "login.html", parameters=parameters, crawl="", crawls=[], **names
    )
    return Response(markup, status, media_type="text/html")


def _welcome(context: ViewContext, next_: str) -> Response:
    response = RedirectResponse(next_, 303)
    response.set_cookie(
        context.credentials.cookie,
        context.credentials.sessions.begin(context.clock.now_s()),
        max_age=int(SESSION_S),
        httponly=True,
        samesite="strict",
        secure=context.hub is not None,  # a hub is always behind TLS
    )
    return response


def logout(context: ViewContext, parameters: Parameters) -> Response:
    context.credentials.sessions.end(parameters.session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(context.credentials.cookie)
    return response
