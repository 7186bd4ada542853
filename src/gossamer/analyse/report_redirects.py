"""Where do redirects lead in the end? Chains of two hops or more, and loops.

Pure: told which URL redirects to which. A chain is told once, from its first URL: one that no other
redirect leads to. A loop is told once, from the least of its URLs. No URL is looked at twice, so a
web of redirects costs its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Way(NamedTuple):
    """The URLs of a chain or a loop in their order; a loop ends where it began."""

    urls: tuple[str, ...]

    @property
    def hops(self) -> int:
        return len(self.urls) - 1


def chains_of(redirects: Mapping[str, str]) -> list[Way]:
    """Chains of at least two hops, the longest first; those that end in a loop are none."""
    targets = set(redirects.values())
    found = (_followed(first, redirects) for first in redirects if first not in targets)
    chains = [way for way in found if way.hops > 1 and way.urls[-1] not in redirects]
    return sorted(chains, key=lambda way: (-way.hops, way.urls))


def loops_of(redirects: Mapping[str, str]) -> list[Way]:
    """Every loop, one of a URL to itself too."""
    seen: set[str] = set()
    loops: list[Way] = []
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


def _followed(first: str, redirects: Mapping[str, str]) -> Way:
    """The way from a URL to its end, or once round the loop that it leads into."""
    way = {first: None}
    url = first
    while (following := redirects.get(url)) is not None and following not in way:
        way[following] = None
        url = following
    return Way(tuple(way))


def _from_least(urls: list[str]) -> Way:
    start = urls.index(min(urls))
    return Way((*urls[start:], *urls[: start + 1]))
