"""Title, text and links of a PDF, by pdfium, the library of browsers.

Pages, characters and links are bounded; between two pages `may_continue` is called. A file that is
not a PDF, or is locked, gives nothing. The time and memory of pdfium for one page are not bounded
here, and a crash of pdfium kills its process: `pdf_process.py` runs it in a separate one.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from gossamer.parse.anchors import AROUND, fold
from gossamer.records import Link, LinkKind

_MAX_CHARS: Final = 2_000_000  # limit of an index entry
_MAX_TITLE_CHARS: Final = 1000
_MAX_WORDS: Final = 500  # characters of a link text
_MAX_URL_BYTES: Final = 4096
_MAX_PAGE_LINKS: Final = 2000
_LOCK: Final = threading.Lock()  # pdfium is not thread-safe


@dataclass(slots=True)
class PdfReading:
    """The result. `pages` has the page number of each link, from 1."""

    title: str = ""
    texts: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)

    def take(self, part: PdfPart) -> None:
        """Add the next page, or the title."""
        self.title = self.title or part.title
        if part.number:
            self.texts.append(part.text)
        for address, said in part.links:
            self.links.append(Link(address, LinkKind.ANCHOR, said))
            self.pages.append(part.number)


class PdfPart(NamedTuple):
    """The title of a PDF (`number` 0), or one of its pages, from 1, with its links: URL, text."""

    title: str = ""
    number: int = 0
    text: str = ""
    links: Sequence[tuple[str, str]] = ()


def read_pdf(
    body: bytes, max_pages: int, max_links: int, may_continue: Callable[[], bool]
) -> PdfReading:
    """Read any bytes. Never raises for their content."""
    reading = PdfReading()
    for part in parts_of(body, max_pages, max_links, may_continue):
        reading.take(part)
    return reading


def parts_of(
    body: bytes, max_pages: int, max_links: int, may_continue: Callable[[], bool]
) -> Iterator[PdfPart]:
    """Title and pages as they are read."""
    # Imported here: it takes 80 ms, which a crawl without PDF should not pay.
    import pypdfium2  # type: ignore[import-untyped]  # ships no types

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(body)
        except pypdfium2.PdfiumError:
            return
        try:
            yield PdfPart(title=fold(document.get_metadata_value("Title"))[:_MAX_TITLE_CHARS])
            chars = links = 0
            for number in range(min(len(document), max_pages)):
                if chars >= _MAX_CHARS or not may_continue():
                    break
                part = _page(document, number, max_links - links)
                chars, links = chars + len(part.text), links + len(part.links)
                yield part
        except (pypdfium2.PdfiumError, ValueError):
            pass  # damaged after the pages read so far, which are kept
        finally:
            document.close()


def _page(document: Any, number: int, max_links: int) -> PdfPart:
    page = document[number]
    try:
        words = page.get_textpage()
        try:
            text = words.get_text_bounded()[:_MAX_CHARS].replace("\r\n", "\n").replace("\x00", "")
            links: list[tuple[str, str]] = []
            for address, box in _addresses(document, page):
                if len(links) >= max_links:
                    break
                links.append((address, fold(words.get_text_bounded(*box))[:_MAX_WORDS]))
            return PdfPart(number=number + 1, text=text, links=links)
        finally:
            words.close()
    finally:
        page.close()


def _addresses(document: Any, page: Any) -> Iterator[tuple[str, tuple[float, ...]]]:
    """URI and rectangle (left, bottom, right, top) of each link that leads out of the document."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    at, link, box = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    for _ in range(_MAX_PAGE_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, ctypes.byref(at), ctypes.byref(link)):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < size <= _MAX_URL_BYTES:
            continue
        written = ctypes.create_string_buffer(size)
        pdfium.FPDFAction_GetURIPath(document, action, written, size)
        address = written.value.decode("utf-8", "replace").strip(AROUND)
        if address and pdfium.FPDFLink_GetAnnotRect(link, ctypes.byref(box)):
            yield address, (box.left, box.bottom, box.right, box.top)
