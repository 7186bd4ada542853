"""The table of all routes: names, parameters and results. The app and OpenAPI are made from it."""

from __future__ import annotations

import typing
from typing import Final

from gossamer.search.results import MAX_LIMIT, MAX_OFFSET
from gossamer.transfer.export_archive import ARCHIVES
from gossamer.transfer.export_folder import EVERY
from gossamer.transfer.export_schemas import SCHEMAS
from gossamer.urls.scope import ScopeKind
from gossamer.web import copies_routes, file_routes, focus_routes, lab_routes
from gossamer.web.change_routes import CHANGE_API, CHANGE_PAGES
from gossamer.web.crawls import COMMANDS
from gossamer.web.openapi import openapi_of
from gossamer.web.parameters import Param
from gossamer.web.reading import MOST_LINKS
from gossamer.web.route import Route
from gossamer.web.views import json_api, pages, trust
from gossamer.web.views.explore import MOST_NODES, MOST_TOP
from gossamer.web.views.explore import ORDERS as ORDERS_OF_TOP
from gossamer.web.views.exports import FORMATS, LEVELS
from gossamer.web.visit_options import forever_params, visit_params

_CRAWL = Param(name="c", help="Name of the crawl; default: the first.", default="", longest=64)
_NAME = Param(name="name", help="Name of the crawl.", place="path", is_needed=True, longest=64)
_URL = Param(name="url", help="A URL, with or without https://.", is_needed=True, longest=8_192)
_AT = Param(name="at", help="Time of the version; default: the newest.", default="", longest=40)
_QUERY = Param(name="q", help="The search query.", default="", longest=10_000)
_SEARCH = (
    _CRAWL,
    Param(name="limit", help="Number of hits.", kind="whole", default=10, least=1, most=MAX_LIMIT),
    Param(name="offset", help="Number of hits to skip.", kind="whole", default=0, most=MAX_OFFSET),
    Param(name="site", help="Only pages of this host or domain.", default="", longest=300),
    Param(name="type", help="Only html, pdf, ..., or a MIME type.", default="", longest=100),
    Param(name="lang", help="Only pages in this language, e.g. de.", default="", longest=20),
    Param(
        name="since", help="Only pages whose version was fetched since, e.g. 2026-01-31 or 7d.",
        default="", longest=40,
    ),
    Param(
        name="changed", help="Only pages found changed since, e.g. 2026-01-31 or 7d; no new pages.",
        default="", longest=40,
    ),
    Param(
        name="sort", help="By relevance, or by date with the newest first.", default="relevance",
        choices=("relevance", "date", ""),
    ),
    Param(
        name="per_site", help="Maximum of hits per site; 0: no limit.", kind="whole", default=0,
        most=MAX_LIMIT,
    ),
    Param(name="explain", help="Show how each score is computed.", kind="flag", default=False),
    Param(name="copies", help="Show all duplicates; else one.", kind="flag", default=False),
)  # fmt: skip
_LIMIT = Param(name="limit", help="Rows.", kind="whole", default=100, least=1, most=MOST_LINKS)
_OFFSET = Param(name="offset", help="Number of rows to skip.", kind="whole", default=0, most=10**9)
_HOSTS = (
    _CRAWL,
    Param(name="by", help="List hosts or sites.", default="host", choices=("host", "site")),
    Param(
        name="sort", help="Sort by this count, the highest first.", default="fetched",
        choices=("fetched", "queued", "waiting", "failed", "refused", "known", "bytes"),
    ),
    _LIMIT,
    _OFFSET,
)  # fmt: skip


def _of_crawl(place: str) -> tuple[Param, ...]:
    """Return the parameters of a new crawl; the scope tester takes the same."""
    told: Final = "body" if place == "body" else "query"
    scopes = ("", *typing.get_args(ScopeKind))
    return (
        Param(
            name="seeds", help="Start URLs.", kind="texts", place=told, is_needed=True,
            longest=8_192,
        ),
        Param(
            name="scope", help="Which URLs belong to the crawl.", place=told, default="",
            choices=scopes,
        ),
        Param(
            name="domain_list", help="Domains for the scope `list`.", kind="texts", place=told,
            longest=300,
        ),
        Param(name="include", help="Crawl only URLs that match.", kind="texts", place=told),
        Param(name="exclude", help="Skip URLs that match.", kind="texts", place=told),
    )  # fmt: skip


_NEW_CRAWL = (
    *_of_crawl("body"),
    Param(
        name="name", help="Name; default: the first host.", place="body", default="", longest=64
    ),
    Param(
        name="type", help="What to keep: html, pdf, image, audio, video, any, MIME types.",
        kind="texts", place="body", longest=200,
    ),
    Param(
        name="list_only", help="Take no bodies of files, only list them.", kind="flag",
        place="body", default=False,
    ),
    Param(
        name="order", help="Order of requests: a name, or a weighted mix of names.", place="body",
        default="", longest=200,
    ),
    Param(
        name="query", help="Words for the order `similarity`.", place="body", default="",
        longest=1_000,
    ),
    Param(
        name="depth", help="Maximum links from a seed.", kind="whole", place="body", most=65_535
    ),
    Param(name="max_pages", help="Stop after this many pages.", kind="whole", place="body"),
    Param(name="max_bytes", help="Stop after this many bytes.", kind="whole", place="body"),
    Param(
        name="max_time", help="Stop after this many seconds.", kind="number", place="body", most=1e9
    ),
    Param(
        name="delay", help="Delay between two requests to a host, in seconds.", kind="number",
        place="body", most=86_400,
    ),
    Param(
        name="max_matches", help="Stop after this many pages of the chosen types.", kind="whole",
        place="body",
    ),
    Param(
        name="keep_best", help="Keep only this many pages, the most important.", kind="whole",
        place="body",
    ),
    Param(
        name="threshold", help="Stop when no more pages of this importance are expected.",
        kind="number", place="body", most=1e12,
    ),
    Param(
        name="importance", help="The importance of pages.", place="body", default="",
        choices=("", "backlinks", "pagerank", "best"),
    ),
    Param(
        name="sitemaps", help="Which sitemaps to request.", place="body", default="",
        choices=("", "robots", "always", "never"),
    ),
    Param(
        name="ascend", help="Request the directories above each page too.", kind="flag",
        place="body", default=False,
    ),
    Param(
        name="max_rate", help="Maximum bytes per second, all hosts.", kind="whole", place="body",
    ),
    Param(
        name="hours", help="Local hours for requests, e.g. 22-6.", place="body", default="",
        longest=20,
    ),
    Param(
        name="proxy", help="A proxy for all hosts: http, https, socks4, socks5.", place="body",
        default="", longest=2_000,
    ),
    Param(
        name="user_agent_contact", help="Contact: mail address or URL.", place="body",
        default="", longest=200,
    ),
    *forever_params(),
)  # fmt: skip
_STATUS_KEYS = (
    "schema", "crawl", "state", "fetched", "redirects", "failed", "refused", "queued", "known",
    "bytes", "links", "unchanged", "duplicates", "indexed", "dropped", "refused_by", "by_status",
    "by_class", "by_depth", "under_way", "hosts_waiting", "pages_per_s", "bytes_per_s", "wall_s",
    "ran_s", "memory_bytes", "troubles", "retrying", "retry_in_s", "said",
    "notified", "freshness", "visited", "hot", "evicted", "focus",
)  # fmt: skip
_CONFIRM = Param(name="confirm", help="The name again, to confirm.", place="body", default="")

_ADDED = Param(
    name="added", help="Hosts, URL prefixes or patterns, one per line.", kind="texts",
    place="body",
)  # fmt: skip
_LIFTED = Param(name="lifted", help="Lines to lift.", kind="texts", place="body")
_TOP = (
    Param(name="by", help="Rank by this figure.", default="pagerank", choices=tuple(ORDERS_OF_TOP)),
    Param(name="level", help="Rank pages or sites.", default="page", choices=("page", "site")),
    Param(name="limit", help="Rows.", kind="whole", default=50, least=1, most=MOST_TOP),
    _CRAWL,
)
_GRAPH = (
    Param(
        name="of", help="A URL, host or site; default: whole graph.", default="", longest=8_192
    ),
    Param(
        name="level", help="Level of the neighbours; pages only for a URL.", default="",
        choices=("", "page", "host", "site"),
    ),
    Param(
        name="limit", help="Number of neighbours.", kind="whole", default=24, least=1,
        most=MOST_NODES,
    ),
    _CRAWL,
)  # fmt: skip
_NOISE = Param(
    name="noise", help="Show lines where only noise changed, too.", kind="flag", default=False
)
_OLD = Param(
    name="old",
    help="Time of the old version; default: one before.",
    default="",
    longest=40,
)
_NEW = Param(
    name="new", help="Time of the new version; default: the newest.", default="", longest=40
)

API: Final[tuple[Route, ...]] = (
    *CHANGE_API,
    Route(
        method="GET", path="/api/search", name="search", does="Search pages, best first.",
        answer=json_api.search, params=(Param(name="q", help="The search query.", is_needed=True,
        longest=10_000), *_SEARCH),
        keys=("schema", "query", "offset", "total", "took_ms", "suggestion", "hint", "hits"),
    ),
    Route(
        method="GET", path="/api/page", name="page", does="Everything known about one URL.",
        answer=json_api.page, params=(_URL, _AT, _CRAWL),
        keys=("schema", "url", "known", "outcome", "status", "reason", "story", "versions",
              "page"),
    ),
    Route(
        method="GET", path="/api/backlinks", name="backlinks",
        does="The links to a URL, and their anchor texts.", answer=json_api.backlinks,
        params=(
            _URL,
            Param(name="by", help="One row per linking page, host or site.", default="page",
                  choices=("page", "host", "site")),
            _LIMIT, _OFFSET, _CRAWL,
        ),
        keys=("schema", "url", "by", "total", "links", "anchors", "anchors_total"),
    ),
    Route(
        method="GET", path="/api/links", name="links", does="The links of a page.",
        answer=json_api.links, params=(_URL, _LIMIT, _OFFSET, _CRAWL),
        keys=("schema", "url", "total", "links"),
    ),
    Route(
        method="GET", path="/api/diff", name="diff",
        does="The changes between two versions of a page.", answer=json_api.diff,
        params=(_URL, _OLD, _NEW, _NOISE, _CRAWL),
        keys=("schema", "url", "old", "new", "same_bytes", "facts", "added", "removed", "is_cut",
              "changes", "lines", "words_added", "words_removed", "links_added", "links_removed",
              "noise"),
    ),
    Route(
        method="GET", path="/api/top", name="top",
        does="Pages or sites ranked by their links.", answer=json_api.top,
        params=_TOP, keys=("schema", "by", "level", "columns", "pages"),
    ),
    Route(
        method="GET", path="/api/graph", name="graph",
        does="The neighbours of a page, host or site in the link graph.", answer=json_api.graph,
        params=_GRAPH, keys=("schema", "centre", "level", "total", "neighbours", "between"),
    ),
    *copies_routes.API,
    *file_routes.API,
    Route(
        method="GET", path="/api/exports", name="exports",
        does="The tables that /export returns as files.", answer=json_api.exports,
        keys=("schema", "exports"),
    ),
    Route(
        method="GET", path="/api/hosts", name="hosts", does="Hosts or sites, and their queues.",
        answer=json_api.hosts, params=_HOSTS, keys=("schema", "by", "total", "hosts"),
    ),
    Route(
        method="GET", path="/api/status", name="status", does="Status of a crawl.",
        answer=json_api.status, params=(_CRAWL,), keys=_STATUS_KEYS,
    ),
    Route(
        method="GET", path="/api/history", name="history",
        does="Figures of a crawl over time, also after its end.",
        answer=json_api.history, params=(_CRAWL,), keys=("schema", "crawl", "series"),
    ),
    Route(
        method="GET", path="/api/events", name="events",
        does="Live status of a crawl: server-sent events; Last-Event-ID continues a stream.",
        answer=json_api.events, params=(_CRAWL,), gives="events",
    ),
    Route(
        method="GET", path="/api/crawls", name="crawls", does="List all crawls.",
        answer=json_api.crawls, keys=("schema", "first", "crawls"),
    ),
    Route(
        method="POST", path="/api/crawls", name="start", does="Start a crawl.",
        answer=json_api.start_crawl, params=_NEW_CRAWL, keys=(*_STATUS_KEYS, "told"),
        status=202, changes=True,
    ),
    Route(
        method="GET", path="/api/crawls/{name}/bans", name="bans",
        does="The bans of a crawl.", answer=json_api.bans, params=(_NAME,),
        keys=("schema", "crawl", "bans"),
    ),
    Route(
        method="POST", path="/api/crawls/{name}/bans", name="ban",
        does="Add and lift bans of a running or stored crawl, effective at once.",
        answer=json_api.change_bans, params=(_NAME, _ADDED, _LIFTED),
        keys=("schema", "crawl", "bans"), changes=True,
    ),
    Route(
        method="GET", path="/api/crawls/{name}/trust", name="trusted",
        does="The verdicts about traps of a crawl, and the URLs that are trusted whatever they "
        "bring.",
        answer=trust.trusted, params=(_NAME,), keys=("schema", "crawl", "trusted", "traps"),
    ),
    Route(
        method="POST", path="/api/crawls/{name}/trust", name="trust",
        does="Withdraw verdicts about traps of a running or stored crawl, or lift that again.",
        answer=trust.change_trust, params=(_NAME, _ADDED, _LIFTED),
        keys=("schema", "crawl", "trusted", "traps"), changes=True,
    ),
    Route(
        method="POST", path="/api/crawls/{name}/{order}", name="order",
        does="Pause, resume or stop a running crawl; `start` resumes a stored one, or visits its "
        "pages again.",
        answer=json_api.order_crawl,
        params=(_NAME, Param(name="order", help="The order.", place="path", is_needed=True,
                             choices=(*COMMANDS, "start")), *visit_params()),
        keys=_STATUS_KEYS, status=202, changes=True,
    ),
    Route(
        method="DELETE", path="/api/crawls/{name}", name="clear",
        does="Delete a crawl and all its data permanently.", answer=json_api.clear_crawl,
        params=(_NAME, _CONFIRM), keys=("schema", "crawl", "state"), changes=True,
    ),
    *focus_routes.API,
    Route(
        method="GET", path="/api/scope", name="scope",
        does="Test whether URLs belong to the scope of such a crawl.", answer=json_api.scope,
        params=(
            *_of_crawl("query"),
            Param(name="url", help="URLs to test, one per line.", kind="texts", is_needed=True,
                  longest=8_192),
        ),
        keys=("schema", "urls"),
    ),
    Route(
        method="GET", path="/healthz", name="health", does="Health check of the server.",
        answer=json_api.health, keys=("schema", "status", "version"), is_open=True,
    ),
    Route(
        method="GET", path="/metrics", name="metrics", does="Metrics in Prometheus format.",
        answer=json_api.metrics, gives="text",
    ),
    Route(
        method="GET", path="/openapi.json", name="openapi", does="This description.",
        answer=lambda _context, _parameters: openapi_of(API), keys=("openapi", "info", "paths"),
    ),
    Route(
        method="GET", path="/opensearch.xml", name="opensearch",
        does="OpenSearch description.", answer=json_api.opensearch, gives="xml", is_open=True,
    ),
)  # fmt: skip

PAGES: Final[tuple[Route, ...]] = (
    *CHANGE_PAGES,
    Route(
        method="GET", path="/", name="search_page", does="Search.", answer=pages.search,
        params=(_QUERY, *_SEARCH, Param(name="part", help="Return only the hits.", kind="flag")),
        gives="html",
    ),
    Route(
        method="GET", path="/page", name="page_page", does="One page.", answer=pages.page,
        params=(
            _URL, _AT, _CRAWL, _OFFSET, _OLD, _NEW, _NOISE,
            Param(name="view", help="Which view of the page.", default="text", choices=pages.VIEWS),
        ),
        gives="html",
    ),
    Route(
        method="GET", path="/cached", name="cached", does="A stored copy without active content.",
        answer=pages.cached, gives="copy",
        params=(
            _URL, _AT, _CRAWL,
            Param(name="key", help="Session key in the links of a copy.", default="", longest=64),
        ),
    ),
    Route(
        method="GET", path="/hosts", name="hosts_page", does="Hosts and sites.",
        answer=pages.hosts, params=_HOSTS, gives="html",
    ),
    Route(
        method="GET", path="/top", name="top_page", does="Pages and sites ranked by their links.",
        answer=pages.top, params=_TOP, gives="html",
    ),
    Route(
        method="GET", path="/graph", name="graph_page", does="A drawing of the link graph.",
        answer=pages.graph, params=_GRAPH, gives="html",
    ),
    *copies_routes.PAGES,
    *file_routes.PAGES,
    *lab_routes.PAGES,
    *focus_routes.PAGES,
    Route(
        method="GET", path="/exports", name="exports_page", does="List of all exports.",
        answer=pages.exports, params=(_CRAWL,), gives="html",
    ),
    Route(
        method="GET", path="/export", name="export", does="A table as a file.",
        answer=pages.export, gives="html", is_costly=True,
        params=(
            Param(
                name="what", help="Name of the table, or of the archive format.", is_needed=True,
                choices=(*SCHEMAS, EVERY, *ARCHIVES),
            ),
            Param(name="level", help="Level: page, host or site.", default="page", choices=LEVELS),
            Param(name="as", help="File extension.", default="", choices=("", *FORMATS)),
            Param(
                name="outcome", default="", longest=100,
                help="For pages: queued, fetched, failed or refused, separated by commas.",
            ),
            Param(
                name="status", default="", longest=200,
                help="For pages: statuses such as 404, 4xx or 200-299, separated by commas.",
            ),
            Param(
                name="columns", default="", longest=1_000,
                help="Columns in this order, separated by commas.",
            ),
            _CRAWL,
        ),
    ),
    Route(
        method="GET", path="/crawls", name="crawls_page", does="Crawls, and a form for new ones.",
        answer=pages.crawls, gives="html",
    ),
    Route(
        method="POST", path="/crawls", name="start_page", does="Start a crawl.", tells_faults=True,
        answer=pages.start_crawl, params=_NEW_CRAWL, gives="html", changes=True,
    ),
    Route(
        method="GET", path="/crawls/{name}", name="crawl_page", does="Live view of a crawl.",
        answer=pages.crawl, params=(_NAME,), gives="html",
    ),
    Route(
        method="POST", path="/crawls/{name}", name="order_page", does="Orders to a crawl.",
        answer=pages.order_crawl, gives="html", changes=True,
        params=(_NAME, _CONFIRM, _ADDED, _LIFTED, *visit_params(),
                Param(name="order", help="The order.", place="body", is_needed=True,
                      choices=(*COMMANDS, "start", "again", "clear", "ban", "trust"))),
    ),
    Route(
        method="GET", path="/login", name="login_page", does="Log in.", answer=pages.login,
        params=(
            Param(name="ticket", help="One-time code of the link.", default="", longest=100),
            Param(name="next", help="Page after login.", default="/", longest=9_000),
        ),
        gives="html", is_open=True,
    ),
    Route(
        method="POST", path="/login", name="login", does="Log in.", answer=pages.try_login,
        params=(
            Param(name="word", help="Token or password.", place="body", default="", longest=1_000),
            Param(name="next", help="Page after login.", place="body", default="/", longest=9_000),
        ),
        gives="html", is_open=True,
    ),
    Route(
        method="POST", path="/logout", name="logout", does="Log out.", answer=pages.logout,
        gives="html", changes=True,
    ),
)  # fmt: skip
