"""The links of a page's `a` elements, and the words of elements.

Nine links of ten are anchors, so they are read by columns: all addresses, then all relations, then
all words. One loop in C for each column takes half the time of one function call for each link.

The words of an element are its text with the alt of images in it, without scripts and styles,
white space folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, repeat
from typing import Final, overload

from turbohtml import Element, PlainText

from gossamer.parse.listing import Listing
from gossamer.parse.relations import relation_of
from gossamer.records import Link, LinkKind, Place

AROUND: Final = "".join(map(chr, range(0x21)))  # C0 controls and space, as the URL standard strips

_WITH_IMAGES: Final = PlainText(images=True, bullet="", layout="strict")


def links_of_anchors(
    listing: Listing, places: Sequence[Place | None], max_chars: int, *, has_nested: bool
) -> tuple[Sequence[int], list[Link]]:
    """The links of the `a` in a listing, and the index of each.

    `places` are those of all its elements; images must be listed where words are wanted. An `a`
    without place or address is no link. Without `max_chars` links have no words and lead to
    pages, not to places in them. `has_nested`: some stand in others.
    """
    at, tags = listing.anchors, listing.tags
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
        repeat("")
        if not max_chars
        else _words_of_nested(anchors, max_chars)
        if has_nested
        else _words_of_anchors(anchors, at, tags, max_chars),
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


def _words_of_nested(anchors: Sequence[Element], max_chars: int) -> list[str]:
    """An anchor around others, which only a table in a link makes, has no words of its own.

    100 anchors around one long text would cost 100 times that text.
    """
    inner = list(map(Element.find, anchors, repeat("a")))
    own = [n for n, other in enumerate(inner) if other is None]
    words = [""] * len(anchors)
    for n, text in zip(own, words_of_all([anchors[n] for n in own], max_chars), strict=True):
        words[n] = text
    return words


def _words_of_anchors(
    anchors: Sequence[Element], at: Sequence[int], tags: Sequence[str], max_chars: int
) -> list[str]:
    if "img" not in tags:
        return words_of_all(anchors, max_chars, ())
    # Before another `a`, one without others in it has no listed element in it, and so no image.
    after = [*tags[1:], "a"]
    return words_of_all(anchors, max_chars, [n for n, i in enumerate(at) if after[i] != "a"])


def words_of_all(
    elements: Sequence[Element], max_chars: int, may_have_images: Iterable[int] | None = None
) -> list[str]:
    """The words of each element, folded; `may_have_images` are indices, without it of all."""
    texts = list(map(Element.to_text, elements))  # 0.2 us each; with options 2
    for n in range(len(elements)) if may_have_images is None else may_have_images:
        if elements[n].find("img") is not None:
            texts[n] = elements[n].to_text(_WITH_IMAGES)
    if "* " in " ".join(texts):
        for n, text in enumerate(texts):
            if "* " in text and elements[n].find("li") is not None:
                texts[n] = elements[n].to_text(_WITH_IMAGES)  # which marks no list items
    words = [" ".join(text.split()) for text in texts]
    is_long = max(map(len, words), default=0) > max_chars
    return [text[:max_chars] for text in words] if is_long else words


def fold(text: str) -> str:
    """White space runs as one space, none at the ends."""
    return " ".join(text.split())
