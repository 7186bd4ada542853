"""Small collections, made of entries without a crawl, and searched whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from gossamer.index.entry import Entry
from gossamer.index.writer import IndexWriter
from gossamer.search.engine import Engine
from gossamer.search.results import Request

DAY_US = 86_400_000_000
NEW_YEAR_US = 1_767_225_600_000_000  # 2026-01-01


def entry(path: str, text: str = "", *, host: str = "a.example", title: str = "") -> Entry:
    """A page at a path."""
    url = f"http://{host}/{path}"
    return Entry(
        key=blake2b(url.encode(), digest_size=16).digest(),
        url=url,
        title=title,
        headings=(),
        text=text,
        language="en",
        type="text/html",
        at_us=NEW_YEAR_US,
    )


def build(home: Path, entries: Iterable[Entry]) -> Path:
    """A collection's directory with an index of these."""
    writer = IndexWriter(home / "index", heap_bytes=15_000_000)
    for one in entries:
        writer.put(one)
    writer.commit({})
    writer.close()
    return home


def built_of(home: Path, texts: Mapping[str, str]) -> Engine:
    """An engine over pages, path to text."""
    return Engine(build(home, [entry(path, text) for path, text in texts.items()]))


def paths(engine: Engine, query: str, **more: object) -> list[str]:
    """The paths of a query's hits, in their order."""
    request = replace(Request(query=query, limit=1000), **more)  # type: ignore[arg-type]
    return [hit.url.split("/", 3)[3] for hit in engine.search(request)]
