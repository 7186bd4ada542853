"""An archived page: select a capture, and read its content.

Reading is lazy: a body is decoded and parsed only when its text is needed. The rules are those of
the crawl (`fetch/decode.py`, `parse/`), with the collection's own limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import turbohtml

from gossamer.base.clock import exact_iso_of, iso_of
from gossamer.base.notebook import escaped, facts_table, link_to, plain, quoted
from gossamer.errors import UsageError
from gossamer.fetch.decode import Decoded, decode
from gossamer.fetch.head import Head
from gossamer.frontier.rows import CaptureRow
from gossamer.parse.charset import decode as decode_text
from gossamer.parse.documents.documents import DocumentKind, kind_of
from gossamer.parse.html import Parser
from gossamer.parse.main_part import main_part
from gossamer.parse.markdown import markdown_of
from gossamer.parse.mime import parse_mime
from gossamer.parse.text_walk import text_of
from gossamer.reader.page_links import PageLink, links_of
from gossamer.records import Page
from gossamer.settings import Parse
from gossamer.urls.canonical import NormalForm, parse
from gossamer.urls.keys import SALT_BYTES, Keys
from gossamer.urls.linker import Linker

if TYPE_CHECKING:
    from gossamer.compare.versions import PageVersion
    from gossamer.reader.page_diffs import PageDiff

_TREES: Final = ("html", "xhtml")


@dataclass(frozen=True, slots=True)
class StoredCapture:
    """One fetch of a URL, and its place in the archive."""

    at_us: int
    file: str
    offset: int  # of the response record
    length: int  # to the end of the exchange
    status: int
    type: str
    digest: str
    size_bytes: int

    @property
    def at(self) -> str:
        """The time, to the microsecond; `page(url, at=...)` finds this capture by it."""
        return exact_iso_of(self.at_us)

    @classmethod
    def of(cls, at_us: int, row: CaptureRow) -> StoredCapture:
        return cls(
            at_us,
            row.file,
            row.offset,
            row.length,
            row.status,
            row.type,
            row.digest,
            row.size_bytes,
        )


class StoredPage:
    """One stored response of a URL. Made by `CollectionReader.page`."""

    def __init__(
        self,
        *,
        url: str,
        at_us: int,
        status: int,
        head: bytes,
        raw_body: bytes,
        body_head: bytes | None = None,
        is_cut: bool = False,
        settings: Parse | None = None,
        versions: Sequence[StoredCapture] = (),
        linker: Callable[[], Linker] | None = None,
        compare: Callable[[StoredPage, StoredPage | str | None], PageDiff] | None = None,
    ) -> None:
        """`raw_body` is as sent; `body_head` describes it where `head` does not, as after a 304.
        `versions` are all captures of the URL, including this one, the newest last. `linker` makes
        the resolver of its links; without one the default rules apply. `compare` does what `diff`
        says."""
        self.url = url
        self.at_us = at_us
        self.status = status
        self.head = head
        self.raw_body = raw_body
        self.is_cut = is_cut
        self.versions = tuple(versions)
        self._described_by = Head(body_head if body_head is not None else head)
        self._settings = settings or Parse()
        self._linker = linker or _plain_linker
        self._compare = compare

    @property
    def at(self) -> str:
        """When it was fetched, to the microsecond."""
        return exact_iso_of(self.at_us)

    @cached_property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The response headers in order, with names as the server wrote them."""
        lines = self.head.decode("latin-1").replace("\r\n", "\n").split("\n")[1:]
        parted = (line.partition(":") for line in lines if line and not line[0].isspace())
        return tuple((name.strip(), value.strip()) for name, colon, value in parted if colon)

    @property
    def content_type(self) -> str:
        """The Content-Type header as received; the valid one if there are several."""
        return self._described_by.content_type()

    @cached_property
    def _decoded(self) -> Decoded:
        coding = self._described_by.first("content-encoding")
        return decode(self.raw_body, coding, self._settings.max_decoded_bytes)

    @property
    def body(self) -> bytes:
        """The body without its content codings, up to `parse.max_decoded_bytes`."""
        return self._decoded.body

    @property
    def fault(self) -> str:
        """What is wrong with the content coding of the body; usually empty."""
        return self._decoded.fault

    @cached_property
    def kind(self) -> DocumentKind:
        """How the body is read: html, xhtml, text, pdf, xml, json, css, or other."""
        return kind_of(parse_mime(self.content_type), self.body)

    @cached_property
    def page(self) -> Page:
        """The parsed page."""
        head = self._described_by
        return Parser(self._settings).parse(
            self.url, self.content_type, self.body, head.all("x-robots-tag"), head.all("link")
        )

    @property
    def html(self) -> str:
        """The source as text; empty for binary content."""
        is_text = self.kind not in ("other", "pdf")
        return decode_text(self.body, self.page.charset) if is_text else ""

    @property
    def title(self) -> str:
        return self.page.title

    @property
    def language(self) -> str:
        return self.page.language

    @property
    def text(self) -> str:
        """The text of the page; empty for binary content."""
        return self.page.text

    @cached_property
    def links(self) -> tuple[PageLink, ...]:
        """The links of the page in order, as the crawl found them."""
        return links_of(self.page, self.url, self._linker())

    def css(self, selector: str) -> list[turbohtml.Element]:
        """Elements that match a CSS selector, in document order; empty if the page is not HTML.
        URLs in them are absolute. Raises UsageError for an invalid selector.

            [link.attr("href") for link in page.css("nav a[href]")]
        """
        try:
            return self._queried.select(selector) if self.kind in _TREES else []
        except ValueError as fault:
            raise UsageError(f"{fault}") from fault

    def xpath(self, expression: str) -> Any:
        """The result of an XPath 1.0 expression: a list of elements and strings, or a number,
        string or boolean; an empty list if the page is not HTML. Raises UsageError.

            page.xpath("//h2/text()")
        """
        try:
            return self._queried.xpath(expression) if self.kind in _TREES else []
        except (ValueError, TypeError) as fault:
            raise UsageError(f"invalid XPath {expression[:200]!r}: {fault}") from fault

    @cached_property
    def _queried(self) -> turbohtml.Document:
        return self._tree()

    @property
    def markdown(self) -> str:
        """The page in Markdown, with absolute URLs; plain text is not changed."""
        if self.kind not in _TREES:
            return self.text
        return markdown_of(self._tree())

    @property
    def main_text(self) -> str:
        """The text of its main content, without menus; the whole text if it is not HTML."""
        part = main_part(self._tree()) if self.kind in _TREES else None
        return self.text if part is None else text_of(part)

    @property
    def main_markdown(self) -> str:
        """Its main content in Markdown."""
        part = main_part(self._tree()) if self.kind in _TREES else None
        return self.markdown if part is None else markdown_of(part)

    def _tree(self) -> turbohtml.Document:
        """Return a new tree with absolute links; the caller may change it."""
        document = turbohtml.parse(self.html)
        base = self.page.base
        document.rewrite_links(lambda href: _whole_link(href, base))
        return document

    @property
    def version(self) -> PageVersion:
        """What is compared of it."""
        from gossamer.compare.versions import PageVersion  # few need it

        return PageVersion(self.page, self.at_us, self.status)

    def diff(self, old: StoredPage | str | None = None) -> PageDiff:
        """What changed since an older page: the version before this one, that of a time (`7d`), or
        a given page.

            print(page.diff("7d"))

        Raises NotKnown if there is no older version, and UsageError for an invalid time.
        """
        if self._compare is not None:
            return self._compare(self, old)
        raise UsageError(f"{self.url} is not of an open collection")

    def __repr__(self) -> str:
        title = f" {quoted(self.title)}" if self.kind in _TREES else f" {plain(self.content_type)}"
        return f"<StoredPage {self.status} {plain(self.url)}{title}, {iso_of(self.at_us)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the facts, and the beginning of its text."""
        count = len(self.versions)
        facts = [
            ("URL", link_to(self.url)),
            ("status", str(self.status)),
            ("type", escaped(self.content_type)),
            ("fetched", iso_of(self.at_us)),
            ("versions", str(count) if count > 1 else ""),
            ("language", escaped(self.language)),
            ("size", f"{len(self.body):,} bytes"),
            ("links", f"{len(self.links):,}"),
            ("text", escaped(self.text, 500)),
        ]
        return facts_table(escaped(self.title) or "(no title)", facts)

    @property
    def is_noarchive(self) -> bool:
        """Whether the page says noarchive: no copy of it may be shown to others."""
        return "noarchive" in self.page.robots


def _plain_linker() -> Linker:
    return Linker(NormalForm(), Keys(bytes(SALT_BYTES)))


def _whole_link(href: str, base: str) -> str | None:
    found = parse(href, base)
    return found.href if found else None


def times_of(captures: Sequence[StoredCapture]) -> list[str]:
    """Return for each capture of one URL the time that identifies it, as `moment_of` reads it: the
    second, or the microsecond if another capture has the same second.

    `captures` are all of the URL's, in order of time.
    """
    seconds = Counter(capture.at_us // 1_000_000 for capture in captures)
    return [
        iso_of(at_us) if seconds[at_us // 1_000_000] == 1 else exact_iso_of(at_us)
        for at_us in (capture.at_us for capture in captures)
    ]


def time_among(capture: StoredCapture, captures: Sequence[StoredCapture]) -> str:
    """The same for one capture."""
    return times_of(captures)[captures.index(capture)]


def nearest_capture(captures: Sequence[StoredCapture], at_us: int | None) -> StoredCapture:
    """Return the last capture at or before a time, else the first after it; without a time, the
    newest.

    `captures` has at least one, in order of time.
    """
    if at_us is None:
        return captures[-1]
    before = [capture for capture in captures if capture.at_us <= at_us]
    return before[-1] if before else captures[0]
