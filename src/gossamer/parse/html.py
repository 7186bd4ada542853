"""Bytes to a page. The facade of this folder.

`Parser.parse` takes any bytes and gives a page, in time linear in their number; it never raises on
what a server sent. HTML and XHTML give all that a page has, plain text its text, other types an
empty page. The tree is walked once for links and metadata and once for the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import turbohtml
from turbohtml import PlainText

from gossamer.parse.charset import decode, html_charset, text_charset, xml_charset
from gossamer.parse.directives import in_headers
from gossamer.parse.language import language_of
from gossamer.parse.mime import Mime, looks_like_html, parse_mime
from gossamer.parse.reading import TreeReader
from gossamer.records import Page
from gossamer.settings import Parse

Kind = Literal["html", "xhtml", "text", "other"]

_TEXT: Final = PlainText(bullet="", layout="strict")
_XML_TYPES: Final = frozenset({"application/xml", "text/xml"})
_XHTML_START: Final = re.compile(rb"<html[\s>]", re.IGNORECASE)
_VOID: Final = frozenset({
    "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
})  # fmt: skip
_EMPTY_TAG: Final = re.compile(r"<([A-Za-z][A-Za-z0-9]*)((?:[\t\n\r ][^<>]*)?)/>")


class Parser:
    """Makes pages of answers, by the settings of one crawl."""

    def __init__(
        self,
        settings: Parse,
        wants_media: frozenset[str] = frozenset(),
        is_bare: bool = False,
    ) -> None:
        """`is_bare`: a page is only followed and archived. It has the links with their relations,
        base, title, canonical address, directives and the declared language; no text, headings,
        words and places of links."""
        self._is_bare = is_bare
        self._language_chars = 0 if is_bare else settings.language_chars
        self._tree = TreeReader(settings, wants_media, is_bare)

    def parse(
        self, url: str, content_type: str, body: bytes, header_robots: Sequence[str] = ()
    ) -> Page:
        """The page at `url`. `body` is without content coding; `header_robots` are the values
        of its X-Robots-Tag headers."""
        mime = parse_mime(content_type)
        robots = in_headers(header_robots)
        match kind_of(mime, body):
            case "html":
                charset = html_charset(body, mime.charset)
                page = self._page(url, turbohtml.parse(body, encoding=charset), charset)
            case "xhtml":
                charset = xml_charset(body, mime.charset)
                text = with_closed_tags(decode(body, charset))
                page = self._page(url, turbohtml.parse(text), charset)
            case "text":
                charset = text_charset(body, mime.charset)
                page = self._text_page(url, decode(body, charset), charset)
            case _:
                page = Page(base=url)
        return replace(page, robots=page.robots | robots) if robots else page

    def _page(self, url: str, document: turbohtml.Document, charset: str) -> Page:
        reading = self._tree.read(document)
        text = "" if self._is_bare else document.to_text(_TEXT)
        return Page(
            base=document.base_url(url) if reading.has_base else url,
            charset=charset,
            title=reading.title,
            headings=tuple(reading.headings),
            text=text,
            language=language_of(text, reading.language, self._language_chars),
            description=reading.description,
            canonical=reading.canonical,
            robots=frozenset(reading.robots),
            links=tuple(reading.links),
            lines=reading.lines,
            generator=reading.generator,
        )

    def _text_page(self, url: str, text: str, charset: str) -> Page:
        if self._is_bare:
            return Page(base=url, charset=charset)
        language = language_of(text, "", self._language_chars)
        return Page(base=url, charset=charset, text=text, language=language)


def kind_of(mime: Mime, body: bytes) -> Kind:
    """How a body is to be read. A missing or unreadable type is told by the first bytes."""
    match mime.essence:
        case "text/html":
            return "html"
        case "application/xhtml+xml":
            return "xhtml"
        case "text/plain":
            return "text"
        case "":
            return "html" if looks_like_html(body) else "other"
        case essence if essence in _XML_TYPES and _XHTML_START.search(body, 0, 1024):
            return "xhtml"
        case _:
            return "other"


def with_closed_tags(xhtml: str) -> str:
    """XHTML as an HTML parser understands it: `<script/>` and `<a/>` are closed where they open.

    An HTML parser is used for XHTML too, because most of it is not well-formed; to it `<script/>`
    opens a script that swallows the rest of the page.
    """

    def closed(tag: re.Match[str]) -> str:
        return tag[0] if tag[1].lower() in _VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>"

    return _EMPTY_TAG.sub(closed, xhtml)
