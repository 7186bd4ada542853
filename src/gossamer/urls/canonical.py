"""The canonical form of a URL.

Two links that a browser would follow to the same request have one canonical form, so that a page is
requested once. The form is the result of the WHATWG URL standard (by ada-url), without the
fragment, which never reaches a server, without user and password, which must not be stored, and
without an empty `?`. It is ASCII, and the canonical form of a canonical form is itself.

The functions at the end split such forms by slicing: they are called for every link, and parsing
costs 3.6 microseconds where a slice costs 0.3. Names that differ but mean one server (`www.`, a dot
at the end) stay different: only the server knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import unquote_plus

import ada_url

# Servers refuse far shorter request lines (8 KB is usual). A longer URL is data, not a link.
MAX_URL_CHARS: Final = 16_384
# The longest name in DNS (RFC 1035), without the final dot.
MAX_HOST_CHARS: Final = 253

_SCHEMES: Final = ("http://", "https://")
_STRIPPED: Final = "".join(map(chr, range(0x21)))  # WHATWG strips these from both ends
_REMOVED: Final = str.maketrans("", "", "\t\n\r")  # and removes these everywhere
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_IS_WEB: Final = re.compile(r"https?:", re.IGNORECASE)
_PATH_PARAMETER: Final = re.compile(r"(;[^;/]*)")
_AUTHORITY: Final = re.compile(r"(?:https?:)?[/\\]*([^/\\?#]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A URL of any scheme, in the parts and names of the WHATWG standard."""

    href: str
    origin: str
    protocol: str
    username: str
    password: str
    host: str
    hostname: str
    port: str
    pathname: str
    search: str
    hash: str


def parse(text: str, base: str = "") -> ParsedUrl | None:
    """The full parse of a URL, or None where the standard says failure."""
    try:
        url = ada_url.URL(_scalar(text), _scalar(base) if base else None)
    except ValueError:
        return None
    return ParsedUrl(*(getattr(url, part) for part in ParsedUrl.__slots__))


@dataclass(frozen=True, slots=True)
class NormalForm:
    """The rules of one collection's canonical form. They never change.

    `query` says whether the query is kept, dropped, or cleaned of `session_parameters` (lower case;
    `*` at the end of one matches the rest of a name). Cleaning also removes path parameters of
    those names (`;jsessionid=1`); all other bytes stay, in their order.
    """

    query: Literal["keep", "drop", "clean"] = "keep"
    session_parameters: tuple[str, ...] = ()

    def find(self, text: str, base: str = "") -> str | None:
        """The canonical form of a link in a page of `base`; None if it is not a usable URL.

        Not usable are schemes other than http and https, URLs longer than MAX_URL_CHARS, and hosts
        that DNS cannot name.
        """
        href = _href(text, base)
        if href is None or not href.startswith(_SCHEMES):
            return None
        url = _without_userinfo(href.partition("#")[0])
        if "?" in url or ";" in url:
            url = self._with_query_ruled(url)
        if len(url) > MAX_URL_CHARS or _has_long_host(url):
            return None
        return url

    def fault(self, text: str, base: str = "") -> str:
        """Why `find` returned None: one short sentence. Empty if it is not a link for a crawler.

        Empty texts and other schemes (mailto:, javascript:, data:) give no sentence.
        """
        if self.find(text, base) is not None:
            return ""
        stripped = text.strip(_STRIPPED).translate(_REMOVED)
        if not stripped or (_SCHEME.match(stripped) and not _IS_WEB.match(stripped)):
            return ""
        if len(text) > MAX_URL_CHARS:
            return f"it is longer than {MAX_URL_CHARS} characters"
        if _href(text, base) is not None:
            return _fault_of_form(text, base)
        if not _IS_WEB.match(stripped):
            if not base:
                return "http:// or https:// expected"
            if _href(base, "") is None:
                return "its base is not a URL"
            if not stripped.startswith(("//", "\\\\", "/\\", "\\/")):
                return "its base URL cannot have relative URLs"
        return _fault_of_authority(_authority_in(stripped))

    def _with_query_ruled(self, url: str) -> str:
        path, mark, query = url.partition("?")
        if self.query == "drop":
            return path
        if self.query == "clean":
            query = self._cleaned_query(query)
            path = self._cleaned_path(path)
        return path + mark + query if query else path

    def _cleaned_query(self, query: str) -> str:
        is_session = _session_names(self.session_parameters).fullmatch
        parts = query.split("&")
        kept = [part for part in parts if not is_session(_name_in(part))]
        if len(kept) == len(parts):
            return query
        return "&".join(kept) if any(kept) else ""

    def _cleaned_path(self, url: str) -> str:
        """`url` has no query. It is parsed again, because `..;sid=1` may have become `..`."""
        start = url.index("/", 8)
        if ";" not in url[start:]:
            return url
        is_session = _session_names(self.session_parameters).fullmatch
        pieces = _PATH_PARAMETER.split(url[start:])
        kept = [
            p for p in pieces if p[:1] != ";" or "=" not in p or not is_session(_name_in(p[1:]))
        ]
        if len(kept) == len(pieces):
            return url
        return _href(url[:start] + "".join(kept), "") or url


@lru_cache(maxsize=8)
def _session_names(parameters: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the lower-case names that `clean` removes."""
    names = [
        re.escape(name.removesuffix("*")) + (".*" if name.endswith("*") else "")
        for name in map(str.lower, parameters)
    ]
    return re.compile("|".join(names) or "(?!)", re.DOTALL)


def _name_in(parameter: str) -> str:
    name = parameter.partition("=")[0]
    return (unquote_plus(name) if "%" in name or "+" in name else name).lower()


def _href(text: str, base: str) -> str | None:
    if len(text) > MAX_URL_CHARS:
        return None  # a data: URL can have megabytes
    try:
        if base:
            return ada_url.join_url(_scalar(base), _scalar(text))
        return ada_url.normalize_url(_scalar(text))
    except ValueError:
        return None


def _scalar(text: str) -> str:
    """`text` with lone surrogates replaced, as a browser does when it encodes the text."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without_userinfo(href: str) -> str:
    end = href.index("/", 8)
    at = href.rfind("@", 0, end)
    return href if at < 0 else href[: href.index("//") + 2] + href[at + 1 :]


def has_userinfo(text: str) -> bool:
    """Whether a URL, as typed, contains a user or a password."""
    parsed = parse(text) if "@" in text else None
    return parsed is not None and bool(parsed.username or parsed.password)


def _has_long_host(url: str) -> bool:
    return url.index("/", 8) > MAX_HOST_CHARS and len(host_of(url).rstrip(".")) > MAX_HOST_CHARS


def _fault_of_form(text: str, base: str) -> str:
    """For a URL that the standard accepts and `find` refuses: too long, or not http by its base."""
    href = _href(text, base) or ""
    if not href.startswith(_SCHEMES):
        return ""
    if _has_long_host(_without_userinfo(href)):
        return f"its host is longer than {MAX_HOST_CHARS} characters"
    return f"it is longer than {MAX_URL_CHARS} characters"


def _authority_in(stripped: str) -> str:
    found = _AUTHORITY.match(stripped)
    return found[1] if found else ""


def _fault_of_authority(authority: str) -> str:
    """The fault in `user@host:port`, if there is one."""
    named = authority.rpartition("@")[2]
    host, colon, port = named.rpartition(":")
    if not colon or named.endswith("]"):
        host, port = named, ""
    if not host:
        return "it has no host"
    if port and not (port.isascii() and port.isdigit()):
        return f"its port {_shown(port)} is not a number"
    if port and int(port[-9:]) > 65535:
        return f"its port {_shown(port)} is above 65535"
    if host.startswith("["):
        return f"its host {_shown(host)} is not an IPv6 address"
    if re.search(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", host, re.IGNORECASE):
        return f"its host {_shown(host)} is not an IPv4 address"
    return f"its host {_shown(host)} is not a valid host name"


def _shown(text: str) -> str:
    """Safe in a log line: short, quoted, ASCII, no control characters."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def origin_of(url: str) -> str:
    """`https://example.org:8080` of a canonical URL; the port only if it is not the default."""
    return url[: url.index("/", 8)]


def host_of(url: str) -> str:
    """Name or address of a canonical URL, without port; IPv6 keeps its brackets."""
    authority = url[8 if url[4] == "s" else 7 : url.index("/", 8)]
    if ":" not in authority or authority[-1] == "]":
        return authority
    return authority[: authority.rindex(":")]


def port_of(url: str) -> int:
    """The port of a canonical URL, explicit or default."""
    authority = url[7 : url.index("/", 8)]
    colon = authority.rfind(":")
    if colon < 0 or authority[-1] == "]":
        return 443 if url[4] == "s" else 80
    return int(authority[colon + 1 :])


def target_of(url: str) -> str:
    """Path with query of a canonical URL, as in a request line and robots.txt."""
    return url[url.index("/", 8) :]


def path_of(url: str) -> str:
    """Path of a canonical URL, without query."""
    return url[url.index("/", 8) :].partition("?")[0]
