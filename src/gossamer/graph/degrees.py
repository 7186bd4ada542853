"""Count the pages, hosts and sites that link to a URL.

A page that links twice counts once, and links of a page to itself do not count. A host has one
site, so the counts are sums of sums: (target, page) is made distinct, then summed by host, by site
and by target. Each step is a grouping that spills to disk, never a set of pages per target.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb

from gossamer.graph.arrow import pa
from gossamer.graph.tables import answers, opened
from gossamer.urls.site import site_of

# Of a canonical URL, which has no user: the name or the bracketed address.
HOST_OF: Final = r"regexp_extract({}, '^[^:]+://(\[[^\]]*\]|[^/:?#]+)', 1)"

_PAGES: Final = f"""
    create temp table pages as
    select source, row_number() over ()::integer as page, host, site
    from (select source, {HOST_OF.format("source")} as name from captures)
    join homes using (name)
"""  # noqa: S608
_DEGREES: Final = """
    with pairs as (
        select distinct target, page, host, site
        from links join pages using (source) where source <> target
    ), by_host as (
        select target, site, host, count(*) as pages from pairs group by all
    ), by_site as (
        select target, site, sum(pages) as pages, count(*) as hosts from by_host group by all
    )
    select target, sum(pages)::bigint as pages, sum(hosts)::bigint as hosts,
           count(*)::bigint as sites
    from by_site group by target order by target
"""


def degrees(folder: Path) -> Iterator[Any]:
    """Record batches of every linked URL, fetched or not: target pages hosts sites.

    Raises CorruptFile.
    """
    with opened(folder) as connection:
        name_homes(connection)
        number_pages(connection)
        yield from answers(connection, _DEGREES)


def number_pages(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the table `pages` of all pages, numbered, with the numbers of their host and site.

    `homes` must exist.
    """
    connection.execute(_PAGES)


def name_homes(
    connection: duckdb.DuckDBPyConnection, of: str = "captures", url: str = "source"
) -> None:
    """Create the table `homes`: the hosts of all URLs in a column, numbered, and their sites.

    name, site_name: texts; host, site: their numbers.
    """
    sql = f"select distinct {HOST_OF.format(url)} as name from {of} order by name"  # noqa: S608
    names = [row[0] for row in connection.execute(sql).fetchall()]
    sites = [site_of(name) for name in names]
    numbers = {site: number for number, site in enumerate(dict.fromkeys(sites))}
    columns = {
        "name": pa.array(names, pa.string()),
        "host": pa.array(range(len(names)), pa.int32()),
        "site_name": pa.array(sites, pa.string()),
        "site": pa.array([numbers[site] for site in sites], pa.int32()),
    }
    connection.register("homes_here", pa.table(columns))
    connection.execute("create or replace temp table homes as from homes_here")
    connection.unregister("homes_here")
