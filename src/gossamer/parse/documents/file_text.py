"""The text of a file on this machine: plain text, Markdown, HTML or PDF."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from gossamer.errors import UsageError
from gossamer.parse.html import Parser
from gossamer.parse.mime import looks_like_html
from gossamer.settings import Parse

_TYPES: Final = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
    ".xml": "application/xml",
    ".json": "application/feed+json",
}
_MARKDOWN: Final = frozenset({".md", ".markdown"})
# `[words](target)` and `![words](target)`: the target is not read aloud.
_TARGET: Final = re.compile(r"\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_PDF: Final = b"%PDF-"


def text_of_file(name: str, body: bytes) -> str:
    """The text of a file with this name; its first bytes decide if the name has no known ending.

    Raises UsageError if it contains no text.
    """
    ending = PurePath(name).suffix.lower()
    page = Parser(Parse()).parse("", _type_of(ending, body), body)
    if not page.text.strip():
        raise UsageError(f"{name} contains no text; text, Markdown, HTML and PDF files can be read")
    return _TARGET.sub("]", page.text) if ending in _MARKDOWN else page.text


def _type_of(ending: str, body: bytes) -> str:
    if body.startswith(_PDF):
        return "application/pdf"
    if known := _TYPES.get(ending):
        return known
    return "text/html" if looks_like_html(body) else "text/plain"
