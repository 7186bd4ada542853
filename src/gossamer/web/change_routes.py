"""The routes about time: changes, feeds, versions and freshness. `routes.py` joins them."""

from __future__ import annotations

from typing import Final

from gossamer.web.parameters import Param
from gossamer.web.route import Route
from gossamer.web.views import change_views, freshness_view
from gossamer.web.views.history import MOST_CHANGES

_CRAWL = Param(name="c", help="Name of the crawl; default: the first.", default="", longest=64)
_FILTERS = (
    Param(name="site", help="Only pages of this host or domain.", default="", longest=300),
    Param(
        name="q", help="Only pages that are in the index and match this query.", default="",
        longest=10_000,
    ),
    Param(
        name="kind", help="Only these kinds: new, changed, gone, back, moved; by commas.",
        default="", longest=100,
    ),
    Param(
        name="since", help="Only changes since a time, e.g. 2026-01-31 or 7d.", default="",
        longest=40,
    ),
    Param(name="until", help="Only changes before this time.", default="", longest=40),
    Param(name="noise", help="Changes that are only noise, too.", kind="flag", default=False),
    Param(
        name="limit", help="Number of changes.", kind="whole", default=100, least=1,
        most=MOST_CHANGES,
    ),
    _CRAWL,
)  # fmt: skip

CHANGE_API: Final[tuple[Route, ...]] = (
    Route(
        method="GET", path="/api/changes", name="changes",
        does="What later visits found new, changed, gone, back or moved, the newest first.",
        answer=change_views.changes, params=_FILTERS,
        keys=("schema", "counts", "counts_are_cut", "next", "changes"),
    ),
    Route(
        method="GET", path="/api/versions", name="versions",
        does="The visits of a page, the newest first, and what each found changed.",
        answer=change_views.versions,
        params=(
            Param(name="url", help="A URL, with or without https://.", is_needed=True,
                  longest=8_192),
            _CRAWL,
        ),
        keys=("schema", "url", "total", "unchanged", "versions"),
    ),
    Route(
        method="GET", path="/api/freshness", name="freshness",
        does="Freshness and age of the copies, measured and predicted, and what is due.",
        answer=freshness_view.freshness, params=(_CRAWL,),
        keys=("schema", "crawl", "freshness", "series"),
    ),
    Route(
        method="GET", path="/feeds/changes.atom", name="atom",
        does="The changes as an Atom feed; honours If-None-Match.",
        answer=change_views.atom, params=_FILTERS, gives="feed",
    ),
    Route(
        method="GET", path="/feeds/changes.json", name="json_feed",
        does="The changes as a JSON feed; honours If-None-Match.",
        answer=change_views.json_feed, params=_FILTERS, gives="feed",
    ),
)  # fmt: skip

CHANGE_PAGES: Final[tuple[Route, ...]] = (
    Route(
        method="GET", path="/changes", name="changes_page",
        does="What changed, by site, kind, time and query.",
        answer=change_views.changes_page, params=_FILTERS, gives="html",
    ),
    Route(
        method="GET", path="/freshness", name="freshness_page",
        does="Freshness and age of the copies.", answer=freshness_view.freshness_page,
        params=(_CRAWL,), gives="html",
    ),
)  # fmt: skip
