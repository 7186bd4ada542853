"""Pages from other types than HTML: PDF, feeds, sitemaps, other XML, JSON feeds, style sheets,
text.

Each gives text for the index and links for the crawl, as far as it has them. Unknown XML gives text
only. JSON that is not a feed, and all other types, give an empty page: they were fetched for their
bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

import turbohtml
from msgspec import structs

from gossamer.base.clock import Clock
from gossamer.base.magic import START_BYTES, magic_of
from gossamer.parse.charset import decode, text_charset, xml_charset
from gossamer.parse.documents.css import addresses_in_css
from gossamer.parse.documents.feed import XML_ROOTS, feed_page, json_feed_page
from gossamer.parse.documents.page_entry import ENTRY_TYPE, page_of
from gossamer.parse.documents.pdf_process import PdfReader
from gossamer.parse.documents.sitemap import Sitemap, sitemap_of
from gossamer.parse.documents.xml_list import read_list
from gossamer.parse.language.language import language_of
from gossamer.parse.mime import Mime, looks_like_html
from gossamer.parse.text_walk import text_of
from gossamer.records import Link, LinkKind, Page
from gossamer.settings import Parse

DocumentKind = Literal["html", "xhtml", "text", "pdf", "xml", "json", "css", "entry", "other"]

_KINDS: Final[dict[str, DocumentKind]] = {
    "text/html": "html",
    "application/xhtml+xml": "xhtml",
    "text/plain": "text",
    "text/css": "css",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/json": "json",
    "application/feed+json": "json",
    ENTRY_TYPE: "entry",
}
_XML_TYPES: Final = frozenset({"application/xml", "text/xml", "application/x-xml"})
# Types by which servers say that the type is unknown. A PDF begins within the first KiB of its
# file.
_VAGUE: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_PDF_START: Final = re.compile(rb"%PDF-\d")
# Bytes that do not occur in text, except in UTF-16 (the MIME Sniffing standard, 3).
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_LOOK_BYTES: Final = 1445  # as many as browsers check
_UTF16_MARKS: Final = (b"\xfe\xff", b"\xff\xfe")
# `*+` is possessive: 30 comments in a row could otherwise be split in 2**30 ways.
_FEED_START: Final = re.compile(
    rb"(?:<\?xml[^>]*+>|<!--.*?-->|<!doctype[^>]*+>|\s)*+<(?:rss|feed|rdf:rdf)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_XHTML_START: Final = re.compile(rb"<html[\s>]", re.IGNORECASE)


def kind_of(mime: Mime, body: bytes) -> DocumentKind:
    """How a body is parsed. The first bytes decide if the type is missing or invalid, and if a text
    is not one: an image with the type HTML is not parsed, a feed is parsed as a feed.
    """
    essence = mime.essence
    if kind := _KINDS.get(essence):
        is_wide = "utf-16" in mime.charset.lower()
        return kind if kind == "pdf" or is_wide else _kind_of_text(kind, body)
    if essence in _VAGUE:
        if _PDF_START.search(body, 0, 1024):
            return "pdf"
        return "html" if not essence and looks_like_html(body) else "other"
    if essence in _XML_TYPES or (essence.endswith("+xml") and not essence.startswith("image/")):
        return "xhtml" if _XHTML_START.search(body, 0, 1024) else "xml"
    # Markdown, CSV and the like are for people; scripts are not.
    return "text" if essence.startswith("text/") and "script" not in essence else "other"


def _kind_of_text(kind: DocumentKind, body: bytes) -> DocumentKind:
    """The actual kind of a body that was declared as this kind of text."""
    start = body[:_LOOK_BYTES]
    if start[:1] == b"<":
        return "xml" if kind == "html" and _FEED_START.match(start) else kind
    if _PDF_START.match(start):
        return "pdf"
    if kind == "text" and start[:1] == b"{" and b"jsonfeed.org/version" in start:
        return "json"
    is_binary = not start.startswith(_UTF16_MARKS) and _BINARY.search(start) is not None
    # In HTML one unexpected byte means little; plain text with one is not text.
    return "other" if is_binary and (kind == "text" or magic_of(start[:START_BYTES])) else kind


class DocumentReader:
    """Turns documents into pages, by the settings of one crawl."""

    def __init__(
        self, settings: Parse, wants_media: frozenset[str], clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._wants = wants_media
        self._pdf_reader = PdfReader(clock, settings.pdf_memory_mb)

    def read(self, kind: DocumentKind, url: str, body: bytes, charset: str) -> Page:
        """The page of a document. `charset` is the label of the HTTP header."""
        match kind:
            case "text":
                named = text_charset(body, charset)
                page = Page(base=url, charset=named, text=decode(body, named))
            case "pdf":
                page = self._pdf(url, body)
            case "xml":
                named = xml_charset(body, charset)
                page = structs.replace(self._xml(url, decode(body, named)), charset=named)
            case "json":
                named = xml_charset(body, charset)
                feed = json_feed_page(url, decode(body, named), self._wants)
                page = structs.replace(feed or Page(base=url), charset=named)
            case "css":
                named = text_charset(body, charset)
                links = tuple(self.links_in_css(decode(body, named)))
                page = Page(base=url, charset=named, links=links)
            case "entry":
                return page_of(body, url, self._settings.max_links)
            case _:
                return Page(base=url)
        if len(page.links) > self._settings.max_links and kind != "xml":
            page = structs.replace(page, links=page.links[: self._settings.max_links])
        language = language_of(page.text, page.language, self._settings.language_chars)
        return structs.replace(page, language=language)

    def links_in_css(self, css: str) -> Iterator[Link]:
        """Files in a style sheet; none if the crawl does not want such files."""
        if self._wants & {"image", "any"}:
            for address in addresses_in_css(css):
                yield Link(address, LinkKind.MEDIA)

    def _xml(self, url: str, source: str) -> Page:
        listed = read_list(source, self._settings.max_links)
        if listed.root in XML_ROOTS:
            return feed_page(url, listed, self._wants)
        sitemap = sitemap_of(url, listed)
        if isinstance(sitemap, Sitemap):
            return Page(base=url, links=tuple(links_of_sitemap(sitemap, self._wants)))
        return Page(base=url, text=text_of(turbohtml.parse(source)))

    def _pdf(self, url: str, body: bytes) -> Page:
        limits = self._settings
        reading = self._pdf_reader.read(body, limits.pdf_pages, limits.max_links, limits.pdf_time_s)
        return Page(
            base=url,
            title=reading.title,
            text="\n".join(reading.texts),
            links=tuple(reading.links),
            lines=tuple(reading.pages),
        )


def links_of_sitemap(sitemap: Sitemap, wants_media: frozenset[str]) -> Iterator[Link]:
    """All URLs of a sitemap; files on its pages if the crawl wants their kind."""
    for one in sitemap.urls:
        yield Link(one.url, LinkKind.LINK)
        for other in one.alternates:
            yield Link(other, LinkKind.LINK, rel="alternate")
        for kind, address in one.media:
            if kind in wants_media or "any" in wants_media:
                yield Link(address, LinkKind.MEDIA)
