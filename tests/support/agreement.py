"""Do all parts of a collection of limited size have the same pages?"""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.archive.reader import read_records
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import NotKnown
from gossamer.graph import tables
from gossamer.graph.ranks.top import top
from gossamer.index.reader import ids
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Outcome
from gossamer.transfer.exports import batches, export
from gossamer.upkeep.verify import verify


def kept_of(collection: Path) -> set[str]:
    with CollectionReader.open(collection) as reader:
        return {row.url for row in reader.url_rows() if row.outcome is Outcome.FETCHED}


def left_of(collection: Path) -> set[str]:
    with CollectionReader.open(collection) as reader:
        return {row.url for row in reader.url_rows() if row.reason == "evicted"}


def archive_pages(collection: Path, file: Path) -> set[str]:
    """The pages in a WARC export."""
    with CollectionReader.open(collection) as reader:
        export(reader, "warc", file)
    answers = (one for one in read_records(file) if one.type in ("response", "revisit"))
    urls = {one.header("WARC-Target-URI") for one in answers}
    return {url for url in urls if not url.endswith("/robots.txt")}


def linked_by(collection: Path) -> dict[str, set[str]]:
    """The pages that link to each URL, by the graph."""
    found: dict[str, set[str]] = {}
    for batch in tables.links(CollectionPaths(collection).graph):
        for row in batch.to_pylist():
            found.setdefault(row["target"], set()).add(row["source"])
    return found


def assert_all_parts_agree(collection: Path) -> None:
    """State, captures, archive, index, graph and exports have the same pages."""
    assert list(verify(collection)) == []
    kept, left = kept_of(collection), left_of(collection)
    paths = CollectionPaths(collection)
    with CollectionReader.open(collection) as reader:
        names = {reader.keys.of(url).hex(): url for url in kept | left}
        captured = {
            row["url"] for batch in batches(reader, "captures") for row in batch.to_pylist()
        }
        exported = {
            row["url"]
            for batch in batches(reader, "pages")
            for row in batch.to_pylist()
            if row["outcome"] == "fetched"
        }
        texts = {row["url"] for batch in batches(reader, "text") for row in batch.to_pylist()}
        degrees = {
            row["url"]: row["backlinks"]
            for row in top(paths.graph, SystemClock(), limit=10_000).to_pylist()
        }
        for url in left:
            assert reader.captures(url) == []
            with pytest.raises(NotKnown, match="evicted"):
                reader.page(url)
    assert {names[one] for one in ids(paths.index)} == kept
    assert captured == exported == texts == kept
    assert archive_pages(collection, collection.with_name("export.warc.gz")) == kept
    linked = linked_by(collection)
    assert set().union(*linked.values()) <= kept
    others = {url: len(pages - {url}) for url, pages in linked.items()}
    assert degrees == {url: count for url, count in others.items() if count}
