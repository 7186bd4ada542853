"""The routes for found files; rows of the table in `routes.py`."""

from __future__ import annotations

from typing import Final

from gossamer.web.parameters import Param
from gossamer.web.route import Route
from gossamer.web.views.files import MOST_FILES, files, files_page

_FILES: Final = (
    Param(
        name="type", help="Only these types: pdf, image, audio, video, text, MIME types; commas.",
        default="", longest=300,
    ),
    Param(
        name="limit", help="Number of files.", kind="whole", default=100, least=1, most=MOST_FILES
    ),
    Param(name="offset", help="Number of files to skip.", kind="whole", default=0, most=100_000),
    Param(name="c", help="Name of the crawl; default: the first.", default="", longest=64),
)  # fmt: skip

API: Final = (
    Route(
        method="GET", path="/api/files", name="files",
        does="Files that were found, the newest first: type, size, words and linking pages.",
        answer=files, params=_FILES, keys=("schema", "total", "files"),
    ),
)  # fmt: skip
PAGES: Final = (
    Route(
        method="GET", path="/files", name="files_page",
        does="Files that were found; the list grows while a crawl runs.", answer=files_page,
        params=(*_FILES, Param(name="part", help="Return only the list.", kind="flag")),
        gives="html",
    ),
)  # fmt: skip
