"""Which links stand in a page, under which words?

Followed are `a`, `area`, frames, `meta` refresh and those `link` relations that lead to a page
for people; media only where the crawl wants their kind. A link is given as written, with only
white space around it taken off; what URL it means is `urls/`'s business.

The words of a link are its text with the alt of images in it, without scripts and styles, white
space folded. `area` has its alt, a frame its title or name, `link` its title.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from turbohtml import Element, PlainText

from gossamer.records import Link, LinkKind, Place

# Relations of `link` that a person would follow. Others (stylesheet, icon, preload, pingback...)
# are for programs, and are taken only when the crawl wants anything.
FOLLOWED_RELATIONS: Final = frozenset({
    "alternate", "amphtml", "appendix", "archives", "author", "bookmark", "canonical", "chapter",
    "contents", "copyright", "first", "glossary", "help", "home", "index", "last", "license",
    "next", "prev", "previous", "privacy-policy", "search", "section", "shortlink", "start",
    "subsection", "terms-of-service", "toc", "top", "up",
})  # fmt: skip
MEDIA_TAGS: Final = (
    "img", "source", "audio", "video", "track", "object", "embed", "input", "script",
)  # fmt: skip

_AROUND: Final = "".join(map(chr, range(0x21)))  # C0 controls and space, as the URL standard strips
_WITH_IMAGES: Final = PlainText(images=True, bullet="", layout="strict")


class LinkReader:
    """Makes links of elements, by the wishes of one crawl."""

    def __init__(self, max_anchor_chars: int, wants_media: frozenset[str]) -> None:
        self._max_chars = max_anchor_chars
        self._wants = wants_media
        self._wants_any = "any" in wants_media
        self._rules: dict[str, Callable[[Element, Place], Iterator[Link]]] = {
            "area": self._area,
            "link": self._link,
            "frame": self._frame,
            "iframe": self._frame,
        }
        if wants_media:
            self._rules |= dict.fromkeys(MEDIA_TAGS, self._media)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of `anchor` and `others`."""
        return ("a", *self._rules)

    def anchor(self, element: Element, place: Place, has_images: bool) -> Link | None:
        """The link of an `a`. `has_images`: the page has any."""
        href = element.attr("href")
        if href is None and (href := element.attr("xlink:href")) is None:  # the second is SVG's
            return None
        rel = element.attr("rel")
        return Link(
            href.strip(_AROUND),
            LinkKind.ANCHOR,
            # An anchor around others, which only a table in a link makes, has no words of its own:
            # 100 anchors around one long text would cost 100 times that text.
            words_of(element, has_images)[: self._max_chars] if element.find("a") is None else "",
            fold(rel).lower() if rel else "",
            place,
            element.source_line or 0,
        )

    def others(self, element: Element, tag: str, place: Place) -> Iterator[Link]:
        """The links of an element with another of `tags`."""
        return self._rules[tag](element, place)

    def _area(self, element: Element, place: Place) -> Iterator[Link]:
        href = element.attr("href")
        if href is not None:
            yield self._made(element, href, LinkKind.AREA, element.attr("alt"), place)

    def _link(self, element: Element, place: Place) -> Iterator[Link]:
        href = element.attr("href")
        relations = (element.attr("rel") or "").lower().split()
        is_followed = not FOLLOWED_RELATIONS.isdisjoint(relations) and "stylesheet" not in relations
        if href and href.strip(_AROUND) and (is_followed or self._wants_any):
            kind = LinkKind.LINK if is_followed else LinkKind.MEDIA
            yield self._made(element, href, kind, element.attr("title"), place)

    def _frame(self, element: Element, place: Place) -> Iterator[Link]:
        source = element.attr("src")
        if source and source.strip(_AROUND):
            words = element.attr("title") or element.attr("name")
            yield self._made(element, source, LinkKind.FRAME, words, place)

    def _media(self, element: Element, place: Place) -> Iterator[Link]:
        words = element.attr("alt") or element.attr("title") or element.attr("label")
        for kind, href in _media_of(element):
            if (self._wants_any or kind in self._wants) and href.strip(_AROUND):
                yield self._made(element, href, LinkKind.MEDIA, words, place)

    def _made(
        self, element: Element, href: str, kind: LinkKind, words: str | None, place: Place
    ) -> Link:
        return Link(
            href.strip(_AROUND),
            kind,
            fold(words or "")[: self._max_chars],
            fold(element.attr("rel") or "").lower(),
            place,
            element.source_line or 0,
        )


def words_of(element: Element, has_images: bool) -> str:
    """The words in an element, folded. `has_images`: the page has any."""
    if has_images and element.find("img") is not None:
        text = element.to_text(_WITH_IMAGES)
    else:
        text = element.to_text()  # 0.3 us; with options 2
        if "* " in text and element.find("li") is not None:
            text = element.to_text(_WITH_IMAGES)  # which marks no list items
    return " ".join(text.split())


def fold(text: str) -> str:
    """White space runs as one space, none at the ends."""
    return " ".join(text.split())


def _media_of(element: Element) -> Iterator[tuple[str, str]]:
    """Kind (image, audio, video, any) and address of what an element shows or plays."""
    match element.tag:
        case "img":
            yield from _images(element)
        case "source":
            parent = element.parent
            kind = parent.tag if isinstance(parent, Element) else ""
            if kind in ("audio", "video"):
                yield kind, element.attr("src") or ""
            else:
                yield from _images(element)
        case "audio":
            yield "audio", element.attr("src") or ""
        case "video":
            yield "video", element.attr("src") or ""
            yield "image", element.attr("poster") or ""
        case "input":
            if (element.attr("type") or "").strip().lower() == "image":
                yield "image", element.attr("src") or ""
        case "object":
            yield _kind_of_type(element), element.attr("data") or ""
        case "embed":
            yield _kind_of_type(element), element.attr("src") or ""
        case _:  # track, script
            yield "any", element.attr("src") or ""


def _images(element: Element) -> Iterator[tuple[str, str]]:
    yield "image", element.attr("src") or ""
    for address in addresses_in_srcset(element.attr("srcset") or ""):
        yield "image", address


def _kind_of_type(element: Element) -> str:
    """`image` of `image/png`; `any` where no such type is given."""
    kind = (element.attr("type") or "").strip().lower().partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "any"


def addresses_in_srcset(srcset: str) -> Iterator[str]:
    """The addresses of a srcset, which may hold commas themselves: the HTML standard's reading."""
    at, end = 0, len(srcset)
    while at < end:
        while at < end and (srcset[at] in " \t\n\f\r,"):
            at += 1
        start = at
        while at < end and srcset[at] not in " \t\n\f\r":
            at += 1
        address = srcset[start:at]
        if address.endswith(","):
            yield address.rstrip(",")
            continue
        if address:
            yield address
        at = _after_descriptors(srcset, at)


def _after_descriptors(srcset: str, at: int) -> int:
    """Past the comma that ends a candidate; commas in parentheses do not."""
    depth = 0
    for i in range(at, len(srcset)):
        character = srcset[i]
        if character == "," and depth == 0:
            return i + 1
        depth += (character == "(") - (character == ")" and depth > 0)
    return len(srcset)
