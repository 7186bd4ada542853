"""The anchor texts of every URL, host or site, with counts.

Links in one page with the same text count as one page; counts are sums of sums, as in `degrees.py`.
Links without text, such as redirects, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gossamer.graph.degrees import HOST_OF, name_homes, number_pages
from gossamer.graph.network import URLS, check_level
from gossamer.graph.tables import answers, opened

_ANCHORS: Final = """
    with pairs as (
        select {target} as target, anchor, p.site, p.host, p.page, count(*) as links
        from links l join pages p using (source) {joined} where anchor <> '' group by all
    ), by_host as (
        select target, anchor, site, host, count(*) as pages, sum(links) as links
        from pairs group by all
    ), by_site as (
        select target, anchor, site, count(*) as hosts, sum(pages) as pages, sum(links) as links
        from by_host group by all
    )
    select target, anchor, count(*)::bigint as sites, sum(hosts)::bigint as hosts,
           sum(pages)::bigint as pages, sum(links)::bigint as links
    from by_site group by target, anchor order by target, anchor
"""


def anchors(folder: Path, level: str = "page") -> Iterator[Any]:
    """Record batches: target anchor sites hosts pages links.

    Raises UsageError for an unknown level, CorruptFile.
    """
    check_level(level)
    target, joined = "l.target", ""
    if level != "page":
        target = "t.name" if level == "host" else "t.site_name"
        joined = f"join homes t on t.name = {HOST_OF.format('l.target')}"
    with opened(folder) as connection:
        name_homes(connection, URLS, "url")
        number_pages(connection)
        yield from answers(connection, _ANCHORS.format(target=target, joined=joined))
