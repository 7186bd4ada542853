"""A copy of a page, shown so that it can do nothing.

Three walls, each enough against most: the answer's own policy (`sandbox`: an opaque origin, no
scripts, no forms, no windows; nothing may be loaded but images inside the page), the frame that
shows it, which has the same sandbox, and the markup itself, from which we take what a browser
could act on before or beside that policy (connections ahead of time, refreshes, frames, forms).
Links lead to the copy of their target, never outside.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlencode

import turbohtml
from starlette.responses import Response

from gossamer.base.clock import iso_of
from gossamer.crawl.study_pages import StoredPage
from gossamer.urls.canonical import parse

CSP: Final = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'"
)
_DROPPED: Final = (
    "script", "noscript", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed",
    "applet", "portal", "fencedframe", "template", "audio", "video", "source", "track",
)  # fmt: skip
# Inert kinds that a browser draws itself and that cannot hold a script. SVG can, so it is not one.
_IMAGES: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"}
)
_ASKS: Final = ("ping", "action", "formaction", "srcdoc", "background", "manifest", "srcset", "src")
# What a style would load. One that hides its name behind escapes is stopped by the policy.
_LOADED: Final = re.compile(
    r"@import\b[^;]*;?|\b(?:url|src|image-set)\s*\((?!\s*[\"']?data:image/)[^)]*\)?", re.IGNORECASE
)
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


def cached_response(kept: StoredPage, crawl: str) -> Response:
    """The copy as an answer of ours."""
    headers = {
        "content-security-policy": CSP,
        "referrer-policy": "no-referrer",
        "x-frame-options": "SAMEORIGIN",
        "x-robots-tag": "noindex, noarchive",
    }
    if kept.kind in ("html", "xhtml"):
        markup = harmless(kept.html, kept.page.base, crawl, iso_of(kept.at_us))
        return Response(_bytes(markup), media_type="text/html; charset=utf-8", headers=headers)
    if kept.kind == "text":
        return Response(_bytes(kept.html), media_type="text/plain; charset=utf-8", headers=headers)
    named = kept.content_type.partition(";")[0].strip().lower()
    if named in _IMAGES:
        return Response(kept.body, media_type=named, headers=headers)
    headers["content-disposition"] = f'attachment; filename="{file_name(kept.url)}"'
    return Response(kept.body, media_type="application/octet-stream", headers=headers)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def file_name(url: str) -> str:
    """A name for a download: letters, digits, dots and dashes, whatever the URL says."""
    last = url.partition("?")[0].rstrip("/").rpartition("/")[2]
    return _NAME.sub("_", last).strip("._")[:100] or "copy"


def harmless(markup: str, base: str, crawl: str, at: str) -> str:
    """The markup without what acts, its links leading to copies as of the same time."""
    document = turbohtml.parse(markup)
    for element in list(document.find_all(list(_DROPPED))):
        element.decompose()
    for element in document.find_all(True):
        _disarm(element, base, crawl, at)
        if element.tag == "style":
            element.text = _LOADED.sub("none", element.text)
    return document.html


def _disarm(element: Any, base: str, crawl: str, at: str) -> None:
    attributes = element.attrs
    for name in list(attributes):
        plain = name.lower()
        acts = plain.startswith("on") or plain in ("autofocus", "target")
        if acts or (plain in _ASKS and not _is_inside(attributes[name])):
            del attributes[name]
        elif plain == "style":
            attributes[name] = _LOADED.sub("none", str(attributes[name] or ""))
        elif plain in ("href", "xlink:href"):
            led = _copy_of(str(attributes[name] or ""), base, crawl, at)
            if led is None:
                del attributes[name]
            else:
                attributes[name] = led


def _is_inside(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower().startswith("data:image/")


def _copy_of(href: str, base: str, crawl: str, at: str) -> str | None:
    """Where a link leads: within the page, to another copy, or nowhere."""
    if href.startswith("#"):
        return href
    found = parse(href, base)
    if found is None or not found.href.startswith(("http://", "https://")):
        return None
    url, hash_, fragment = found.href.partition("#")
    return "/cached?" + urlencode({"url": url, "at": at, "c": crawl}) + hash_ + fragment
