"""A small link graph for tests, made of captures.

    folder = a_graph(tmp_path, [("http://a/", 10, [link("http://b/", "words")])])

Each list of captures becomes one raw part.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.graph import manifest, tables
from gossamer.graph.manifest import LinkPart, Manifest
from gossamer.graph.parts import PartWriter
from gossamer.records import Edge

Captured = tuple[str, int, Sequence[Edge]]


def link(target: str, text: str = "", rel: str = "", place: str = "body", kind: str = "a") -> Edge:
    return Edge(target, b"", text, rel, place, kind)


def capture(source: str, at_us: int, *edges: Edge) -> Captured:
    """A capture as crawls write it: its links, and the row that says that these are all."""
    return source, at_us, [*edges, link(source, place="", kind="capture")]


def unchanged(source: str, at_us: int) -> Captured:
    """A capture without changes."""
    return source, at_us, [link(source, rel="same", place="", kind="capture")]


def a_graph(home: Path, *parts: Sequence[Captured]) -> Path:
    """The folder of a graph with one part for each list of captures."""
    folder = home / "graph"
    folder.mkdir(parents=True)
    named = []
    for number, pages in enumerate(parts):
        writer = PartWriter(folder)
        for source, at_us, edges in pages:
            writer.add(source, at_us, edges)
        rows = writer.rows
        named.append(LinkPart(writer.write(f"links-{number:06}").name, rows))
    manifest.replace(folder, Manifest(tuple(named)))
    return folder


def rows(batches: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in tables.table_of(batches).to_pylist()]
