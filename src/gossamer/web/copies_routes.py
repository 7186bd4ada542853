"""The routes for copies of a text; rows of the table in `routes.py`."""

from __future__ import annotations

from typing import Final

from gossamer.search.copies.results import LEAST_WORDS, MIN_WORDS
from gossamer.web.parameters import Param, ParameterPlace
from gossamer.web.route import Route
from gossamer.web.views.copies import MOST_TEXT, copies, copies_page

_KEYS: Final = ("schema", "words", "total", "took_ms", "hint", "pages")
_TEXT: Final = Param(
    name="text", help="The text to look for.", place="body", default="", longest=MOST_TEXT
)


def _options(place: ParameterPlace) -> tuple[Param, ...]:
    return (
        Param(
            name="min_words", help="Only passages with at least this many words of the text.",
            kind="whole", place=place, default=MIN_WORDS, least=LEAST_WORDS, most=10_000,
        ),
        Param(
            name="limit", help="Number of pages.", kind="whole", place=place, default=20, least=1,
            most=100,
        ),
        Param(
            name="c", help="Name of the crawl; default: the first.", place=place, default="",
            longest=64,
        ),
    )  # fmt: skip


def _url(*, is_needed: bool) -> Param:
    return Param(
        name="url", help="A stored page: look for its text elsewhere.", default="",
        is_needed=is_needed, longest=8_192,
    )  # fmt: skip


API: Final = (
    Route(
        method="GET", path="/api/copies", name="copies_of_page",
        does="Pages that contain parts of the text of a stored page.", answer=copies,
        params=(_url(is_needed=True), *_options("query")), keys=_KEYS,
    ),
    Route(
        method="POST", path="/api/copies", name="copies",
        does="Pages that contain parts of a text.", answer=copies,
        params=(_TEXT, *_options("body")), keys=_KEYS,
    ),
)  # fmt: skip
PAGES: Final = (
    Route(
        method="GET", path="/copies", name="copies_page", does="Find copies of a text.",
        answer=copies_page, params=(_url(is_needed=False), *_options("query")), gives="html",
    ),
    Route(
        method="POST", path="/copies", name="copies_form", does="Copies of the typed text.",
        answer=copies_page, params=(_TEXT, *_options("body")), gives="html", tells_faults=True,
    ),
)  # fmt: skip
