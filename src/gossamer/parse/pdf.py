"""Title, text and links of a PDF, by pdfium, which browsers trust with the same files.

It is bounded in pages, characters and links; between two pages it asks whether it may go on, so
the caller can bound the time. A file that is no PDF, or is locked, gives nothing. What kills pdfium
kills its process: `crawl/marker.py` sees to it that this happens twice at the most.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from gossamer.parse.anchors import AROUND, fold
from gossamer.records import Link, LinkKind

_MAX_CHARS: Final = 2_000_000  # what an entry of the index holds
_MAX_TITLE_CHARS: Final = 1000
_MAX_WORDS: Final = 500  # characters of a link's words
_MAX_URL_BYTES: Final = 4096
_MAX_PAGE_LINKS: Final = 2000
_LOCK: Final = threading.Lock()  # pdfium may be in one thread at a time only


@dataclass(slots=True)
class PdfReading:
    """What was read; `pages` has for each link the page that it stands on, from 1."""

    title: str = ""
    texts: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)


def read_pdf(
    body: bytes, max_pages: int, max_links: int, may_go_on: Callable[[], bool]
) -> PdfReading:
    """Read any bytes. Never raises for what is in them."""
    # Imported here: it takes 80 ms, which a crawl without PDF need not wait for.
    import pypdfium2  # type: ignore[import-untyped]  # ships no types

    reading = PdfReading()
    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(body)
        except pypdfium2.PdfiumError:
            return reading
        try:
            reading.title = fold(document.get_metadata_value("Title"))[:_MAX_TITLE_CHARS]
            chars = 0
            for number in range(min(len(document), max_pages)):
                if chars >= _MAX_CHARS or not may_go_on():
                    break
                chars += _read_page(document, number, reading, max_links)
        except (pypdfium2.PdfiumError, ValueError):
            pass  # damaged behind what was read; that is kept
        finally:
            document.close()
    return reading


def _read_page(document: Any, number: int, reading: PdfReading, max_links: int) -> int:
    """Read one page into `reading`; how many characters it has."""
    page = document[number]
    try:
        words = page.get_textpage()
        try:
            text = words.get_text_bounded()
            reading.texts.append(text.replace("\r\n", "\n").replace("\x00", ""))
            for address, box in _addresses(document, page):
                if len(reading.links) >= max_links:
                    break
                said = fold(words.get_text_bounded(*box))[:_MAX_WORDS]
                reading.links.append(Link(address, LinkKind.ANCHOR, said))
                reading.pages.append(number + 1)
            return len(text)
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
