"""Show a copy of a page without any active content.

Three layers protect the user: the policy of the response (`sandbox`: an opaque origin, no scripts,
no forms, no windows; only images inside the page may load), the frame around it with the same
sandbox, and the markup itself, from which this module removes what a browser could act on despite
that policy (early connections, refreshes, frames, forms). Links lead to the copy of their target,
never outside.

Markup can mean something else when it is parsed a second time. So the cleaned markup is parsed
again, as the browser will, until nothing is left to remove; markup that never becomes stable is
shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, cached_property, lru_cache
from html import escape
from typing import Any, Final
from urllib.parse import quote, quote_plus, urlencode

import turbohtml
from starlette.responses import Response

from gossamer.base.clock import iso_of
from gossamer.reader.pages import StoredPage
from gossamer.urls.canonical import NormalForm

CSP: Final = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'"
)
_DROPPED: Final = (
    "script", "noscript", "link", "meta", "base", "iframe", "frame", "frameset", "object", "embed",
    "applet", "portal", "fencedframe", "template", "audio", "video", "source", "track",
    # These change attributes later, href among them.
    "animate", "animatecolor", "animatemotion", "animatetransform", "set",
)  # fmt: skip
# Inert types that a browser renders itself and that cannot contain a script. SVG can.
_IMAGES: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"}
)
_ASKS: Final = (
    "ping", "action", "formaction", "srcdoc", "background", "manifest", "srcset", "src", "poster",
    "data", "code", "codebase", "archive", "imagesrcset", "attributionsrc", "dynsrc", "lowsrc",
)  # fmt: skip
_ACTS: Final = ("autofocus", "target", "popovertarget", "commandfor", "nonce", "http-equiv")
_READINGS: Final = 4  # real pages are stable after one
# Characters of a name may be escaped as `\75` or `\u`; a browser decodes them, and so do we.
_ESCAPED: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|([g-zG-Z]))")
# What a style would load.
_LOADED: Final = re.compile(
    r"@import\b[^;]*;?|\b(?:url|src|image-set)\s*\((?!\s*[\"']?data:image/)[^)]*\)?", re.IGNORECASE
)
_FORM: Final = NormalForm()
_IN_FRAGMENT: Final = "!$%&'()*+,/:;=?@~"
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


_HEADERS: Final = {
    "content-security-policy": CSP,
    "referrer-policy": "no-referrer",
    "x-frame-options": "SAMEORIGIN",
    "x-robots-tag": "noindex, noarchive",
}


@dataclass(frozen=True)
class Among:
    """The copies that links lead to: of one crawl, at one time.

    A browser sends no cookie with a link of a page that has its own origin. If reading needs a
    login, `key` identifies the session.
    """

    crawl: str
    at: str
    key: str = ""

    def address(self, url: str) -> str:
        return f"/cached?url={quote_plus(url)}{self._rest}"

    @cached_property
    def _rest(self) -> str:
        known = {"at": self.at, "c": self.crawl, "key": self.key}
        told = urlencode({name: value for name, value in known.items() if value})
        return f"&{told}" if told else ""


def cached_response(kept: StoredPage, crawl: str, key: str = "") -> Response:
    """Return the copy as a response."""
    headers = dict(_HEADERS)
    if kept.kind in ("html", "xhtml"):
        among = Among(crawl, iso_of(kept.at_us), key)
        markup = harmless(kept.html, kept.url, among)
        return Response(_bytes(markup), media_type="text/html; charset=utf-8", headers=headers)
    if kept.kind == "text":
        return Response(_bytes(kept.html), media_type="text/plain; charset=utf-8", headers=headers)
    named = kept.content_type.partition(";")[0].strip().lower()
    if named in _IMAGES:
        return Response(kept.body, media_type=named, headers=headers)
    headers["content-disposition"] = f'attachment; filename="{file_name(kept.url)}"'
    return Response(kept.body, media_type="application/octet-stream", headers=headers)


def no_copy(sentence: str, status: int) -> Response:
    """Return the content of the frame if there is no copy."""
    markup = f"<!doctype html><title>No copy</title><p>There is no copy: {escape(sentence)}.</p>"
    return Response(_bytes(markup), status, _HEADERS, "text/html; charset=utf-8")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def file_name(url: str) -> str:
    """Return a file name for a download: letters, digits, dots and dashes."""
    last = url.partition("?")[0].rstrip("/").rpartition("/")[2]
    return _NAME.sub("_", last).strip("._")[:100] or "copy"


def harmless(markup: str, url: str, among: Among) -> str:
    """Return the markup of a page without active content; its links lead to copies of that time.

    Takes 0.3 s of CPU for a megabyte.
    """
    document = turbohtml.parse(markup)
    base = document.base_url(url)
    _disarm(document, cache(lambda href: _copy_of(href, base, among)))
    for _ in range(_READINGS):
        document = turbohtml.parse(document.html)
        if not _disarm(document, _if_inner):
            return str(document.html)
    return f"<!doctype html><pre>{escape(markup)}</pre>"


def _disarm(document: Any, lead: Callable[[str], str | None]) -> bool:
    """Remove active content from a document; return whether there was any. `lead` maps links."""
    dropped = list(document.find_all(list(_DROPPED)))
    for element in dropped:
        element.decompose()
    was_changed = bool(dropped)
    for element in document.find_all(True):
        if attributes := element.attrs:
            was_changed |= _disarm_attributes(attributes, lead)
        if element.tag == "style":
            was_changed |= element.text != (kept := without_loads(element.text))
            element.text = kept
    return was_changed


def _disarm_attributes(attributes: Any, lead: Callable[[str], str | None]) -> bool:
    """Remove the active attributes of an element; return whether it had any."""
    was_changed = False
    for name, given in list(attributes.items()):
        does = _does(name)
        if does is _Does.NOTHING:
            continue
        kept = _harmless_value(does, given, lead)
        if kept is None:
            del attributes[name]
        elif kept != given:
            attributes[name] = kept
        was_changed |= kept != given
    return was_changed


class _Does(Enum):
    """What a browser does with an attribute."""

    NOTHING = auto()
    ACTS = auto()
    ASKS = auto()
    STYLES = auto()
    LEADS = auto()


@lru_cache(maxsize=4096)  # pages have dozens of names, a hostile one any number
def _does(name: str) -> _Does:
    plain = name.lower()
    if plain.startswith("on") or plain in _ACTS:
        return _Does.ACTS
    if plain in _ASKS:
        return _Does.ASKS
    if plain == "style":
        return _Does.STYLES
    return _Does.LEADS if plain in ("href", "xlink:href") else _Does.NOTHING


def _harmless_value(does: _Does, given: object, lead: Callable[[str], str | None]) -> object | None:
    """Return the harmless value, or None to remove the attribute."""
    match does:
        case _Does.STYLES:
            return without_loads(str(given or ""))
        case _Does.LEADS:
            return lead(str(given or ""))
        case _Does.ASKS if _is_inside(given):
            return given
        case _:
            return None


def without_loads(style: str) -> str:
    """Return a style without URLs to load."""
    return _LOADED.sub("none", _ESCAPED.sub(_unescaped, style))


def _unescaped(found: re.Match[str]) -> str:
    """Return the letter, digit or dash of an escape; any other escape unchanged."""
    char = found[2] or chr(min(int(found[1], 16), 0x10FFFF))
    return char if char.isascii() and (char.isalnum() or char == "-") else found[0]


def _if_inner(href: str) -> str | None:
    """Return the link if this module has made it, else None."""
    return href if href.startswith(("#", "/cached?")) else None


def _is_inside(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower().startswith("data:image/")


def _copy_of(href: str, base: str, among: Among) -> str | None:
    """Return the target of a link: within the page, another copy, or None."""
    if href.startswith("#"):
        return href
    url = _FORM.find(href, base)
    if url is None:
        return None
    hash_, fragment = href.partition("#")[1:]
    return among.address(url) + hash_ + quote(fragment, safe=_IN_FRAGMENT)
