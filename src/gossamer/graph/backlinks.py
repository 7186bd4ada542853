"""The links to a URL, with their anchor texts.

By page: every link, with its text and place. By host or site: the number of linking pages, most
first. Anchors: the distinct texts, those that most sites use first. Links of a page to itself are
included; counts of other pages are in `degrees.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.graph.arrow import pa, pc
from gossamer.graph.lookup import links_to
from gossamer.graph.network import check_level
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

_LINK: Final = ("source", "anchor", "rel", "place", "kind", "first_seen", "last_seen")


def backlinks(folder: Path, url: str, by: str = "page") -> Any:
    """An Arrow table of the links to a URL in canonical form.

        page    source anchor rel place kind first_seen last_seen, by source
        host    host pages links first_seen last_seen, most pages first
        site    site hosts pages links first_seen last_seen, most pages first

    Times are microseconds since 1970. Raises UsageError for another `by`, CorruptFile.
    """
    check_level(by)
    return _linking(links_to(folder, url), by)


def anchors(folder: Path, url: str) -> Any:
    """An Arrow table of the anchor texts of links to a URL in canonical form: anchor sites hosts
    pages links. Raises CorruptFile.
    """
    return _words(links_to(folder, url))


@dataclass(frozen=True, slots=True)
class Screenful:
    """Some rows of `backlinks`, the first rows of `anchors`, and the total number of each."""

    links: Any
    total: int
    anchors: Any
    anchors_total: int


def screenful(folder: Path, url: str, by: str, *, limit: int, offset: int, words: int) -> Screenful:
    """`limit` rows of `backlinks` from `offset`, and `words` rows of `anchors`. The graph is read
    once, and rows that are not shown are not built. Raises the same errors.
    """
    check_level(by)
    found = links_to(folder, url)
    links, anchors_ = _linking(found, by), _words(found)
    return Screenful(
        links.slice(offset, limit), links.num_rows, anchors_.slice(0, words), anchors_.num_rows
    )


def _linking(found: Any, by: str) -> Any:
    if by == "page":
        return found.select(list(_LINK))
    homes = _with_homes(found)
    sums = [("source", "count_distinct"), ("source", "count")]
    times = [("first_seen", "min"), ("last_seen", "max")]
    hosts = [("host", "count_distinct")] if by == "site" else []
    grouped = homes.group_by(by, use_threads=False).aggregate([*hosts, *sums, *times])
    names = [by, *(["hosts"] if hosts else []), "pages", "links", "first_seen", "last_seen"]
    table = grouped.rename_columns(names)
    return table.sort_by([("pages", "descending"), (by, "ascending")])


def _words(found: Any) -> Any:
    homes = _with_homes(found)
    counted = [(name, "count_distinct") for name in ("site", "host", "source")]
    grouped = homes.group_by("anchor", use_threads=False).aggregate([*counted, ("source", "count")])
    table = grouped.rename_columns(["anchor", "sites", "hosts", "pages", "links"])
    order = [(name, "descending") for name in ("sites", "hosts", "pages", "links")]
    return table.sort_by([*order, ("anchor", "ascending")])


def _with_homes(links: Any) -> Any:
    """Links with the host and site of their source."""
    coded = pc.dictionary_encode(links.column("source").combine_chunks())
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    hosts = [host_of(source) for source in coded.dictionary.to_pylist()]
    site_by_host = {host: site_of(host) for host in set(hosts)}  # a site may link a million times
    sites = [site_by_host[host] for host in hosts]
    for name, values in (("host", hosts), ("site", sites)):
        column = pa.array(values, pa.string()).take(coded.indices)
        links = links.append_column(name, column)
    return links
