"""The dates that sitemaps and feeds give for the pages that they list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gossamer.parse.documents.sitemap import Sitemap
from gossamer.records import ListedUrl
from gossamer.urls.linker import Linker


def listed_in_sitemap(linker: Linker, base: str, sitemap: Sitemap) -> tuple[ListedUrl, ...]:
    """All pages of a sitemap: one that is not listed any more may be gone."""
    return listed_urls(linker, base, [(one.url, one.modified_at) for one in sitemap.urls])


def listed_urls(
    linker: Linker, base: str, dated: Sequence[tuple[str, str]]
) -> tuple[ListedUrl, ...]:
    """The URLs in canonical form, each once with its latest date. Those that are no URLs are left
    out; 0 is the date of a URL without one."""
    if not dated:  # as of nearly every page
        return ()
    resolved = linker.resolve_all(base, [href for href, _ in dated])
    latest: dict[bytes, int] = {}
    for one, (_, written) in zip(resolved, dated, strict=True):
        if one is not None:
            latest[one[1]] = max(latest.get(one[1], 0), _microseconds(written))
    return tuple(ListedUrl(key, modified_us) for key, modified_us in latest.items())


def _microseconds(written: str) -> int:
    """Of `2004-10-01T18:23:17Z`; 0 of an empty text."""
    return max(0, int(datetime.fromisoformat(written).timestamp()) * 1_000_000) if written else 0
