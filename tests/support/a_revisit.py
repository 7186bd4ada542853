"""Visit all fetched pages of a collection once more, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.node.build import open_node
from gossamer.node.figures.progress import Summary
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.settings import Settings, with_values
from support.a_crawl import QUICK


def revisit(collection: Path, urls: Sequence[str] = (), **settings: object) -> Summary:
    """Visit these URLs, or every page that was fetched, and follow new links."""
    with CollectionReader.open(collection) as reader:
        fetched = [row.url for row in reader.url_rows() if row.outcome is Outcome.FETCHED]
        keys = [reader.keys.of(url) for url in urls or fetched]
    return asyncio.run(_revisit(collection, keys, settings))


async def _revisit(collection: Path, keys: Sequence[bytes], settings: dict[str, object]) -> Summary:
    named = {key.replace("__", "."): value for key, value in settings.items()}
    chosen = with_values(Settings(), {**QUICK, **named})
    with ExitStack() as stack:
        paths = CollectionPaths(collection)
        opened = open_node(paths, lambda _stored: chosen, (), SystemClock(), stack)
        try:
            for key in keys:
                opened.node._frontier.visit_again(key)  # no setting does it for one run
            return await opened.node.run()
        finally:
            await opened.node.aclose()
