"""The first pages, or sites, by the links to them, or by their ranks.

Ties are ordered by URL, so the same graph has the same list. Memory holds the list and one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import Clock
from gossamer.base.disk import is_denied_error
from gossamer.errors import DiskFault, UsageError
from gossamer.graph.arrow import pa
from gossamer.graph.degrees import HOST_OF, degrees, name_homes
from gossamer.graph.ranks.compute import RanksRequest
from gossamer.graph.ranks.ranks import compute, find_info, ranks
from gossamer.graph.tables import answers, opened
from gossamer.settings import nearest

# The orders, and the columns of the result; it is sorted by the first of them.
DEGREES: Final = {
    "backlinks": ("backlinks", "hosts", "sites"),
    "hosts": ("hosts", "backlinks", "sites"),
    "sites": ("sites", "backlinks", "hosts"),
}
RANKS: Final = {
    "pagerank": ("pagerank",),
    "hubs": ("hub", "authority", "pagerank"),
    "authorities": ("authority", "hub", "pagerank"),
}
BY: Final = {**DEGREES, **RANKS}
LEVELS: Final = ("page", "site")

# As degrees.py counts for pages: distinct pairs, then sums of sums. Links within a site do not
# count.
_ENDS: Final = """
    create temp view ends as
    select source as url from captures union all select target from links
"""
_SITE_DEGREES: Final = f"""
    with pairs as (
        select distinct t.site_name as url, source, s.host, s.site
        from links join homes s on {HOST_OF.format("source")} = s.name
                   join homes t on {HOST_OF.format("target")} = t.name
        where s.site <> t.site
    ), by_host as (
        select url, site, host, count(*) as pages from pairs group by all
    ), by_site as (
        select url, site, sum(pages) as pages, count(*) as hosts from by_host group by all
    )
    select url, sum(pages)::bigint as backlinks, sum(hosts)::bigint as hosts,
           count(*)::bigint as sites
    from by_site group by url
"""  # noqa: S608


def top(
    folder: Path, clock: Clock, by: str = "backlinks", level: str = "page", limit: int = 20
) -> Any:
    """The first `limit` pages or sites as an Arrow table: url, and the columns of `BY`.

    Ranks older than the graph are computed first. Raises UsageError for an unknown order or level,
    CorruptFile for a damaged graph.
    """
    check_order(by, level)
    if by in DEGREES:
        found = _degrees(folder) if level == "page" else _site_degrees(folder)
    else:
        _compute(folder, clock, RanksRequest(hits=by != "pagerank", sites=level == "site"))
        found = ranks(folder, level)
    return _first(found, BY[by], limit)


def top_ranked(folder: Path, by: str = "pagerank", level: str = "page", limit: int = 20) -> Any:
    """The same by the stored ranks, however old; empty if there are none."""
    check_order(by, level)
    return _first(ranks(folder, level), RANKS[by], limit)


def _compute(folder: Path, clock: Clock, wanted: RanksRequest) -> None:
    """Bring the ranks up to date; if nothing may be written, the stored ones are used."""
    try:
        compute(folder, clock, wanted)
    except DiskFault as fault:
        is_denied = is_denied_error(fault.__cause__ or fault)
        if not is_denied or find_info(folder) is None:
            raise


def check_order(by: str, level: str) -> None:
    """Raise UsageError for an unknown order or level."""
    if by not in BY:
        raise UsageError(f"--by {by!r} is unknown{nearest(by, BY)}; use {_listed(BY)}")
    if level not in LEVELS:
        raise UsageError(f"--level {level!r} is unknown; use {_listed(LEVELS)}")


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}"


def _degrees(folder: Path) -> Iterator[Any]:
    for batch in degrees(folder):
        yield batch.rename_columns({"target": "url", "pages": "backlinks"})


def _site_degrees(folder: Path) -> Iterator[Any]:
    with opened(folder) as connection:
        connection.execute(_ENDS)
        name_homes(connection, "ends", "url")
        yield from answers(connection, _SITE_DEGREES)


def _first(batches: Iterable[Any], columns: tuple[str, ...], limit: int) -> Any:
    names = ["url", *columns]
    best = None
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(names)
        whole = table if best is None else pa.concat_tables([best, table])
        ordered = whole.sort_by([(columns[0], "descending"), ("url", "ascending")])
        best = ordered.slice(0, limit)
    return best if best is not None else pa.table({name: pa.array([]) for name in names})
