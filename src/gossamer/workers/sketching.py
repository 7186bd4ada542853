"""What a report says about a page so that its duplicates are found, by mode."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import Final

from gossamer.policies.duplicates import FRAMESET, HTML, TEXT
from gossamer.records import LinkKind, Page
from gossamer.settings import DuplicateMode

SketchPage = Callable[[str, bytes, Page], bytes]

_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_KIND: Final = attrgetter("kind")
_FRAMESET: Final = re.compile(rb"<frameset[\s>]", re.IGNORECASE)


def sketcher_for(mode: DuplicateMode) -> SketchPage:
    """The function that makes the sketch of a page from its type, body and content."""
    match mode:
        case "none":
            return _nothing
        case "exact":
            return _of_frameset
        case "near":
            return _of_text
        case "html95":
            return _of_html


def _nothing(_type: str, _body: bytes, _page: Page) -> bytes:
    return b""


def _of_frameset(type: str, body: bytes, page: Page) -> bytes:
    return FRAMESET if type in _HTML_TYPES and _is_frameset(body, page) else b""


def _of_text(type: str, body: bytes, page: Page) -> bytes:
    # imported here: a crawl in another mode does not need it
    from gossamer.duplicates.masked_text import text_fingerprint

    if type in _HTML_TYPES and _is_frameset(body, page):
        return FRAMESET
    fingerprint = text_fingerprint(page.title, page.text)
    return TEXT + fingerprint if fingerprint else b""


def _of_html(type: str, body: bytes, page: Page) -> bytes:
    from gossamer.duplicates.sketch import sketch_of  # it loads NumPy

    if type not in _HTML_TYPES:
        return b""
    if _is_frameset(body, page):
        return FRAMESET
    sketch = sketch_of(body)
    return HTML + sketch if sketch else b""


def is_frameset(html: bytes) -> bool:
    """Whether the tag of a frameset stands in a page."""
    return _FRAMESET.search(html) is not None


def _is_frameset(html: bytes, page: Page) -> bool:
    """The same for a page that was parsed. If it has links, one must be a frame: to look at the
    links takes a quarter of the time of a search."""
    has_frame = LinkKind.FRAME in map(_KIND, page.links)
    return (has_frame or not page.links) and is_frameset(html)
