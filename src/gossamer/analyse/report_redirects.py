"""Find redirect chains of two hops or more, and redirect loops.

Pure: the input is a map from URL to redirect target. A chain is reported once, from its first URL,
to which no other redirect leads. A loop is reported once, from its smallest URL. No URL is visited
twice, so the cost is linear in the number of redirects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class RedirectChain(NamedTuple):
    """The URLs of a chain or a loop in order; a loop ends where it began."""

    urls: tuple[str, ...]

    @property
    def hops(self) -> int:
        return len(self.urls) - 1


def chains_of(redirects: Mapping[str, str]) -> list[RedirectChain]:
    """Return chains of at least two hops, the longest first, without those that end in a loop."""
    targets = set(redirects.values())
    found = (_followed(first, redirects) for first in redirects if first not in targets)
    chains = [way for way in found if way.hops > 1 and way.urls[-1] not in redirects]
    return sorted(chains, key=lambda way: (-way.hops, way.urls))


def loops_of(redirects: Mapping[str, str]) -> list[RedirectChain]:
    """Return every loop, including a URL that redirects to itself."""
    seen: set[str] = set()
    loops: list[RedirectChain] = []
    for first in sorted(redirects):
        way: dict[str, None] = {}
        url = first
        while url in redirects and url not in seen and url not in way:
            way[url] = None
            url = redirects[url]
        if url in way:
            urls = list(way)
            loops.append(_from_least(urls[urls.index(url) :]))
        seen.update(way)
    return sorted(loops)


def _followed(first: str, redirects: Mapping[str, str]) -> RedirectChain:
    """Return the path from a URL to its end, or once around the loop that it enters."""
    way = {first: None}
    url = first
    while (following := redirects.get(url)) is not None and following not in way:
        way[following] = None
        url = following
    return RedirectChain(tuple(way))


def _from_least(urls: list[str]) -> RedirectChain:
    start = urls.index(min(urls))
    return RedirectChain((*urls[start:], *urls[: start + 1]))
