"""Run the searches of `focus.start_from`, before a crawl begins. Their results are seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gossamer.base.clock import Clock
from gossamer.collection.starting_points import StartingPoint
from gossamer.errors import UsageError
from gossamer.fetch.request import without_userinfo
from gossamer.node.seeds import form_of, not_a_url
from gossamer.node.starts.engine import SearchFault, engine_client
from gossamer.node.starts.result_urls import result_urls
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm

KEY: Final = "focus.start_from"
_QUERY: Final = "{query}"
_SCHEMES: Final = ("http://", "https://")


def check_sources(settings: Settings) -> None:
    """Raises UsageError for a source that cannot be searched, or without words to look for."""
    for source in settings.focus.start_from:
        if not settings.frontier.query.strip():
            raise UsageError("--start-from needs words to search for; add --query WORDS")
        if is_engine(source):
            search_url(source, "words")
        elif not Path(source).expanduser().is_dir():
            raise UsageError(
                f"--start-from {source}: neither a collection nor a URL with {_QUERY}, such as "
                "https://example.org/search?q={query}"
            )


def is_engine(source: str) -> bool:
    """Whether a source is the URL of a search engine, not a collection."""
    return source.lower().startswith(_SCHEMES)


def search_url(template: str, query: str) -> str:
    """The URL of a search. Raises UsageError for a template that makes none."""
    if _QUERY not in template:
        raise UsageError(
            f"--start-from {without_userinfo(template)}: {_QUERY} is missing; write it where the "
            "words of the search belong"
        )
    form = NormalForm()
    text = template.replace(_QUERY, quote(query, safe=""))
    url = form.find(text)
    if url is None:
        raise UsageError(f"--start-from: {not_a_url(text, form)}")
    return url


async def find_points(settings: Settings, clock: Clock) -> list[StartingPoint]:
    """The results of all searches, at most `focus.start_urls` of each.

    Raises UsageError, NeedsContact, StoreError for a collection that cannot be searched, and
    SearchFault for a search without results.
    """
    check_sources(settings)
    points: list[StartingPoint] = []
    async with engine_client(settings, clock) as client:
        for source in settings.focus.start_from:
            if is_engine(source):
                answer = await client.search(search_url(source, settings.frontier.query))
                urls = result_urls(answer, settings.focus.start_select, form_of(settings))
            else:
                urls = search_collection(source, settings)
            if not urls:
                raise SearchFault(_no_results(source, settings))
            points += _points(source, urls, settings, clock.wall_us())
        await client.leave_alone([point.url for point in points])
    return points


def search_collection(source: str, settings: Settings) -> list[str]:
    """The URLs that the search of a collection finds. Raises StoreError."""
    from gossamer.search.engine import Engine  # loads the index
    from gossamer.search.results import Request

    most, form = settings.focus.start_urls, form_of(settings)
    engine = Engine(Path(source).expanduser())
    hits = engine.search(Request(query=settings.frontier.query, limit=most)).hits
    found = (form.find(hit.url) for hit in hits)
    return list(dict.fromkeys(url for url in found if url is not None))


def _points(
    source: str, urls: Sequence[str], settings: Settings, at_us: int
) -> list[StartingPoint]:
    query, shown = settings.frontier.query, without_userinfo(source)
    some = urls[: settings.focus.start_urls]
    return [StartingPoint(url, shown, query, place, at_us) for place, url in enumerate(some, 1)]


def _no_results(source: str, settings: Settings) -> str:
    shown = without_userinfo(source).partition("?")[0]
    if not is_engine(source):
        return f"the collection {shown} has no page for {settings.frontier.query!r}"
    return (
        f"{shown} gave no results for {settings.frontier.query!r}; if it has some, say where they "
        "stand with --set focus.start_select=SELECTOR"
    )
