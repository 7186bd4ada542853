"""Parse bytes to a page. The facade of this folder.

`Parser.parse` takes any bytes and returns a page, in linear time; it never raises for content of a
server. HTML and XHTML are read here and give all that a page can have; `documents/documents.py`
reads other types. Most pages are read without a tree (`scan.py`). The others, and those whose
images are wanted, are read with a tree (`reading.py`); both give the same result. Links in the
headers come after those of the body.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator, Sequence
from typing import Final

import turbohtml
from msgspec import structs

from gossamer.parse.charset import decode, html_charset, xml_charset
from gossamer.parse.directives import in_headers
from gossamer.parse.documents.documents import DocumentReader, kind_of
from gossamer.parse.language.language import language_of
from gossamer.parse.link_headers import links_in_headers
from gossamer.parse.mime import parse_mime
from gossamer.parse.reading import Reading, TreeReader
from gossamer.parse.scan import scanner_of
from gossamer.records import Link, Page
from gossamer.settings import Parse
from gossamer.urls.query import spelled_in

_VOID: Final = frozenset({
    "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
})  # fmt: skip
_EMPTY_TAG: Final = re.compile(r"<([A-Za-z][A-Za-z0-9]*)((?:[\t\n\r ][^<>]*)?)/>")


class Parser:
    """Turns responses into pages, by the settings of one crawl."""

    def __init__(
        self,
        settings: Parse,
        wants_media: frozenset[str] = frozenset(),
        is_bare: bool = False,
    ) -> None:
        """`is_bare`: a page is only followed and archived. It has links with their relations, base,
        title, canonical address, directives and the declared language, but no text, no headings,
        and no text and place of links.
        """
        self.wants_media = wants_media
        self._is_bare = is_bare
        self._language_chars = 0 if is_bare else settings.language_chars
        self._tree = TreeReader(settings, wants_media, is_bare)
        self._scanner = scanner_of(settings, wants_media, is_bare)
        self._documents = DocumentReader(settings, wants_media)
        self._wants_styles = bool(wants_media & {"image", "any"})

    def parse(
        self,
        url: str,
        content_type: str,
        body: bytes,
        header_robots: Sequence[str] = (),
        header_links: Sequence[str] = (),
    ) -> Page:
        """The page at `url`. `body` is without content coding. `header_robots` are the values of
        its X-Robots-Tag headers, `header_links` those of its Link headers.
        """
        mime = parse_mime(content_type)
        robots = in_headers(header_robots)
        match kind_of(mime, body):
            case "html":
                charset = html_charset(body, mime.charset)
                reading = self._scan(body) if charset == "utf-8" else None
                if reading is None:
                    reading = self._read(decode(body, charset))
                page = self._page(url, reading, charset)
            case "xhtml":
                charset = xml_charset(body, mime.charset)
                reading = self._read(with_closed_tags(decode(body, charset)))
                page = self._page(url, reading, charset)
            case kind:
                page = self._documents.read(kind, url, body, mime.charset)
                if self._is_bare:
                    page = structs.replace(page, text="")
        if header_links:
            page = _with_links(page, header_links)
        return structs.replace(page, robots=page.robots | robots) if robots else page

    def _scan(self, body: bytes) -> Reading | None:
        """A page in UTF-8, which is mostly read without changes."""
        if self._scanner is None:
            return None
        return self._scanner.read(body.removeprefix(codecs.BOM_UTF8))

    def _read(self, source: str) -> Reading:
        reading = self._scanner.read(source) if self._scanner else None
        return self._read_tree(turbohtml.parse(source)) if reading is None else reading

    def _page(self, url: str, reading: Reading, charset: str) -> Page:
        return Page(
            base=url if reading.base is None else _base_of(url, reading.base),
            charset=charset,
            title=reading.title,
            headings=tuple(reading.headings),
            text=reading.text,
            language=language_of(reading.text, reading.language, self._language_chars),
            description=reading.description,
            canonical=reading.canonical,
            robots=frozenset(reading.robots),
            links=_spelled(reading.links, charset),
            lines=reading.lines,
            generator=reading.generator,
        )

    def _read_tree(self, document: turbohtml.Document) -> Reading:
        reading = self._tree.read(document)
        if self._wants_styles and (styled := [*self._style_links(document)]):
            reading.links += styled
            reading.lines = (*reading.lines, *(0 for _ in styled)) if reading.lines else ()
        return reading

    def _style_links(self, document: turbohtml.Document) -> Iterator[Link]:
        """Files named in the page's own style sheets and style attributes."""
        for element in document.select("style"):
            yield from self._documents.links_in_css(element.text)
        for element in document.select("[style]"):
            style = element.attr("style") or ""
            if "url(" in style.lower():
                yield from self._documents.links_in_css(style)


def _spelled(links: Sequence[Link], charset: str) -> tuple[Link, ...]:
    """Links with their queries in the charset of the page, as browsers send them."""
    if charset == "utf-8":
        return tuple(links)
    spelled = ((link, spelled_in(charset, link.href)) for link in links)
    return tuple(link if href == link.href else link._replace(href=href) for link, href in spelled)


def _base_of(url: str, href: str) -> str:
    """The base URL of a page at `url` whose `base` element has this address."""
    return turbohtml.parse(f'<base href="{html.escape(href)}">').base_url(url)


def _with_links(page: Page, header_links: Sequence[str]) -> Page:
    links, canonical = links_in_headers(header_links)
    if not links:
        return page
    lines = (*page.lines, *(0 for _ in links)) if page.lines else ()
    return structs.replace(
        page,
        links=(*page.links, *links),
        lines=lines,
        canonical=page.canonical or canonical,
    )


def with_closed_tags(xhtml: str) -> str:
    """XHTML for an HTML parser: `<script/>` and `<a/>` get an end tag.

    An HTML parser is used for XHTML too, because most of it is not well-formed. It would read
    `<script/>` as the start of a script that contains the rest of the page.
    """

    def closed(tag: re.Match[str]) -> str:
        return tag[0] if tag[1].lower() in _VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>"

    return _EMPTY_TAG.sub(closed, xhtml)
