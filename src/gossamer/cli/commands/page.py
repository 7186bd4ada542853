"""`gossamer page`: show a stored page as text, source, Markdown or headers."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.base.answer_class import status_text
from gossamer.base.clock import iso_of
from gossamer.errors import UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.deleted_versions import note_on_deleted
from gossamer.reader.moments import moment_of
from gossamer.reader.pages import StoredPage


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a page to show."""

    form: str = "text"  # or "html", "markdown", "headers"
    is_main: bool = False
    as_json: bool = False


def run_page(path: Path, url: str, wanted: PageRequest, *, at: str | None = None) -> int:
    """Show it. Raises NoCollection, NotKnown, or UsageError for an invalid time."""
    with CollectionReader.open(path) as reader:
        page = reader.page(url, at)
        note = (note_on_deleted(reader, page.url, at) or _note_on_first(page, at)) if at else ""
    if wanted.as_json:
        print(json.dumps(page_object(page, wanted), ensure_ascii=False))
        return 0
    for one in filter(None, (*notes_on(page), note)):
        print(f"gossamer: {one}", file=sys.stderr)
    sys.stdout.flush()
    sys.stdout.buffer.write(shown(page, wanted.form, is_main=wanted.is_main))
    sys.stdout.buffer.flush()
    return 0


def page_object(page: StoredPage, wanted: PageRequest) -> dict[str, Any]:
    """Return the page for programs: its facts, its headers, and its content in one form.

    A binary body is given as `body_base64` if its source (`html`) is requested.
    """
    parsed = page.page
    found: dict[str, Any] = {
        "schema": 1,
        "url": page.url,
        "at": iso_of(page.at_us),
        "status": page.status,
        "type": page.content_type or None,
        "bytes": len(page.raw_body),
        "title": parsed.title or None,
        "language": parsed.language or None,
        "description": parsed.description or None,
        "canonical": parsed.canonical or None,
        "robots": sorted(parsed.robots),
        "cut": page.is_cut,
        "fault": page.fault or None,
        "headers": [list(pair) for pair in page.headers],
    }
    if wanted.form == "html" and page.kind in ("other", "pdf"):
        found["body_base64"] = b64encode(page.body).decode()
    elif wanted.form != "headers":
        found[wanted.form] = _text(page, wanted.form, is_main=wanted.is_main)
    return found


def _note_on_first(page: StoredPage, at: str) -> str:
    is_later = page.at_us > moment_of(at)
    return "there is no capture of that time; this is the first one" if is_later else ""


def notes_on(page: StoredPage) -> list[str]:
    """Return the notes on a page that are shown beside its content."""
    notes = [f"{page.url} as of {iso_of(page.at_us)}, status {status_text(page.status)}"]
    if page.is_noarchive:
        notes.append("the page forbids showing copies of it to others (noarchive)")
    if page.is_cut:
        notes.append("the body was truncated at a limit of the crawl (--max-body or time)")
    if page.fault:
        notes.append(page.fault)
    return notes


def shown(page: StoredPage, form: str, *, is_main: bool = False) -> bytes:
    """Return the output: UTF-8 text, or for `html` of a binary page its bytes.

    Raises UsageError for bytes that would garble a terminal, and for a page without text.
    """
    if form == "headers":
        lines = page.head.replace(b"\r\n", b"\n").rstrip(b"\n")
        return lines.decode("latin-1").encode() + b"\n"
    if page.kind == "other" and page.body:
        return _shown_bytes(page, form)
    text = _text(page, form, is_main=is_main)
    if sys.stdout.isatty():
        text = "".join(char for char in text if char.isprintable() or char in "\n\t")
    ending = "" if text.endswith("\n") else "\n"
    return (text + ending).encode("utf-8", "replace")


def _text(page: StoredPage, form: str, *, is_main: bool) -> str:
    match form:
        case "html":
            return page.html
        case "markdown":
            return page.main_markdown if is_main else page.markdown
        case _:
            return page.main_text if is_main else page.text


def _shown_bytes(page: StoredPage, form: str) -> bytes:
    kind = page.content_type or "of unknown type"
    if form != "html":
        raise UsageError(f"{page.url} is {kind}, which has no text; use --html for its bytes")
    if sys.stdout.isatty():
        raise UsageError(f"{page.url} is {kind}; redirect its bytes to a file with > FILE")
    return page.body
