"""Found files: as JSON, and as a page whose list grows while the crawl runs."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse, Response

from gossamer.reader.found_files import newest_files
from gossamer.web.parameters import Parameters
from gossamer.web.route import ViewContext
from gossamer.web.views.html import html

MOST_FILES: Final = 1_000
KINDS: Final = ("pdf", "image", "audio", "video", "text")
# One look reads all rows of the state: 3 s for a million URLs. Several watchers share it.
_KEEP_S: Final = 3.0


def files_object(context: ViewContext, parameters: Parameters) -> dict[str, Any]:
    """The newest files of some types. Raises SettingsError, NoCollection, CorruptFile."""
    name = parameters.text("c")
    types = tuple(part for part in parameters.text("type").replace(",", " ").split() if part)
    limit, offset = parameters.whole("limit"), parameters.whole("offset")

    def make() -> dict[str, Any]:
        with context.collections.reader(name) as reader:
            found, total = newest_files(reader, types, limit, offset)
        return {"schema": 1, "total": total, "files": [one.as_json() for one in found]}

    key = ("files", *context.collections.identity(name), types, limit, offset)
    return context.lately.get(key, context.clock.now_s(), _KEEP_S, make)


def files(context: ViewContext, parameters: Parameters) -> Response:
    return JSONResponse(files_object(context, parameters))


def files_page(context: ViewContext, parameters: Parameters) -> Response:
    template = "files_list.html" if parameters.flag("part") else "files.html"
    found = files_object(context, parameters)
    return html(context, parameters, template, nav="files", found=found, kinds=KINDS)
