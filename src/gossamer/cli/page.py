"""`gossamer page`: a stored page as text, source, Markdown or headers."""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.base.clock import iso_of
from gossamer.crawl.study import Study
from gossamer.crawl.study_pages import StoredPage
from gossamer.errors import UsageError


def run_page(
    path: Path, url: str, *, at: str | None = None, form: str = "text", is_main: bool = False
) -> int:
    """Show it. Raises NoCollection, NotKnown, or UsageError for a time that cannot be read."""
    with Study.open(path) as study:
        page = study.page(url, at)
    for note in notes_on(page):
        print(f"gossamer: {note}", file=sys.stderr)
    sys.stdout.flush()
    sys.stdout.buffer.write(shown(page, form, is_main=is_main))
    sys.stdout.buffer.flush()
    return 0


def notes_on(page: StoredPage) -> list[str]:
    """What the reader should know of a page beside its content."""
    notes = [f"{page.url} as of {iso_of(page.at_us)}, status {page.status}"]
    if page.is_noarchive:
        notes.append("the page asks for no copies to be shown (noarchive); this one is for you")
    if page.is_cut:
        notes.append("the body was cut at a limit of the crawl")
    if page.fault:
        notes.append(page.fault)
    return notes


def shown(page: StoredPage, form: str, *, is_main: bool = False) -> bytes:
    """What goes to standard output: UTF-8 text, or for `html` of no text the bytes themselves.

    Raises UsageError for bytes that would garble a terminal, and for text of what is none.
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
    kind = page.content_type or "of no named type"
    if form != "html":
        raise UsageError(f"{page.url} is {kind}, which has no text; write --html to get its bytes")
    if sys.stdout.isatty():
        raise UsageError(f"{page.url} is {kind}; send its bytes to a file with > FILE")
    return page.body
