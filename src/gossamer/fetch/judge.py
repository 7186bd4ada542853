"""Decide by the headers whether a body is wanted, before it is read.

The type is checked for successful responses (2xx): an error page is kept whatever its type. The
size is checked for all. A missing or invalid Content-Type counts as HTML here, because only the
body can tell, and it has not arrived. If a server says only that there are bytes
(application/octet-stream) and the crawl wants files, their first bytes are checked on arrival.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from gossamer.base.magic import START_BYTES, magic_of, one_name
from gossamer.errors import SettingsError
from gossamer.records import Reason

_TOKEN: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # noqa: S105 - a token of HTTP, not a secret
# WHATWG MIME Sniffing, 4.4: white space around the type and after the subtype is ignored.
_ESSENCE: Final = re.compile(rf"[\t\n\r ]*({_TOKEN}/{_TOKEN})[\t\n\r ]*(?:;.*)?", re.DOTALL)
_RANGE: Final = re.compile(rf"{_TOKEN}/(?:\*|{_TOKEN})")
# Types by which servers say that the type is unknown (WHATWG MIME Sniffing, 7).
_NOT_KNOWN: Final = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})

# Types that say only that there are bytes to download.
_BYTES: Final = frozenset({
    "application/octet-stream", "binary/octet-stream", "application/x-download",
    "application/download", "application/force-download",
})  # fmt: skip

_HTML: Final = ("text/html", "application/xhtml+xml")
_PDF: Final = ("application/pdf", "application/x-pdf")


def _is_text(mime: str) -> bool:
    return (
        mime.startswith("text/")
        or mime in ("application/xhtml+xml", "application/xml", "application/json")
        or mime.endswith(("+xml", "+json"))
    ) and not mime.startswith("image/")


_NAMES: Final[dict[str, Callable[[str], bool]]] = {
    "html": lambda mime: mime in _HTML,
    "text": _is_text,
    "pdf": lambda mime: mime in _PDF,
    "image": lambda mime: mime.startswith("image/"),
    "audio": lambda mime: mime.startswith("audio/") or mime == "application/ogg",
    "video": lambda mime: (
        mime.startswith("video/") or mime in ("application/ogg", "application/mp4")
    ),
    "any": bool,
}
_ACCEPT: Final[dict[str, str]] = {
    "html": "text/html,application/xhtml+xml",
    "text": "text/html,application/xhtml+xml,text/*,application/xml,application/json",
    "pdf": "application/pdf",
    "image": "image/*",
    "audio": "audio/*",
    "video": "video/*",
    "any": "*/*",
}
_MEDIA: Final = ("image", "audio", "video")


_MAX_KNOWN: Final = 1000
_MAX_KNOWN_CHARS: Final = 100
_mimes: dict[str, str] = {}  # by raw header value: a site uses a few, on all its pages


def mime_of(content_type: str) -> str:
    """`text/html` for `Text/HTML; charset=utf-8`; empty if it is not a MIME type."""
    known = _mimes.get(content_type)
    if known is None:
        found = _ESSENCE.fullmatch(content_type)
        known = found[1].lower() if found else ""
        if len(content_type) <= _MAX_KNOWN_CHARS:
            if len(_mimes) >= _MAX_KNOWN:  # a hostile server can invent types without end
                _mimes.clear()
            _mimes[content_type] = known
    return known


def type_of(content_type: str, body: bytes) -> str:
    """The type of a received response: the one in the headers, or, if they say only that there are
    bytes, the one that the first bytes show.
    """
    mime = mime_of(content_type)
    return (magic_of(body[:START_BYTES]) or mime) if mime in _BYTES else mime


class ResponseJudge:
    """The operator's wanted types and maximum size.

    `accept` is the matching Accept header. `wants_media` lists the kinds of embedded media whose
    links must be extracted: image, audio, video, any.
    """

    def __init__(
        self, types: Sequence[str], max_body_bytes: int, *, lists_files: bool = False
    ) -> None:
        """`lists_files`: of wanted files other than HTML only the headers are read. Raises
        SettingsError for a type that is neither a known name nor like `audio/wav`."""
        self._types = tuple(dict.fromkeys(_checked(name) for name in types))
        if not self._types:
            raise SettingsError("fetch.types", f"is empty, but it must be {_possible()}")
        self._max_body_bytes = max_body_bytes
        self._lists_files = lists_files
        self._is_wanted: dict[str, bool] = {}
        self._wants_files = any(name not in ("html", "text") for name in self._types)
        self.accept: Final = _accept(self._types)
        self.wants_media: Final = _media(self._types)

    def wants(self, mime: str) -> bool:
        """Whether a MIME type, as returned by `mime_of`, is wanted."""
        known = self._is_wanted.get(mime)
        if known is None:
            if len(self._is_wanted) >= _MAX_KNOWN:
                self._is_wanted.clear()
            known = self._is_wanted[mime] = any(_matches(name, mime) for name in self._types)
        return known

    def forbids(
        self,
        status: int,
        content_type: str,
        content_length: int | None,
        *,
        max_body_bytes: int | None = None,
    ) -> tuple[Reason, str] | None:
        """The reason and a sentence why the body is not read, or None.

        `max_body_bytes` is the limit of one lease; without it that of the settings holds.
        """
        if status == 304:
            return None  # its headers tell of a body that does not come
        if 200 <= status < 300:
            mime = mime_of(content_type)
            is_wanted = self.wants("text/html" if mime in _NOT_KNOWN else mime)
            if not is_wanted and not self.looks_at_bytes(mime):
                wanted = ", ".join(self._types)
                return Reason.TYPE, f"the type is {mime}, but fetch.types allows {wanted}"
            if is_wanted and self._only_lists(mime):
                return Reason.LISTED, _listed(mime)
        limit = self._max_body_bytes if max_body_bytes is None else max_body_bytes
        if content_length is not None and content_length > limit:
            return Reason.SIZE, f"the body has {content_length} bytes, but the limit is {limit}"
        return None

    def _only_lists(self, mime: str) -> bool:
        """Whether a wanted type is listed and not taken. HTML leads to the files."""
        return self._lists_files and mime not in _HTML and mime not in _NOT_KNOWN

    def looks_at_bytes(self, mime: str) -> bool:
        """Whether `forbids_bytes` must decide, because this type does not tell."""
        return self._wants_files and mime in _BYTES and not self.wants(mime)

    def forbids_bytes(self, mime: str, start: bytes) -> tuple[Reason, str] | None:
        """Decide by the first bytes of a body if the headers did not tell."""
        found = magic_of(start[:START_BYTES])
        if found and self.wants(found):
            return (Reason.LISTED, _listed(found)) if self._only_lists(found) else None
        seen = f"its first bytes are {found}" if found else "its first bytes are of no known type"
        wanted = ", ".join(self._types)
        return Reason.TYPE, f"the type is {mime}, {seen}, but fetch.types allows {wanted}"


def _listed(mime: str) -> str:
    return f"the type is {mime}; fetch.list_only takes no bodies of files"


def _checked(given: str) -> str:
    name = given.strip().lower()
    if name in ("*", "*/*"):
        return "any"
    if name not in _NAMES and not _RANGE.fullmatch(name):
        raise SettingsError("fetch.types", f"names {given!r}, but it must be {_possible()}")
    return name


def _possible() -> str:
    return f"some of {', '.join(_NAMES)}, or MIME types such as audio/wav and audio/*"


def _matches(name: str, mime: str) -> bool:
    if name in _NAMES:
        return _NAMES[name](mime)
    if name.endswith("/*"):
        return mime.startswith(name[:-1])
    return one_name(mime) == one_name(name)


def _accept(types: tuple[str, ...]) -> str:
    ranges = dict.fromkeys(part for name in types for part in _ACCEPT.get(name, name).split(","))
    if "*/*" in ranges:
        return "*/*"
    # A server without a matching type should return its own type, not a 406.
    return ",".join(ranges) + ",*/*;q=0.1"


def _media(types: tuple[str, ...]) -> frozenset[str]:
    names = {name.partition("/")[0] for name in types}
    if "application/ogg" in types:
        names |= {"audio", "video"}
    return frozenset(names & {*_MEDIA, "any"})
