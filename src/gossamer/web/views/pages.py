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
from gossamer.web.views.explore import ORDERS, diff_object
from gossamer.web.views.exports import export_file, tables
from gossamer.web.views.gone_pages import gone_among
from gossamer.web.views.graph_picture import WIDTH, draw
from gossamer.web.views.json_api import (
    drawn,
    give_order,
    listed_hosts,
    listed_top,
    options_of,
    searched,
)
from gossamer.web.views.narrow_graph_picture import WIDTH as NARROW
from gossamer.web.views.narrow_graph_picture import draw_narrow
from gossamer.web.views.stored_copy import cached_response

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
    "ascend",
)  # fmt: skip
_SHOWN: Final = 200  # rows per page of a table


def _html(desk: ViewContext, asked: Parameters, template: str, **names: Any) -> Response:
    crawl = asked.text("c") or desk.collections.first
    markup = desk.renderer.page(
        template,
        asked=asked,
        crawl=crawl if crawl != desk.collections.first else "",
        crawl_name=crawl,
        first=desk.collections.first,
        crawls=desk.collections.names(),
        **names,
    )
    return Response(markup, names.get("status", 200), media_type="text/html")


# -- search


def search(desk: ViewContext, asked: Parameters) -> Response:
    template = "results.html" if asked.flag("part") else "search.html"
    names: dict[str, Any] = {
        "nav": "search",
        "results": None,
        "fault": None,
        "absent": "",
        "gone": (),
    }
    names |= {
        "query": asked.text("q"),
        "is_empty": not desk.collections.names(),
        "known": _searchable(desk, asked.text("c")),
        "per_page": PER_PAGE,
        "status": 200,
    }
    names["filters"] = {
        name: asked.text(name) for name in ("site", "type", "lang", "since") if asked.text(name)
    }
    if asked.text("sort") == "date":
        names["filters"]["sort"] = "date"
    if asked.text("q").strip():
        try:
            names["results"] = results = searched(desk, asked)[1]
            names["gone"] = gone_among(desk, asked.text("c"), (hit.url for hit in results))
        except QueryError as fault:
            # The user can change the filters on the same page, so this is not an error page.
            names |= {"fault": fault, "status": 200 if asked.flag("part") else 400}
        except NoCollection:
            names["is_empty"] = True
        except (CorruptFile, NoAnswer):
            raise
        except StoreError as fault:  # no index yet, or none at all
            names["absent"] = str(fault)
    return _html(desk, asked, template, types=TYPES, **names)


def _searchable(desk: ViewContext, crawl: str) -> int:
    """Return the number of searchable pages; 0 if there is no collection."""
    try:
        with desk.collections.reader(crawl) as reader:
            return reader.counts().indexed
    except NoCollection:
        return 0


# -- one page


def page(desk: ViewContext, asked: Parameters) -> Response:
    url, view, crawl = asked.text("url"), asked.text("view"), asked.text("c")
    names: dict[str, Any] = {"nav": "search", "view": view, "views": VIEWS, "note": ""}
    names |= {"absent": "", "diff": None}
    with desk.collections.reader(crawl) as reader:
        story, kept = story_and_page(reader, url, asked.text("at"))
        if view in ("in", "out"):
            names |= _links(reader, url, view, asked.whole("offset"))
        elif view == "diff":
            with suppress(NotKnown):
                names["diff"] = diff_object(reader, url, asked.text("old"), asked.text("new"))
    found = page_object(story, kept, desk.clock.wall_us())
    if not kept and view not in ("in", "out"):
        names["view"] = "story"  # the only view of a URL without a page
    return _html(desk, asked, "page.html", found=found, shown=_SHOWN, **names)


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


def cached(desk: ViewContext, asked: Parameters) -> Response:
    with desk.collections.reader(asked.text("c")) as reader:
        kept = captured(reader, asked.text("url"), asked.text("at"))
    is_open = desk.doors.is_open_to_readers
    key = desk.doors.sessions.key_of(asked.session) if asked.session and not is_open else ""
    return cached_response(kept, asked.text("c"), key or asked.text("key"))


def hosts(desk: ViewContext, asked: Parameters) -> Response:
    found = listed_hosts(desk, asked)
    return _html(desk, asked, "hosts.html", nav="hosts", found=found)


# -- exploring


def top(desk: ViewContext, asked: Parameters) -> Response:
    found = listed_top(desk, asked)
    return _html(desk, asked, "top.html", nav="top", found=found, orders=ORDERS)


def graph(desk: ViewContext, asked: Parameters) -> Response:
    ego = drawn(desk, asked)
    title = "" if ego.centre else "all"
    return _html(
        desk, asked, "graph.html", nav="graph", ego=ego, title=title,
        pictures=(draw(ego), draw_narrow(ego)),
        is_page="://" in ego.centre, widths=(WIDTH, NARROW),
    )  # fmt: skip


def exports(desk: ViewContext, asked: Parameters) -> Response:
    desk.collections.existing(asked.text("c"))
    return _html(desk, asked, "exports.html", nav="exports", tables=tables(), outcomes=OUTCOMES)


def export(desk: ViewContext, asked: Parameters) -> Response:
    what, level, ending = asked.text("what"), asked.text("level"), asked.text("as")
    choice = Choice.of(*([asked.text(name)] for name in ("outcome", "status", "columns")))
    return export_file(desk.collections, asked.text("c"), what, level, ending, choice)


# -- crawls


def crawls(desk: ViewContext, asked: Parameters) -> Response:
    return _crawls_page(desk, asked)


def _crawls_page(
    desk: ViewContext, asked: Parameters, fault: GossamerError | None = None
) -> Response:
    given = {name: asked.values.get(name) for name in ("seeds", "name", *OPTIONS)}
    return _html(
        desk, asked, "crawls.html", nav="crawls", lines=desk.crawls.list(), scopes=SCOPES,
        types=TYPES, fault=fault, status=400 if fault else 200, given=given,
        orders=orders_known(), contact=desk.crawls.contact(),
        is_contact_wrong=isinstance(fault, WrongContact),
        more_given=any(given[name] for name in _MORE),
    )  # fmt: skip


def start_crawl(desk: ViewContext, asked: Parameters) -> Response:
    if asked.fault is not None:
        return _crawls_page(desk, asked, asked.fault)
    try:
        name = desk.crawls.start(asked.text("name"), asked.texts("seeds"), options_of(asked))
    except UsageError as fault:
        return _crawls_page(desk, asked, fault)
    return RedirectResponse(f"/crawls/{name}", 303)


def crawl(desk: ViewContext, asked: Parameters) -> Response:
    name = asked.text("name")
    status = desk.crawls.status(name)
    if status["state"] == "none":
        raise NotKnown(f"there is no crawl {name!r}")
    series = history_object(desk.collections.paths(name), name)["series"]
    return _html(
        desk, asked, "crawl.html", nav="crawls", now=status, status=200,
        told=desk.crawls.told(name), seeds=desk.crawls.seeds(name, 20),
        bans=_bans_or_none(desk, name), classes=LABELS,
        samples=table_of(series), plots=(PLOT_SCRIPT, PLOT_STYLE) if has_plots() else None,
        curves=CURVES, depths=depths_of(status["by_depth"]),
    )  # fmt: skip


def _bans_or_none(desk: ViewContext, name: str) -> tuple[str, ...]:
    """Return the bans of a crawl; none if it cannot be read, as its status says."""
    try:
        return desk.crawls.bans(name)
    except StoreError:
        return ()


def order_crawl(desk: ViewContext, asked: Parameters) -> Response:
    name, order = asked.text("name"), asked.text("order")
    if order == "clear":
        desk.crawls.clear(name, asked.text("confirm").strip())
        return RedirectResponse("/crawls", 303)
    if order == "ban":
        desk.crawls.ban(name, asked.texts("added"), asked.texts("lifted"))
        return RedirectResponse(f"/crawls/{name}#bans", 303)
    if order == "resume" and desk.crawls.status(name)["state"] in ("stored", "failed"):
        order = "start"  # one button resumes a paused or stored crawl
    give_order(desk, name, order)
    return RedirectResponse(f"/crawls/{name}", 303)


# -- coming and going


def login(desk: ViewContext, asked: Parameters) -> Response:
    if asked.text("ticket"):
        # Not counted: 128 bits cannot be guessed, but any page can link to this URL.
        if desk.doors.take_ticket(asked.text("ticket")):
            return _welcome(desk, "/")
        return _login_page(desk, asked, "This link works only once. Enter the token instead.")
    return _login_page(desk, asked)


def try_login(desk: ViewContext, asked: Parameters) -> Response:
    """Log in by token or password. The right token is accepted even after many wrong tries."""
    doors, now_s, word = desk.doors, desk.clock.now_s(), asked.text("word")
    if not doors.is_token(word):
        begin = doors.throttle.begin_try if doors.password else doors.throttle.note_failure
        if not begin(asked.client, now_s):
            return _login_page(desk, asked, _TOO_MANY, 429)
        if not doors.is_password(word):
            return _login_page(desk, asked, _wrong_word(desk), 401)
        doors.throttle.succeed(asked.client)
    return _welcome(desk, inner(asked.text("next")))


_TOO_MANY: Final = "Too many wrong tries. Wait five minutes, or use the server's token."


def _wrong_word(desk: ViewContext) -> str:
    wanted = "token or password" if desk.doors.password else "token"
    return f"Wrong {wanted}. `gossamer serve` prints the token, or it is in its --token-file."


def inner(path: str) -> str:
    """Return a path within the server; `/` for any other, which may lead to another site."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_ours and path.isprintable() and "\\" not in path else "/"


def _login_page(
    desk: ViewContext, asked: Parameters, fault: str = "", status: int = 200
) -> Response:
    next_ = inner(asked.text("next"))
    has_password = bool(desk.doors.password)
    names = {"nav": "", "fault": fault, "next": next_, "has_password": has_password}
    markup = desk.renderer.page("login.html", asked=asked, crawl="", crawls=[], **names)
    return Response(markup, status, media_type="text/html")


def _welcome(desk: ViewContext, next_: str) -> Response:
    response = RedirectResponse(next_, 303)
    response.set_cookie(
        desk.doors.cookie,
        desk.doors.sessions.begin(desk.clock.now_s()),
        max_age=int(SESSION_S),
        httponly=True,
        samesite="strict",
    )
    return response


def logout(desk: ViewContext, asked: Parameters) -> Response:
    desk.doors.sessions.end(asked.session)
    response = RedirectResponse("/", 303)
    response.delete_cookie(desk.doors.cookie)
    return response
