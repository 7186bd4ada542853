"""The links of a page's `a` elements, and the words of elements.

Nine links of ten are anchors, so they are read by columns: all addresses, then all relations, then
all words. One loop in C for each column takes half the time of one function call for each link.

The words of an element are its text with the alt of images in it, without scripts and styles,
white space folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, repeat
from operator import attrgetter
from typing import Final

from turbohtml import Element, PlainText

from gossamer.parse.relations import relation_of
from gossamer.records import Link, LinkKind, Place

AROUND: Final = "".join(map(chr, range(0x21)))  # C0 controls and space, as the URL standard strips

_WITH_IMAGES: Final = PlainText(images=True, bullet="", layout="strict")
_line_of: Final = attrgetter("source_line")


def links_of_anchors(
    elements: Sequence[Element],
    tags: Sequence[str],
    places: Sequence[Place | None],
    max_chars: int,
) -> tuple[list[int], list[Link]]:
    """The links of the `a` among a page's listed elements, and the index of each.

    `tags` and `places` are those of the elements; images must be listed where words are wanted.
    An `a` without place or address is no link. Without `max_chars` links have no words.
    """
    at = [i for i, tag in enumerate(tags) if tag == "a" and places[i] is not None]
    anchors = [elements[i] for i in at]
    hrefs = list(map(Element.attr, anchors, repeat("href")))
    if None in hrefs:
        for i, href in enumerate(hrefs):
            if href is None:
                hrefs[i] = anchors[i].attr("xlink:href")  # SVG's
        has_address = [href is not None for href in hrefs]
        at = list(compress(at, has_address))
        anchors = list(compress(anchors, has_address))
    rels = map(Element.attr, anchors, repeat("rel"))
    columns = zip(
        [href.strip(AROUND) for href in hrefs if href is not None],
        repeat(LinkKind.ANCHOR),
        _words_of_all(anchors, at, tags, max_chars) if max_chars else repeat(""),
        [relation_of(rel).words if rel else "" for rel in rels],
        [places[i] for i in at],
        [line or 0 for line in map(_line_of, anchors)],
        strict=False,  # two of them have no end
    )
    # A tuple made a link is what Link(...) gives, in a third of the time.
    return at, list(map(tuple.__new__, repeat(Link), columns))


def _words_of_all(
    anchors: Sequence[Element], at: Sequence[int], tags: Sequence[str], max_chars: int
) -> list[str]:
    """The words of each anchor."""
    inner = list(map(Element.find, anchors, repeat("a")))
    if inner.count(None) == len(inner):
        texts = list(map(Element.to_text, anchors))  # 0.3 us each; with options 2
    else:
        # An anchor around others, which only a table in a link makes, has no words of its own:
        # 100 anchors around one long text would cost 100 times that text.
        pairs = zip(anchors, inner, strict=True)
        texts = ["" if other is not None else anchor.to_text() for anchor, other in pairs]
    if "img" in tags:
        # Before another `a`, one without others in it has no listed element in it at all.
        after = [*tags[1:], "a"]
        for n, i in enumerate(at):
            if after[i] != "a" and inner[n] is None and anchors[n].find("img") is not None:
                texts[n] = anchors[n].to_text(_WITH_IMAGES)
    if "* " in " ".join(texts):
        for n, text in enumerate(texts):
            if "* " in text and anchors[n].find("li") is not None:
                texts[n] = anchors[n].to_text(_WITH_IMAGES)  # which marks no list items
    words = [" ".join(text.split()) for text in texts]
    is_long = max(map(len, words), default=0) > max_chars
    return [text[:max_chars] for text in words] if is_long else words


def words_of(element: Element, has_images: bool) -> str:
    """The words in an element, folded. `has_images`: the page has any."""
    has_images = has_images and element.find("img") is not None
    text = element.to_text(_WITH_IMAGES) if has_images else element.to_text()
    if "* " in text and element.find("li") is not None:
        text = element.to_text(_WITH_IMAGES)
    return fold(text)


def fold(text: str) -> str:
    """White space runs as one space, none at the ends."""
    return " ".join(text.split())
