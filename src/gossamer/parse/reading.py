"""One walk over a tree: links, title, headings, and the facts in `meta` and `link`.

Each list is bounded, so that a hostile page costs no more than its size: 20,000 links by default,
64 headings of 300 characters, 1,000 characters of any one `meta`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from turbohtml import Document, Element, Namespace

from gossamer.parse.anchors import AROUND, ElementLines, fold, links_of_anchors
from gossamer.parse.directives import NAMES, in_meta
from gossamer.parse.language.language import declared_language
from gossamer.parse.links import LinkReader
from gossamer.parse.listing import Listing, listing_of
from gossamer.parse.places import AROUND_LINKS, INERT, places_of, places_of_inert
from gossamer.parse.refresh import refresh_target
from gossamer.parse.relations import relation_of
from gossamer.parse.text_walk import PageText, page_text_of
from gossamer.records import Link, LinkKind, Place
from gossamer.settings import Parse
from gossamer.urls.canonical import parse

_MAX_HEADINGS: Final = 64
_MAX_HEADING_CHARS: Final = 300
_MAX_META_CHARS: Final = 1000
_MAX_REFRESHES: Final = 16  # one is usual; each costs a look at all its ancestors
# Listed elements per allowed link: includes headings, metas and landmarks.
_LISTED_PER_LINK: Final = 4
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_OWN: Final = ("html", "base", "link", "meta", "title")
_NOTHING: Final = PageText("", {})
_ANY_BASE: Final = "http://base.invalid/"  # a relative URL is valid with any base


@dataclass(slots=True)
class Reading:
    """The results of a walk so far."""

    title: str = ""
    description: str = ""
    canonical: str = ""
    generator: str = ""
    language: str = ""
    base: str | None = None  # of the first `base` with an address, as written
    text: str = ""
    has_title: bool = False
    refreshes_left: int = _MAX_REFRESHES  # how many may still be checked; 0 once one counts
    headings: list[str] = field(default_factory=list)
    robots: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    lines: Sequence[int] = ()  # of the links


class TreeReader:
    """Reads trees, by the settings of one crawl.

    A bare reader reads what following links needs, without link texts, places and headings, which
    are for the graph and for people.
    """

    def __init__(self, settings: Parse, wants_media: frozenset[str], is_bare: bool) -> None:
        self._links = LinkReader(0 if is_bare else settings.max_anchor_chars, wants_media)
        self._max_links = settings.max_links
        self._is_bare = is_bare
        self._own = frozenset({*self._links.tags, *_OWN})
        tags = ("a", *self._own, INERT)
        self._listed = tags if is_bare else (*tags, *_HEADINGS, *AROUND_LINKS)

    def read(self, document: Document) -> Reading:
        """Walk the tree once for elements, and once for text."""
        most = _LISTED_PER_LINK * self._max_links + 1000
        listing = listing_of(document, self._listed, most)
        places = places_of_inert(listing) if self._is_bare else places_of(document, listing)
        page_text = _NOTHING if self._is_bare else page_text_of(document)
        reading = Reading(text=page_text.text)
        others = self._read_own(reading, listing, places)
        if not self._is_bare:
            reading.headings = _headings(listing, places, page_text.words)
        at, links = links_of_anchors(listing, places, page_text.words, self._links.max_chars)
        if others:
            at, links = _merged(others, at, links)
        reading.links = links[: self._max_links]
        if not self._is_bare:
            reading.lines = ElementLines(listing.elements, at[: self._max_links])
        return reading

    def _read_own(
        self,
        reading: Reading,
        listing: Listing,
        places: Sequence[Place | None],
    ) -> list[tuple[int, Link]]:
        """Read elements that are neither anchor nor heading. Return their links, each with its
        index.
        """
        found: list[tuple[int, Link]] = []
        for i in [i for i in listing.others if listing.tags[i] in self._own]:
            element, tag, place = listing.elements[i], listing.tags[i], places[i]
            if place is None:
                continue
            links: Iterable[Link] = ()
            if tag == "link":
                relation = relation_of(element.attr("rel") or "")
                href = element.attr("href")
                links = self._links.of_link(href, element.attr("title"), relation, place)
                if relation.is_canonical and not reading.canonical:
                    reading.canonical = (href or "").strip()
            elif tag == "meta":
                header = element.attr("http-equiv")
                read_meta(reading, element.attr("name"), header, element.attr("content"))
                if header and header.strip().lower() == "refresh":
                    links = _refresh(reading, element, place)
            elif tag in self._links.tags:
                links = self._links.others(element, tag, place)
            else:
                _read_once(reading, element, tag)
            if links:
                found += [(i, link) for link in links]
        return found


def _merged(
    others: list[tuple[int, Link]], at: Sequence[int], links: list[Link]
) -> tuple[list[int], list[Link]]:
    """All links in document order, and their indices. Most of the others are in the head."""
    if at and others[-1][0] > at[0]:
        pairs = sorted([*others, *zip(at, links, strict=True)], key=itemgetter(0))
        return [i for i, _ in pairs], [link for _, link in pairs]
    return [*[i for i, _ in others], *at], [*[link for _, link in others], *links]


def _headings(
    listing: Listing, places: Sequence[Place | None], words: Mapping[Element, str]
) -> list[str]:
    tags = listing.tags
    at = [i for i in listing.others if tags[i] in _HEADINGS and places[i] is not None]
    said = (words.get(listing.elements[i], "") for i in at[:_MAX_HEADINGS])
    return [heading[:_MAX_HEADING_CHARS] for heading in said if heading]


def _read_once(reading: Reading, element: Element, tag: str) -> None:
    """Read an element of which a page should have one."""
    match tag:
        case "html":
            language = element.attr("lang") or element.attr("xml:lang")
            reading.language = declared_language(language or "")
        case "base":
            reading.base = element.attr("href") if reading.base is None else reading.base
        case "title":
            if not reading.has_title and element.namespace is Namespace.HTML:
                reading.has_title = True
                reading.title = fold(element.text)[:_MAX_META_CHARS]


def read_meta(reading: Reading, name: str | None, header: str | None, content: str | None) -> None:
    """Apply a `meta`, by its name or its http-equiv."""
    content = content or ""
    if name:
        match name.strip().lower():
            case "description":
                reading.description = reading.description or fold(content)[:_MAX_META_CHARS]
            case "generator":
                reading.generator = reading.generator or fold(content)[:_MAX_META_CHARS]
            case known if known in NAMES:
                reading.robots |= in_meta(content)
    if header and header.strip().lower() == "content-language":
        reading.language = reading.language or declared_language(content)


def _refresh(reading: Reading, element: Element, place: Place) -> Sequence[Link]:
    """The link of a refresh, if browsers would use it: the first one with a valid URL counts.

    One with an invalid URL is a link too, so that reports can show it.
    """
    if not reading.refreshes_left:
        return ()
    reading.refreshes_left -= 1
    target = refresh_target(element.attr("content") or "")
    if target is None or element.closest("noscript") is not None:
        return ()
    href = target.strip(AROUND)
    if not href or parse(href, _ANY_BASE) is not None:
        reading.refreshes_left = 0
    return (Link(href, LinkKind.REFRESH, place=place),) if href else ()
