"""Find the part of the page that contains an element: its nearest landmark.

Works on a listing of elements in document order: a landmark with n listed elements inside covers
the n that follow it, so no ancestors have to be walked. Landmarks are applied from the outside in.
Roles (`<div role=navigation>`) are landmarks like the tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from turbohtml import Document, Element

from gossamer.parse.listing import Listing
from gossamer.records import Place

LANDMARKS: Final = {
    "header": Place.HEADER,
    "nav": Place.NAV,
    "main": Place.MAIN,
    "aside": Place.ASIDE,
    "footer": Place.FOOTER,
}
INERT: Final = "template"  # its content is not part of the page
_AFTER_HEAD: Final = ("body", "frameset")
AROUND_LINKS: Final = ("head", *_AFTER_HEAD, *LANDMARKS)  # listed if places are needed

_LISTED: Final = frozenset({*LANDMARKS, INERT})
_ROLES: Final = {
    "banner": Place.HEADER,
    "navigation": Place.NAV,
    "main": Place.MAIN,
    "complementary": Place.ASIDE,
    "contentinfo": Place.FOOTER,
}
# Maximum number of landmarks around an element, on average. Deeper landmarks are ignored: otherwise
# the cost would be the number of elements times the number of nested landmarks.
_MOST_COVERS: Final = 16
_FEW: Final = 32
_NEAR: Final = 30  # nodes after a landmark among which the next listed element is searched

_Span = tuple[int, int, Place | None]


def places_of(document: Document, listing: Listing) -> list[Place | None]:
    """The place of each listed element; None if it is not part of the page."""
    budget = _MOST_COVERS * len(listing.elements) + 1000
    spans = _spans_of_tags(listing, budget)
    roles = _spans_of_roles(document, listing, budget)
    if roles:
        spans = sorted(spans + roles, key=lambda span: (span[0], -span[1]))
    return _painted(spans, len(listing.elements))


def places_of_inert(listing: Listing) -> list[Place | None]:
    """As `places_of` without listed landmarks: everything that is part of the page is body."""
    count = len(listing.elements)
    if INERT not in listing.tags:
        return [Place.BODY] * count
    return _painted(_spans_of_tags(listing, _MOST_COVERS * count + 1000), count)


def _spans_of_tags(listing: Listing, budget: int) -> list[_Span]:
    tags = listing.tags
    spans: list[_Span] = []
    if "head" in tags:  # a page has one, followed by one of these
        after = next((i for i in listing.others if tags[i] in _AFTER_HEAD), len(tags))
        spans.append((tags.index("head") + 1, after, Place.HEAD))
    for i in [i for i in listing.others if tags[i] in _LISTED]:
        if budget > 0:
            end = _end_of(listing.elements[i], i + 1, listing)
            spans.append((i + 1, end, LANDMARKS.get(tags[i])))
            budget -= end - i
    return spans


def _spans_of_roles(document: Document, listing: Listing, budget: int) -> list[_Span]:
    spans: list[_Span] = []
    start = 0
    for landmark in document.select("[role]"):
        place = _place_of(landmark.attr("role") or "")
        # The tag of a landmark decides; its role would say the same.
        if place is None or landmark.tag in LANDMARKS or budget <= 0:
            continue
        first = next(landmark.iter_elements(listing.wanted), None)
        if first is not None:
            try:
                start = listing.elements.index(first, start)
            except ValueError:  # after the last listed element
                break
            end = _end_of(landmark, start, listing)
            spans.append((start, end, place))
            budget -= end - start
    return spans


def _end_of(landmark: Element, start: int, listing: Listing) -> int:
    """The index of the first element after a landmark whose own elements begin at `start`.

    After a landmark that holds most of the page the next listed element is mostly near. Walking
    over the landmark would take as long as the listing did.
    """
    few = len(list(islice(landmark.iter_elements(listing.wanted), _FEW)))
    if few < _FEW:
        return start + few
    for node in islice(landmark.following, _NEAR):
        if isinstance(node, Element) and node.tag in listing.wanted:
            try:
                return listing.elements.index(node, start)
            except ValueError:  # after the last listed element
                return len(listing.elements)
    return start + len(list(landmark.iter_elements(listing.wanted)))


def _painted(spans: Sequence[_Span], count: int) -> list[Place | None]:
    """The places of `count` elements, from nested spans given from the outside in."""
    places: list[Place | None] = [Place.BODY] * count
    for start, end, place in spans:
        if places[start : start + 1] != [None]:  # everything inside an inert element is inert
            places[start:end] = [place] * (min(end, count) - start)
    return places


@lru_cache(maxsize=256)
def _place_of(role: str) -> Place | None:
    """The place of a role attribute; its first known word counts."""
    return next((_ROLES[word] for word in role.lower().split() if word in _ROLES), None)
