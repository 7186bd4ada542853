"""Find hosts and directories whose pages are copies of those of another.

Two pages with the same content are a pair. What their URLs have in common at the end is cut off in
whole parts: `http://b.example/docs/x/y.html` and `http://a.example/x/y.html` are a pair of
`http://b.example/docs/` and `http://a.example/`. Two places with enough pairs, which are most of
the pages of one of them, are a mirror and its original.

Pure: gets rows, returns rows. Memory is that of the pairs of places, not that of all pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Final, NamedTuple

from gossamer.settings import Mirrors

# Of more pages with the same content only pairs with the first are counted: 100 copies would be
# 4,950 pairs.
_MOST_PAIRED: Final = 20


class SamePage(NamedTuple):
    """A page that has the same content as others. `content` is equal for those."""

    content: str
    at_us: int
    url: str
    is_inside: bool  # belongs to the site of the report


@dataclass(frozen=True, slots=True)
class SiteMirror:
    """A place (a URL that ends in a slash) whose pages are copies of those of another."""

    mirror: str
    original: str
    same: int  # pages of the mirror that the original has at the same path
    pages: int  # of the mirror

    @property
    def share(self) -> float:
        return self.same / self.pages

    def __str__(self) -> str:
        return f"{self.mirror} mirrors {self.original}: {self.same:,} of {self.pages:,} pages"


TwoPlaces = tuple[str, str]


def mirrors_of(
    same_pages: Iterable[SamePage],
    all_urls: Callable[[], Iterable[str]],
    rules: Mirrors,
) -> list[SiteMirror]:
    """The mirrors, those with the most pages first.

    `same_pages` are in the order of their content and time; `all_urls` are the URLs of all pages.
    """
    pairs, is_first = _pairs_of(same_pages)
    candidates = {places: same for places, same in pairs.items() if same >= rules.min_pages}
    if not candidates:
        return []
    pages = _pages_in({place for places in candidates for place in places}, all_urls())
    found = [
        _mirror(places, same, pages, came_first=is_first[places])
        for places, same in candidates.items()
    ]
    kept = [one for one in found if one.share >= rules.min_share]
    mirrors = {one.mirror for one in kept}
    # of several originals the one that is no mirror itself
    kept.sort(key=lambda one: (-one.same, one.original in mirrors, one.mirror, one.original))
    return list(_without_derived(kept))


def _pairs_of(same_pages: Iterable[SamePage]) -> tuple[Counter[TwoPlaces], Counter[TwoPlaces]]:
    """How many pairs two places have, and of how many the page of the first place came first."""
    pairs: Counter[TwoPlaces] = Counter()
    is_first: Counter[TwoPlaces] = Counter()
    for _, group in groupby(same_pages, key=lambda page: page.content):
        pages = list(group)
        if not any(page.is_inside for page in pages):
            continue
        both = combinations(pages, 2)
        if len(pages) > _MOST_PAIRED:
            both = ((pages[0], other) for other in pages[1:])  # type: ignore[assignment]
        for one, two in both:
            if not (one.is_inside or two.is_inside):
                continue
            first, second = _places(one.url, two.url)
            if not first:
                continue
            places = (first, second) if first < second else (second, first)
            pairs[places] += 1
            is_first[places] += places[0] == first
    return pairs, is_first


def _places(one: str, two: str) -> TwoPlaces:
    """The two URLs without the parts at the end that both have; empty if the last differs."""
    first, second = one.split("/"), two.split("/")
    while len(first) > 3 and len(second) > 3 and first[-1] == second[-1]:
        first.pop()
        second.pop()
    if len(first) == one.count("/") + 1 or first == second:
        return "", ""
    return "/".join([*first, ""]), "/".join([*second, ""])


def _pages_in(places: set[str], urls: Iterable[str]) -> Counter[str]:
    """The number of pages in each place."""
    found: Counter[str] = Counter()
    for url in urls:
        end = url.find("/", url.find("//") + 2)
        while end >= 0:
            place = url[: end + 1]
            if place in places:
                found[place] += 1
            end = url.find("/", end + 1)
    return found


def _mirror(places: TwoPlaces, same: int, pages: Counter[str], *, came_first: int) -> SiteMirror:
    """Which of two places is the mirror: that with the fewer other pages, or that which was fetched
    later.
    """
    first, second = places
    if pages[first] != pages[second]:
        is_original = pages[first] > pages[second]
    else:
        is_original = 2 * came_first >= same
    original, mirror = (first, second) if is_original else (second, first)
    return SiteMirror(mirror, original, same, pages[mirror])


def _without_derived(found: Iterable[SiteMirror]) -> Iterator[SiteMirror]:
    """Leave out mirrors within a place that is already known as a mirror of the same original, and
    mirrors of a mirror.
    """
    originals: dict[str, str] = {}
    for one in found:
        if one.mirror in originals or any(
            one.mirror.startswith(mirror) and one.original.startswith(original)
            for mirror, original in originals.items()
        ):
            continue
        originals[one.mirror] = one.original
        yield one
