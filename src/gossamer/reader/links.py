"""The links of one URL: makes the typed URL canonical and converts times to dates."""

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
    """Return the canonical URL, and an Arrow table of the links to it (see `graph/backlinks.py`).

    Raises UsageError for an invalid `by` or URL, NotKnown if neither state nor graph have the URL,
    CorruptFile if the graph is damaged, NoLinks if the crawl stored no links.
    """
    check_level(by)
    meant, table = _asked(reader, url, lambda folder, one: graph_backlinks(folder, one, by))
    return meant, with_dates(table)


def anchors(reader: CollectionReader, url: str) -> tuple[str, Any]:
    """Return the canonical URL, and an Arrow table of the anchor texts of its links. Raises the
    same."""
    return _asked(reader, url, graph_anchors)


def screenful(
    reader: CollectionReader, url: str, by: str, *, limit: int, offset: int, words: int
) -> tuple[str, Screenful]:
    """Return the canonical URL, and the backlinks and anchor texts that fit on one screen.

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
    """Return the result for the first spelling that has links, else for the known one."""
    check_kept(reader)
    for spelling in reader.spellings(url):
        table = ask(reader.paths.graph, spelling)
        if table.num_rows:
            return spelling, table
    known = reader.get(url).url
    return known, ask(reader.paths.graph, known)


class NoLinks(StoreError):
    """The crawl was configured to store no links."""


def check_kept(reader: CollectionReader) -> None:
    """Raise NoLinks if there is no graph."""
    if not reader.settings().node.graph and not (reader.paths.graph / MANIFEST).exists():
        raise NoLinks(
            f"{reader.paths.path} has no links, because the crawl did not store them; "
            "extract them from the archive with `gossamer rebuild graph`"
        )


def with_dates(table: Any) -> Any:
    """Return a table or batch with `first_seen` and `last_seen` as dates, as in exports."""
    for name in ("first_seen", "last_seen"):
        if name in table.schema.names:
            column = iso_column(table.column(name))
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def iso_column(column: Any) -> Any:
    """Convert microseconds since 1970 to dates."""
    told: dict[int, str] = {}  # the links of a page have one time
    values = column.to_pylist()
    for at_us in values:
        if at_us not in told:
            told[at_us] = iso_of(at_us)
    return pa.array([told[at_us] for at_us in values], pa.string())
