"""What reports say about duplicates, by mode."""

import pytest
from msgspec import structs

from gossamer.records import Link, LinkKind, Page
from gossamer.settings import DuplicateMode
from gossamer.workers.sketching import is_frameset, sketcher_for
from support.rows import each_row

WORDS = "Of the many words of this page each is seen by a reader who looks at it for a while. " * 3
HTML = b"<html><title>One</title><body><p>" + WORDS.encode() + b"</p></body></html>"
PAGE = Page(base="http://a.example/", title="One", text=WORDS)


@each_row(
    ("mode", "start", "length"),
    [("none", b"", 0), ("exact", b"", 0), ("near", b"~", 17), ("html95", b"<", 133)],
)
def test_each_mode_has_its_sketch(mode: DuplicateMode, start: bytes, length: int) -> None:
    sketch = sketcher_for(mode)("text/html", HTML, PAGE)

    assert sketch[:1] == start
    assert len(sketch) == length


@pytest.mark.parametrize("mode", ["exact", "near", "html95"])
def test_a_frameset_is_exempt(mode: DuplicateMode) -> None:
    html = b"<html><FRAMESET cols='1,2'><FRAME src=a><FRAME src=b></FRAMESET></html>"

    assert sketcher_for(mode)("text/html", html, PAGE) == b"F"


def test_a_doctype_or_text_that_names_framesets_is_no_frameset() -> None:
    assert not is_frameset(b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Frameset//EN"><p>x')
    assert not is_frameset(b"<p>The element frameset is old.")


@pytest.mark.parametrize("mode", ["exact", "near", "html95"])
def test_a_page_with_links_but_without_frames_is_no_frameset(mode: DuplicateMode) -> None:
    html = HTML + b"<script>document.write('<frameset cols=1,2>')</script><a href=/x>x</a>"
    anchor = Link("/x", LinkKind.ANCHOR)
    frame = Link("/y", LinkKind.FRAME)

    assert sketcher_for(mode)("text/html", html, structs.replace(PAGE, links=(anchor,))) != b"F"
    assert sketcher_for(mode)("text/html", html, structs.replace(PAGE, links=(frame,))) == b"F"


def test_what_is_not_html_is_compared_by_its_bytes() -> None:
    assert sketcher_for("html95")("application/pdf", b"%PDF" * 100, PAGE) == b""
