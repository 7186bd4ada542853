"""The links of a page's `a` elements.

Nine links of ten are anchors, so they are read by columns: all addresses, then all relations, then
all words. One loop in C for each column takes half the time of one function call for each link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, repeat
from typing import Final, overload

from turbohtml import Element

from gossamer.parse.listing import Listing
from gossamer.parse.relations import relation_of
from gossamer.records import Link, LinkKind, Place

AROUND: Final = "".join(map(chr, range(0x21)))  # C0 controls and space, as the URL standard strips


def links_of_anchors(
    listing: Listing,
    places: Sequence[Place | None],
    words: Mapping[Element, str],
    max_chars: int,
) -> tuple[Sequence[int], list[Link]]:
    """The links of the `a` in a listing, and the index of each.

    `places` are those of all its elements, `words` those of the `a` that have any. An `a`
    without place or address is no link. Without `max_chars` links have no words and lead to
    pages, not to places in them.
    """
    at = listing.anchors
    if None in places:
        at = [i for i in at if places[i] is not None]
    anchors = [listing.elements[i] for i in at]
    hrefs = list(map(Element.attr, anchors, repeat("href")))
    if None in hrefs:
        for n, href in enumerate(hrefs):
            if href is None:
                hrefs[n] = anchors[n].attr("xlink:href")  # SVG's
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
        strict=False,  # two of them have no end
    )
    # A tuple made a link is what Link(...) gives, in a third of the time.
    return at, list(map(tuple.__new__, repeat(Link), columns))


class Lines(Sequence[int]):
    """The line of each element in the source, from 1; 0 where it is not known.

    They are found when somebody asks, which is only where a link is no URL.
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
            return Lines(self._elements, self._at[n])
        return self._elements[self._at[n]].source_line or 0


def fold(text: str) -> str:
    """White space runs as one space, none at the ends."""
    return " ".join(text.split())
