"""The links of one URL, as a person asks for it: the text made canonical, times made dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gossamer.base.clock import iso_of
from gossamer.errors import StoreError
from gossamer.graph.arrow import pa
from gossamer.graph.backlinks import Screenful
from gossamer.graph.backlinks import anchors as graph_anchors
from gossamer.graph.backlinks import backlinks as graph_backlinks
from gossamer.graph.backlinks import screenful as graph_screenful
from gossamer.graph.manifest import NAME as MANIFEST
from gossamer.graph.network import check_level
from gossamer.reader.collection_reader import CollectionReader


def backlinks(reader: CollectionReader, url: str, by: str = "page") -> tuple[str, Any]:
    """The URL that is meant, and an Arrow table of the links to it (see `graph/backlinks.py`).

    Raises UsageError for another `by` and for what is no URL, NotKnown when neither state nor
    graph know the URL, CorruptFile when the graph is damaged, NoLinks when none were kept.
    """
    check_level(by)
    meant, table = _asked(reader, url, lambda folder, one: graph_backlinks(folder, one, by))
    return meant, with_dates(table)


def anchors(reader: CollectionReader, url: str) -> tuple[str, Any]:
    """The URL that is meant, and an Arrow table of the words of links to it. Raises the same."""
    return _asked(reader, url, graph_anchors)


def screenful(
    reader: CollectionReader, url: str, by: str, *, limit: int, offset: int, words: int
) -> tuple[str, Screenful]:
    """The URL that is meant, and of its backlinks and anchors what one look shows.

    Raises what `backlinks` raises.
    """
    check_level(by)
    check_kept(reader)

    def ask(one: str) -> Screenful:
        folder = reader.paths.graph
        return graph_screenful(folder, one, by, limit=limit, offset=offset, words=words)

    asked = ((spelling, ask(spelling)) for spelling in reader.spellings(url))
    meant, found = next((one for one in asked if one[1].total), ("", None))
    if found is None:
        meant = reader.get(url).url
        found = ask(meant)
    return meant, replace(found, links=with_dates(found.links))


def _asked(reader: CollectionReader, url: str, ask: Callable[[Path, str], Any]) -> tuple[str, Any]:
    """The first spelling that has links, else the one that is known and has none."""
    check_kept(reader)
    for spelling in reader.spellings(url):
        table = ask(reader.paths.graph, spelling)
        if table.num_rows:
            return spelling, table
    known = reader.get(url).url
    return known, ask(reader.paths.graph, known)


class NoLinks(StoreError):
    """The crawl was told to keep none."""


def check_kept(reader: CollectionReader) -> None:
    """Whether there is a graph to ask. Raises NoLinks."""
    if not reader.settings().node.graph and not (reader.paths.graph / MANIFEST).exists():
        raise NoLinks(
            f"no links were kept in {reader.paths.path}; `gossamer rebuild graph` finds them "
            "in the archive"
        )


def with_dates(table: Any) -> Any:
    """A table or batch in which `first_seen` and `last_seen` are dates, as in exports."""
    for name in ("first_seen", "last_seen"):
        if name in table.schema.names:
            column = iso_column(table.column(name))
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def iso_column(column: Any) -> Any:
    """Microseconds since 1970 as dates."""
    told: dict[int, str] = {}  # the links of a page have one time
    values = column.to_pylist()
    for at_us in values:
        if at_us not in told:
            told[at_us] = iso_of(at_us)
    return pa.array([told[at_us] for at_us in values], pa.string())
