"""The changes of a crawl as a page, as JSON and as feeds; the visits of a page as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from itertools import groupby
from typing import Final

from starlette.responses import JSONResponse, Response

from gossamer.base.clock import exact_iso_of
from gossamer.errors import UsageError
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.notify.batch import origin_of_salt
from gossamer.reader.change_filter import changes_wanted
from gossamer.reader.changes import KINDS, ChangesWanted, SeenChange
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.change_feed import FeedFilter, feed_of, request_for
from gossamer.transfer.feeds import ATOM_TYPE, JSON_TYPE, written
from gossamer.web.parameters import Parameters
from gossamer.web.render import here
from gossamer.web.route import ViewContext
from gossamer.web.views.history import (
    ChangeList,
    changes_object,
    day_of,
    listed_changes,
    versions_object,
)
from gossamer.web.views.html import html

PERIODS: Final = {"1d": "Last day", "7d": "Last week", "30d": "Last month", "": "All"}


def versions(context: ViewContext, parameters: Parameters) -> Response:
    with context.collections.reader(parameters.text("c")) as reader:
        return JSONResponse(versions_object(reader, parameters.text("url")))


def changes(context: ViewContext, parameters: Parameters) -> Response:
    return JSONResponse(changes_object(_listed(context, parameters)))


def atom(context: ViewContext, parameters: Parameters) -> Response:
    return _feed(context, parameters, "atom")


def json_feed(context: ViewContext, parameters: Parameters) -> Response:
    return _feed(context, parameters, "json")


def changes_page(context: ViewContext, parameters: Parameters) -> Response:
    fault: UsageError | None = None
    found = ChangeList((), dict.fromkeys(KINDS, 0), False, 0)
    try:
        found = _listed(context, parameters)
    except UsageError as error:
        fault = error  # the user can change the filters on the same page
    kinds = () if fault else _kinds(parameters)
    days = [(day, list(some)) for day, some in groupby(found.changes, day_of)]
    return html(
        context, parameters, "changes.html",
        nav="changes", found=found, days=days, fault=fault, kinds=kinds,
        all_kinds=KINDS, periods=PERIODS, diff_path=diff_path,
        next=exact_iso_of(found.next_us) if found.next_us else "",
        feeds={form: _feed_path(parameters, form) for form in ("atom", "json")},
        status=400 if fault else 200,
    )  # fmt: skip


# -- filters


def _listed(context: ViewContext, parameters: Parameters) -> ChangeList:
    """Raises UsageError, NoCollection, StoreError."""
    wanted, query = _wanted(parameters), parameters.text("q").strip()
    with context.collections.reader(parameters.text("c")) as reader:
        among = _matching(context, parameters, reader, query, wanted.since_us) if query else None
        return listed_changes(reader, wanted, parameters.whole("limit"), among)


def _wanted(parameters: Parameters) -> ChangesWanted:
    return changes_wanted(
        parameters.text("since").strip(),
        parameters.text("until").strip(),
        parameters.text("site"),
        _kinds(parameters),
        with_noise=parameters.flag("noise"),
    )


def _kinds(parameters: Parameters) -> tuple[str, ...]:
    """The kinds to show; none means all."""
    return tuple(one.strip() for one in parameters.text("kind").split(",") if one.strip())


def _matching(
    context: ViewContext,
    parameters: Parameters,
    reader: CollectionReader,
    query: str,
    since_us: int,
) -> Collection[str]:
    request = request_for(query, reader.store, since_us)
    return {hit.url for hit in context.collections.search(parameters.text("c"), request)}


# -- feeds


def _feed(context: ViewContext, parameters: Parameters, form: str) -> Response:
    name = parameters.text("c") or context.collections.first
    found = _listed(context, parameters)
    wanted = FeedFilter(
        parameters.text("site").strip().lower(), parameters.text("q").strip(), _kinds(parameters)
    )
    with context.collections.reader(name) as reader:
        identity = origin_of_salt(reader.store.find(StateTable.META, SALT_KEY) or b"")
    origin = parameters.origin
    feed = feed_of(
        found.changes,
        wanted,
        name,
        origin=identity,
        address=f"{origin}{_feed_path(parameters, form)}",
        page=f"{origin}{_page_path(parameters)}",
        page_of=lambda change: f"{origin}{diff_path(change, parameters.text('c'))}",
    )
    body = written(feed, form)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if tag in {one.strip().removeprefix("W/") for one in parameters.if_none_match.split(",")}:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=ATOM_TYPE if form == "atom" else JSON_TYPE)


def diff_path(change: SeenChange, crawl: str) -> str:
    """Where a person sees a change: the comparison of two versions, or else the history."""
    if change.before_us and change.kind.value == "changed":
        times = {"old": exact_iso_of(change.before_us), "new": exact_iso_of(change.at_us)}
        return here("/page", url=change.url, view="diff", **times, c=crawl)
    return here("/page", url=change.url, view="versions", c=crawl)


def _page_path(parameters: Parameters) -> str:
    return here("/changes", **_filters(parameters))


def _feed_path(parameters: Parameters, form: str) -> str:
    return here(f"/feeds/changes.{form}", **_filters(parameters))


def _filters(parameters: Parameters) -> dict[str, str]:
    return {name: parameters.text(name).strip() for name in ("site", "q", "kind", "c")}
