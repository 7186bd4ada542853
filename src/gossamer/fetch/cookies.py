"""The cookie jar: RFC 6265 with the later changes of browsers.

A cookie is sent only to the site that set it: its domain may not be a public suffix, its path and
its host (without port) must match, and a secure cookie is neither sent nor replaced over plain
http. SameSite has no meaning for a crawler, because its requests do not come from a page.

Pure except for reading and writing text: times are wall time in seconds. Bounded: neither one site
nor many sites can fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from gossamer.urls.canonical import host_of, path_of
from gossamer.urls.site import site_of

_MAX_COOKIE_BYTES: Final = 4096  # name and value, as in browsers
_MAX_ATTRIBUTE_BYTES: Final = 1024
_MAX_SITE_BYTES: Final = 16 * 1024  # more than servers accept in one request
_MAX_SITES: Final = 4000
_MAX_AGE_S: Final = 400 * 86400  # RFC 6265bis, 5.5
_FOR_EVER_S: Final = 253_402_300_799  # the last second that a date can express

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")  # including the tab, which would break the file
_HTTP_ONLY: Final = "#HttpOnly_"
_TITLE: Final = "# Netscape HTTP Cookie File"

# RFC 6265, 5.1.1: a date is these words in any order, with any text between them.
_WORDS: Final = re.compile(r"[^\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME: Final = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)")
_DAY: Final = re.compile(r"(\d{1,2})(?!\d)")
_YEAR: Final = re.compile(r"(\d{2,4})(?!\d)")
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip


class Cookie(NamedTuple):
    """One cookie. A tuple, so that it can be sent between node and workers unchanged."""

    domain: str  # without a leading dot
    is_host_only: bool
    path: str
    is_secure: bool
    expires_s: int  # 0: end of the session, which for a crawl is never
    name: str
    value: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The fields that a cookie shares with the one it replaces."""
        return self.domain, self.path, self.name

    def is_over(self, now_s: float) -> bool:
        return bool(self.expires_s) and self.expires_s <= now_s


class Jar:
    """The cookies of all sites.

    `given` are the operator's; for their sites the jar is personal. If not `is_open`, Set-Cookie
    headers are ignored.
    """

    def __init__(self, given: Iterable[Cookie] = (), *, is_open: bool = True) -> None:
        self._sites: dict[str, dict[tuple[str, str, str], Cookie]] = {}
        self._is_open = is_open
        self._changes: list[Cookie] = []
        cookies = tuple(given)
        self._given_sites = frozenset(site_of(cookie.domain) for cookie in cookies)
        self.changed = 0  # grows with every change; 0: there was never a cookie
        self.put(cookies)

    def header_for(self, url: str, now_s: float) -> str:
        """The value of the Cookie header for a canonical URL; empty if there is none."""
        if not self._sites:
            return ""
        host = host_of(url)
        held = self._sites.get(site_of(host))
        if not held:
            return ""
        is_safe, path = url.startswith("https:"), path_of(url)
        fitting = [
            cookie
            for cookie in held.values()
            if _is_for(cookie, host, path, is_safe=is_safe) and not cookie.is_over(now_s)
        ]
        # the sort is stable: oldest first among equal paths
        fitting.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(f"{c.name}={c.value}" if c.name else c.value for c in fitting)

    def is_personal(self, url: str) -> bool:
        """Whether the operator gave cookies for this site: then later ones are personal, too."""
        return bool(self._given_sites) and site_of(host_of(url)) in self._given_sites

    def take_headers(self, url: str, set_cookies: Sequence[str], now_s: float) -> None:
        """Apply the Set-Cookie headers of a response from `url`."""
        if not self._is_open:
            return
        for text in set_cookies:
            cookie = read_set_cookie(text, url, now_s)
            if cookie is not None and not self._is_protected(cookie, url):
                held = self._sites.get(site_of(cookie.domain), {})
                if held.get(cookie.key) != cookie and (
                    cookie.key in held or not cookie.is_over(now_s)
                ):
                    self._put(cookie, now_s)
                    self._changes.append(cookie)

    def put(self, cookies: Iterable[Cookie], now_s: float = 0.0) -> None:
        """Store cookies of a file or of another worker unchanged."""
        for cookie in cookies:
            self._put(cookie, now_s)

    def take_changes(self) -> list[Cookie]:
        """The changes by sites since the last call. An expired cookie means a deletion."""
        changes, self._changes = self._changes, []
        return changes

    def empty(self) -> None:
        """Delete every cookie, but remember which sites are personal."""
        self._sites.clear()

    def all(self) -> list[Cookie]:
        return [cookie for held in self._sites.values() for cookie in held.values()]

    def _put(self, cookie: Cookie, now_s: float) -> None:
        site = site_of(cookie.domain)
        held = self._sites.pop(site, {})
        if cookie.is_over(now_s):
            held.pop(cookie.key, None)
        else:
            held[cookie.key] = cookie
        while sum(len(c.name) + len(c.value) for c in held.values()) > _MAX_SITE_BYTES:
            del held[next(iter(held))]
        if held:
            self._sites[site] = held  # at the end: it changed last
        if len(self._sites) > _MAX_SITES:
            del self._sites[next(iter(self._sites))]
        self.changed += 1

    def _is_protected(self, cookie: Cookie, url: str) -> bool:
        """Whether a secure cookie of this name exists here and the response came over plain
        http.
        """
        if url.startswith("https:"):
            return False
        return any(
            held.is_secure
            and held.name == cookie.name
            and (_is_below(cookie.domain, held.domain) or _is_below(held.domain, cookie.domain))
            and _is_path_below(cookie.path, held.path)
            for held in self._sites.get(site_of(cookie.domain), {}).values()
        )


def _is_for(cookie: Cookie, host: str, path: str, *, is_safe: bool) -> bool:
    is_host = host == cookie.domain or (not cookie.is_host_only and _is_below(host, cookie.domain))
    return is_host and _is_path_below(path, cookie.path) and (is_safe or not cookie.is_secure)


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _is_path_below(path: str, above: str) -> bool:
    return path == above or (
        path.startswith(above) and (above.endswith("/") or path[len(above)] == "/")
    )


def _is_suffix(domain: str) -> bool:
    """Whether the names below it belong to different owners. Also True for addresses."""
    below = f"x.{domain}"
    return site_of(below) == below


def read_set_cookie(text: str, url: str, now_s: float) -> Cookie | None:
    """The cookie of a Set-Cookie header from a canonical URL; None if it is invalid."""
    pair, _, rest = text.partition(";")
    name, equals, value = pair.partition("=")
    name, value = (name.strip(), value.strip()) if equals else ("", pair.strip())
    if not (name or value) or _CONTROL.search(text) or len(name) + len(value) > _MAX_COOKIE_BYTES:
        return None
    said = _attributes(rest)
    host, is_safe = host_of(url), url.startswith("https:")
    path = said.get("path", "")
    cookie = Cookie(
        domain=host,
        is_host_only=True,
        path=path if path.startswith("/") else _folder(path_of(url)),
        is_secure="secure" in said,
        expires_s=_end_s(said, now_s),
        name=name,
        value=value,
    )
    domain = said.get("domain", "").removeprefix(".").lower()
    if (cookie.is_secure and not is_safe) or not _keeps_prefix(cookie, domain):
        return None
    if not domain or (domain == host and _is_suffix(domain)):
        return cookie
    if _is_suffix(domain) or not _is_below(host, domain):
        return None
    return cookie._replace(domain=domain, is_host_only=False)


def _keeps_prefix(cookie: Cookie, domain: str) -> bool:
    """Whether the cookie fulfils what the prefix of its name promises (RFC 6265bis, 4.1.3)."""
    name = (cookie.name or cookie.value).lower()
    if name.startswith("__host-"):
        return cookie.is_secure and not domain and cookie.path == "/" and bool(cookie.name)
    return not name.startswith("__secure-") or (cookie.is_secure and bool(cookie.name))


def _attributes(text: str) -> dict[str, str]:
    """By name, the last of each. Attributes that are too long are ignored."""
    said: dict[str, str] = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if len(value.strip()) <= _MAX_ATTRIBUTE_BYTES:
            said[name.strip().lower()] = value.strip()
    return said


def _folder(path: str) -> str:
    return path[: path.rindex("/")] or "/"


def _end_s(said: dict[str, str], now_s: float) -> int:
    """The expiry time of the cookie: 1 means long ago, 0 never."""
    age = said.get("max-age", "")
    if re.fullmatch(r"-?\d+", age):
        seconds = int(age[:12])
        return round(now_s + min(seconds, _MAX_AGE_S)) if seconds > 0 else 1
    end_s = _date_s(said["expires"]) if "expires" in said else None
    if end_s is None:
        return 0
    return round(min(max(end_s, 1), now_s + _MAX_AGE_S))


@dataclass(frozen=True, slots=True)
class _Date:
    """The parts of a date that were read so far."""

    time: tuple[int, int, int] | None = None
    day: int = 0
    month: int = 0
    year: int = -1


def _date_s(text: str) -> float | None:
    date = _Date()
    for word in _WORDS.findall(text):
        date = _with_word(date, word)
    if date.time is None or not date.day or not date.month or date.year < 1601:
        return None
    try:
        return datetime(date.year, date.month, date.day, *date.time, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _with_word(date: _Date, word: str) -> _Date:
    if date.time is None and (found := _TIME.match(word)):
        return replace(date, time=(int(found[1]), int(found[2]), int(found[3])))
    if not date.day and (found := _DAY.match(word)):
        return replace(date, day=int(found[1]))
    if not date.month and word[:3].lower() in _MONTHS:
        return replace(date, month=_MONTHS.index(word[:3].lower()) + 1)
    if date.year < 0 and (found := _YEAR.match(word)):
        year = int(found[1])
        return replace(date, year=year + (1900 if 70 <= year <= 99 else 2000 if year < 70 else 0))
    return date


def read_cookie_text(text: str) -> list[Cookie]:
    """Cookies in Netscape format, as curl, wget and browser extensions write it.

    Raises ValueError with the number of the first invalid line.
    """
    cookies = []
    for number, line in enumerate(text.splitlines(), 1):
        row = line.removeprefix(_HTTP_ONLY).rstrip("\r\n")
        if not row.strip() or row.startswith("#"):
            continue
        cookie = _of_row(row.split("\t"))
        if cookie is None:
            raise ValueError(number)
        cookies.append(cookie)
    return cookies


def _of_row(fields: list[str]) -> Cookie | None:
    if len(fields) not in (6, 7) or not fields[2].startswith("/") or not fields[0]:
        return None
    domain, below, path, secure, end = fields[:5]
    if not {below.upper(), secure.upper()} <= {"TRUE", "FALSE"}:
        return None
    try:
        end_s = max(0, min(int(float(end or "0")), _FOR_EVER_S))
    except (ValueError, OverflowError):
        return None
    is_host_only = below.upper() == "FALSE" and not domain.startswith(".")
    name = domain.removeprefix(".").lower()
    return Cookie(
        domain=name,
        is_host_only=is_host_only or _is_suffix(name),
        path=path,
        is_secure=secure.upper() == "TRUE",
        expires_s=end_s,
        name=fields[5],
        value=fields[6] if len(fields) == 7 else "",
    )


def cookie_text(cookies: Iterable[Cookie], remark: str = "") -> str:
    """Cookies in Netscape format."""
    lines = [_TITLE, *([f"# {remark}"] if remark else [])]
    for c in cookies:
        domain, below = (c.domain, "FALSE") if c.is_host_only else (f".{c.domain}", "TRUE")
        secure = "TRUE" if c.is_secure else "FALSE"
        lines.append("\t".join((domain, below, c.path, secure, str(c.expires_s), c.name, c.value)))
    return "\n".join(lines) + "\n"
