"""In which part of the page does an element stand? In the nearest landmark around it.

Works on a listing of elements in document order: a landmark with n listed elements inside covers
the n that follow it, so no element has to ask its ancestors. Landmarks are painted from outside
in. Roles (`<div role=navigation>`) are landmarks as the tags are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from turbohtml import Document, Element

from gossamer.records import Place

LANDMARKS: Final = {
    "head": Place.HEAD,
    "header": Place.HEADER,
    "nav": Place.NAV,
    "main": Place.MAIN,
    "aside": Place.ASIDE,
    "footer": Place.FOOTER,
}
INERT: Final = "template"  # its content is no part of the page

_LISTED: Final = frozenset({*LANDMARKS, INERT})
_ROLES: Final = {
    "banner": Place.HEADER,
    "navigation": Place.NAV,
    "main": Place.MAIN,
    "complementary": Place.ASIDE,
    "contentinfo": Place.FOOTER,
}
# Elements may be covered so many times over, on average; after that, deeper landmarks are not
# looked at. Keeps hundreds of landmarks in one another from costing their product.
_MOST_COVERS: Final = 16

_Span = tuple[int, int, Place | None]


def places_of(
    document: Document, elements: Sequence[Element], tags: Sequence[str], listed: Sequence[str]
) -> list[Place | None]:
    """The place of each element; None for one that is no part of the page.

    `elements` are those of `document` with a tag in `listed`, in order, from the first; `tags` are
    their tags.
    """
    places: list[Place | None] = [Place.BODY] * len(elements)
    budget = _MOST_COVERS * len(elements) + 1000
    spans: list[_Span] = []
    for i in [i for i, tag in enumerate(tags) if tag in _LISTED]:
        if budget > 0:
            inside = len(list(elements[i].iter_elements(listed)))
            spans.append((i + 1, i + 1 + inside, LANDMARKS.get(tags[i])))
            budget -= inside
    roles = _spans_of_roles(document, elements, listed, budget)
    if roles:
        spans = sorted(spans + roles, key=lambda span: (span[0], -span[1]))
    for start, end, place in spans:
        if places[start : start + 1] != [None]:  # what is inert outside is inert inside
            places[start:end] = [place] * (min(end, len(places)) - start)
    return places


def _spans_of_roles(
    document: Document, elements: Sequence[Element], listed: Sequence[str], budget: int
) -> list[_Span]:
    # A landmark's tag speaks for itself; its role would say the same.
    landmarks = [e for e in document.select("[role]") if _role(e) and e.tag not in LANDMARKS]
    if not landmarks:
        return []
    index = dict(zip(elements, range(len(elements)), strict=True))
    spans: list[_Span] = []
    for landmark in landmarks:
        if budget <= 0:
            break
        inside = list(landmark.iter_elements(listed))
        budget -= len(inside)
        if inside and inside[0] in index:
            start = index[inside[0]]
            spans.append((start, start + len(inside), _role(landmark)))
    return spans


def _role(element: Element) -> Place | None:
    """The place that an element's role names; the first known word counts."""
    words = (element.attr("role") or "").lower().split()
    return next((_ROLES[word] for word in words if word in _ROLES), None)
