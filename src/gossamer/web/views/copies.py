"""Copies of a text: the API and the page with its form."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse, Response

from gossamer.errors import CorruptFile, GossamerError, StoreError, UsageError
from gossamer.search.copies.results import MIN_WORDS, Copies, CopiesRequest, copies_object
from gossamer.search.searchers import NoAnswer
from gossamer.web.parameters import Parameters
from gossamer.web.route import ViewContext
from gossamer.web.views.html import html

MOST_TEXT: Final = 200_000  # characters; `gossamer copies` takes longer texts
_MOST_S: Final = 8.0


def found_copies(context: ViewContext, parameters: Parameters) -> Copies:
    """Find the copies of a text or of a stored page. Raises UsageError, NotKnown, StoreError."""
    text, url, crawl = (parameters.text(name) for name in ("text", "url", "c"))
    if bool(text.strip()) == bool(url.strip()):
        raise UsageError("give either a text or a url")
    but, cut = b"", ""
    if url:
        with context.collections.reader(crawl) as reader:
            page = reader.page(url)
            but = reader.keys.of(page.url)
        text = page.page.text  # parsed here: this needs no collection, and may take a while
        cut = f"only the first {MOST_TEXT:,} characters were compared"
        cut = cut if len(text) > MOST_TEXT else ""
    request = CopiesRequest(
        text=text[:MOST_TEXT],
        but=but,
        min_words=parameters.whole("min_words") or MIN_WORDS,
        limit=parameters.whole("limit") or 20,
        max_s=_MOST_S,
    )
    return context.collections.copies(crawl, request).with_hint(cut)


def copies(context: ViewContext, parameters: Parameters) -> Response:
    return JSONResponse(copies_object(found_copies(context, parameters)))


def copies_page(context: ViewContext, parameters: Parameters) -> Response:
    """The form, and the results if a text or a URL was given."""
    names: dict[str, Any] = {"found": None, "fault": parameters.fault, "status": 200}
    names["text"], names["url"] = parameters.text("text"), parameters.text("url")
    if names["fault"] is None and (names["text"].strip() or names["url"]):
        try:
            names["found"] = found_copies(context, parameters)
        except (CorruptFile, NoAnswer):
            raise
        except (UsageError, StoreError) as fault:  # a short text, or no index yet
            names["fault"] = fault
    if names["fault"] is not None:
        names["status"] = 400
    is_fault: GossamerError | None = names["fault"]
    names["fault"] = str(is_fault) if is_fault else ""
    return html(context, parameters, "copies.html", nav="search", most=MOST_TEXT, **names)
