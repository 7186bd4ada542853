"""The links of the `a` elements of a page.

Nine of ten links are anchors, so they are read by columns: all addresses, then all relations, then
all texts. One loop in C per column takes half the time of one function call per link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, repeat
from typing import Final, overload

from turbohtml import Element

from gossamer.parse.listing import Listing
from gossamer.parse.relations import relation_of
from gossamer.records import Link, LinkKind, Place

# C0 controls and space, which the URL standard strips
AROUND: Final = "".join(map(chr, range(0x21)))


def links_of_anchors(
    listing: Listing,
    places: Sequence[Place | None],
    words: Mapping[Element, str],
    max_chars: int,
) -> tuple[Sequence[int], list[Link]]:
    """The links of the `a` elements in a listing, and the index of each.

    `places` are those of all its elements, `words` those of the `a` elements that have text. An `a`
    without place or address is not a link. Without `max_chars` links have no text, and fragments
    are dropped.
    """
    at = listing.anchors
    if None in places:
        at = [i for i in at if places[i] is not None]
    anchors = [listing.elements[i] for i in at]
    hrefs = list(map(Element.attr, anchors, repeat("href")))
    if None in hrefs:
        for n, href in enumerate(hrefs):
            if href is None:
                hrefs[n] = anchors[n].attr("xlink:href")  # of SVG
        has_address = [href is not None for href in hrefs]
        at = list(compress(at, has_address))
        anchors = list(compress(anchors, has_address))
    written = [href.strip(AROUND) for href in hrefs if href is not None]
    if not max_chars:
        written = [href.partition("#")[0] for href in written]
    rels = map(Element.attr, anchors, repeat("rel"))
    columns = zip(
        written,
        repeat(LinkKind.ANCHOR),
        [words.get(anchor, "")[:max_chars] for anchor in anchors] if max_chars else repeat(""),
        [relation_of(rel).words if rel else "" for rel in rels],
        [places[i] for i in at],
        strict=False,  # two of the columns are endless
    )
    # Makes a Link of a tuple in a third of the time of Link(...).
    return at, list(map(tuple.__new__, repeat(Link), columns))


class ElementLines(Sequence[int]):
    """The source line of each element, from 1; 0 if unknown.

    They are computed on demand, which is only for links that are not valid URLs.
    """

    def __init__(self, elements: Sequence[Element], at: Sequence[int]) -> None:
        self._elements = elements
        self._at = at

    def __len__(self) -> int:
        return len(self._at)

    @overload
    def __getitem__(self, n: int) -> int: ...
    @overload
    def __getitem__(self, n: slice) -> Sequence[int]: ...
    def __getitem__(self, n: int | slice) -> int | Sequence[int]:
        if isinstance(n, slice):
            return ElementLines(self._elements, self._at[n])
        return self._elements[self._at[n]].source_line or 0


def fold(text: str) -> str:
    """Each run of white space as one space, none at the ends."""
    return " ".join(text.split())
