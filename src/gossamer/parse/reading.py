"""One walk over a tree: links, title, headings, and what `meta` and `link` say of the page.

Each list is bounded, so that a hostile page costs no more than its size: 20,000 links by default,
64 headings of 300 characters, 1,000 characters of any one `meta`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from turbohtml import Document, Element, Namespace

from gossamer.parse.directives import NAMES, in_meta
from gossamer.parse.language import declared_language
from gossamer.parse.links import LinkReader, fold, words_of
from gossamer.parse.places import INERT, LANDMARKS, places_of
from gossamer.records import Link, LinkKind, Place

_MAX_HEADINGS: Final = 64
_MAX_HEADING_CHARS: Final = 300
_MAX_META_CHARS: Final = 1000
# Listed elements for each link that may be taken: headings, metas and landmarks beside them.
_LISTED_PER_LINK: Final = 4
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_OTHER: Final = frozenset({"html", "base", "meta", "title"})


@dataclass(slots=True)
class Reading:
    """What a walk has found so far."""

    title: str = ""
    description: str = ""
    canonical: str = ""
    generator: str = ""
    language: str = ""
    has_base: bool = False
    has_title: bool = False
    headings: list[str] = field(default_factory=list)
    robots: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)


def read_tree(document: Document, reader: LinkReader, max_links: int) -> Reading:
    """Walk the tree once."""
    other_links = frozenset(reader.tags) - {"a"}
    listed = ["a", "img", *other_links, *_HEADINGS, *_OTHER, *LANDMARKS, INERT]
    most = _LISTED_PER_LINK * max_links + 1000
    elements = list(islice(document.iter_elements(listed), most))
    tags = [element.tag for element in elements]
    places = places_of(document, elements, tags, listed)
    reading, has_images = Reading(), "img" in tags
    for element, tag, place in zip(elements, tags, places, strict=True):
        if place is None:
            continue
        if tag == "a":
            link = reader.anchor(element, place, has_images)
            if link is not None:
                reading.links.append(link)
        elif tag in _HEADINGS:
            if len(reading.headings) < _MAX_HEADINGS:
                _read_heading(reading, words_of(element, has_images))
        elif tag in _OTHER:
            _read_other(reading, document, element, tag, place)
        elif tag in other_links:
            reading.links.extend(reader.others(element, tag, place))
            if tag == "link":
                _read_link(reading, element)
    del reading.links[max_links:]
    return reading


def _read_heading(reading: Reading, words: str) -> None:
    if words:
        reading.headings.append(words[:_MAX_HEADING_CHARS])


def _read_link(reading: Reading, element: Element) -> None:
    relations = (element.attr("rel") or "").lower().split()
    if "canonical" in relations and not reading.canonical:
        reading.canonical = (element.attr("href") or "").strip()


def _read_other(
    reading: Reading, document: Document, element: Element, tag: str, place: Place
) -> None:
    match tag:
        case "html":
            tags = (element.attr("lang"), element.attr("xml:lang"))
            reading.language = declared_language(next((t for t in tags if t), ""))
        case "base":
            reading.has_base = True
        case "title":
            if not reading.has_title and element.namespace is Namespace.HTML:
                reading.has_title = True
                reading.title = fold(element.text)[:_MAX_META_CHARS]
        case _:
            _read_meta(reading, document, element, place)


def _read_meta(reading: Reading, document: Document, element: Element, place: Place) -> None:
    content = element.attr("content") or ""
    match (element.attr("http-equiv") or "").strip().lower():
        case "refresh":
            _read_refresh(reading, document, element, place)
        case "content-language":
            reading.language = reading.language or declared_language(content)
    match (element.attr("name") or "").strip().lower():
        case "description":
            reading.description = reading.description or fold(content)[:_MAX_META_CHARS]
        case "generator":
            reading.generator = reading.generator or fold(content)[:_MAX_META_CHARS]
        case name if name in NAMES:
            reading.robots |= in_meta(content)


def _read_refresh(reading: Reading, document: Document, element: Element, place: Place) -> None:
    """The first refresh of a page is the one that browsers follow."""
    if any(link.kind is LinkKind.REFRESH for link in reading.links):
        return
    refresh = document.meta_refresh()
    if refresh is not None and refresh[1]:
        line = element.source_line or 0
        reading.links.append(Link(refresh[1], LinkKind.REFRESH, place=place, line=line))
