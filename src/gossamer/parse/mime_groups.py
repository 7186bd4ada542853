"""Groups of related types in the MIME Sniffing standard, by the essence alone.

`text/xml`, `application/xml` and `image/svg+xml` are all XML, and `text/x-javascript` is one of
sixteen names of JavaScript. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final


class MimeGroup(StrEnum):
    """Types that are parsed alike. A type may be in several groups."""

    IMAGE = "image"
    MEDIA = "audio or video"
    FONT = "font"
    ZIP = "ZIP-based"
    ARCHIVE = "archive"
    XML = "XML"
    HTML = "HTML"
    SCRIPTABLE = "scriptable"
    JAVASCRIPT = "JavaScript"
    JSON = "JSON"


_JAVASCRIPT: Final = frozenset({
    "application/ecmascript", "application/javascript", "application/x-ecmascript",
    "application/x-javascript", "text/ecmascript", "text/javascript", "text/javascript1.0",
    "text/javascript1.1", "text/javascript1.2", "text/javascript1.3", "text/javascript1.4",
    "text/javascript1.5", "text/jscript", "text/livescript", "text/x-ecmascript",
    "text/x-javascript",
})  # fmt: skip
_FONTS: Final = frozenset({
    "application/font-cff", "application/font-off", "application/font-sfnt",
    "application/font-ttf", "application/font-woff", "application/vnd.ms-fontobject",
    "application/vnd.ms-opentype",
})  # fmt: skip
_ARCHIVES: Final = frozenset(
    {"application/zip", "application/x-rar-compressed", "application/x-gzip"}
)
# Types that browsers show, besides the groups that have one name for all.
_SHOWN: Final = frozenset({
    "text/html", "text/plain", "text/css", "image/png", "image/jpeg", "image/gif", "image/webp",
    "image/bmp", "image/x-icon", "image/avif", "application/pdf", "audio/mpeg", "audio/wav",
    "audio/ogg", "video/mp4", "video/webm", "video/ogg", "application/ogg", "font/woff",
    "font/woff2", "font/ttf", "font/otf",
})  # fmt: skip


def _is_xml(essence: str) -> bool:
    return essence.endswith("+xml") or essence in ("text/xml", "application/xml")


def _is_json(essence: str) -> bool:
    return essence.endswith("+json") or essence in ("text/json", "application/json")


_MEMBERS: Final[dict[MimeGroup, Callable[[str], bool]]] = {
    MimeGroup.IMAGE: lambda e: e.startswith("image/"),
    MimeGroup.MEDIA: lambda e: e.startswith(("audio/", "video/")) or e == "application/ogg",
    MimeGroup.FONT: lambda e: e.startswith("font/") or e in _FONTS,
    MimeGroup.ZIP: lambda e: e.endswith("+zip") or e == "application/zip",
    MimeGroup.ARCHIVE: lambda e: e in _ARCHIVES,
    MimeGroup.XML: _is_xml,
    MimeGroup.HTML: lambda e: e == "text/html",
    MimeGroup.SCRIPTABLE: lambda e: _is_xml(e) or e in ("text/html", "application/pdf"),
    MimeGroup.JAVASCRIPT: lambda e: e in _JAVASCRIPT,
    MimeGroup.JSON: _is_json,
}


def groups_of(essence: str) -> frozenset[MimeGroup]:
    """The groups of a type; empty if there is none."""
    return frozenset(group for group, has in _MEMBERS.items() if has(essence))


def minimized(essence: str) -> str:
    """One name for equal types; empty if browsers do not show the type."""
    if essence in _JAVASCRIPT:
        return "text/javascript"
    if _is_json(essence):
        return "application/json"
    if essence == "image/svg+xml":
        return essence
    if _is_xml(essence):
        return "application/xml"
    return essence if essence in _SHOWN else ""
