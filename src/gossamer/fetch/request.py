"""What is said in a request, to whom, and what of it is written down.

Pure. The operator's headers take the place of ours where they have the same name. Those that tell
who the operator is are secrets: they go to the origins that were typed and to nobody else, wherever
links and redirects lead, and no value of theirs is written down, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gossamer.errors import SettingsError
from gossamer.settings import Fetch
from gossamer.version import __version__

NOT_KEPT: Final = "(not kept)"

# Names of headers that sites take for a proof of who asks: `X-Api-Key`, `X-CSRF-Token`, ...
_SECRET: Final = re.compile(
    r"auth|cookie|token|key|secret|session|passw|pwd|credential|signature|login|jwt|csrf|xsrf",
    re.IGNORECASE,
)
_PROOF: Final = re.compile(r"\s*(?:basic|bearer|digest|token|negotiate|apikey)\s", re.IGNORECASE)
_USERINFO: Final = re.compile(r"(?<=//)[^\s]*@")  # up to the last @: passwords may hold others
_CONNECTIONS: Final = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
    "keep-alive", "expect", "proxy-authorization", "proxy-connection",
})  # fmt: skip
# Enough to find somebody: a mail address (`me@localhost`), a URL, a name of the web (`a.org/bot`).
_REACHABLE: Final = re.compile(r"[^\s@<>]@[^\s@<>]|https?://[^\s/]|\w\.[a-z]{2}", re.IGNORECASE)
_TOKEN: Final = frozenset("!#$%&'*+-.^_`|~")  # RFC 9110, 5.6.2, beside letters and digits


class Headers:
    """The header lines of all requests: those for everybody, and those with secrets."""

    def __init__(self, settings: Fetch, accept: str, secrets: Sequence[str] = ()) -> None:
        """`secrets` are headers of a file, all of them secret. Raises SettingsError for a header
        or a contact that cannot be sent."""
        own = [checked_header(header) for header in settings.headers]
        named = {name_of(header) for header in [*own, *secrets]}
        given = {name_of(header) for header in secrets}
        ours = (
            f"User-Agent: {user_agent(settings.contact)}",
            f"Accept: {accept}",
            "Accept-Encoding: gzip, deflate, br, zstd",
        )
        lines = [line for line in ours if name_of(line) not in named]
        lines += [line for line in own if name_of(line) not in given]
        for_all = [line for line in lines if not is_secret(line)]
        for_typed = [*lines, *secrets]
        self.for_all: Final = [line.encode() for line in for_all]
        self.has_secrets: Final = len(for_typed) > len(for_all)
        self.has_cookies: Final = "cookie" in named  # then the jar's stay at home
        self._for_typed = [line.encode() for line in for_typed]
        self._kept_for_all = "".join(map(_line, for_all))
        self._kept_for_typed = "".join(map(_line, [*map(hidden, lines), *map(_hide, secrets)]))

    def of(self, *, with_secrets: bool) -> list[bytes]:
        """What is sent; `with_secrets`: to an origin that the operator typed."""
        return self._for_typed if with_secrets else self.for_all

    def request_for(
        self, url: str, *, with_secrets: bool, hidden_names: Iterable[str] = ()
    ) -> bytes:
        """The request as sent, secrets hidden; HTTP/2 and 3 in the form of HTTP/1.1.

        `hidden_names` are headers that this request had beside ours: a login, cookies.
        """
        authority, slash, rest = url[url.index("/") + 2 :].partition("/")
        kept = self._kept_for_typed if with_secrets else self._kept_for_all
        for name in hidden_names:
            kept += f"{name}: {NOT_KEPT}\r\n"
        return f"GET {slash}{rest} HTTP/1.1\r\nHost: {authority}\r\n{kept}\r\n".encode()


def _line(header: str) -> str:
    return f"{header}\r\n"


def user_agent(contact: str) -> str:
    """`gossamer/VERSION (+contact)`, or without a contact the name alone. Raises SettingsError."""
    if not contact.isprintable():
        raise SettingsError("fetch.contact", f"is {contact!r}, but it must be one line of text")
    if contact and not _REACHABLE.search(contact):
        raise SettingsError(
            "fetch.contact", f"is {contact!r}, but it must name a mail address or an http(s) URL"
        )
    return f"gossamer/{__version__} (+{contact})" if contact else f"gossamer/{__version__}"


def name_of(header: str) -> str:
    return header.partition(":")[0].lower()


def is_secret(header: str) -> bool:
    """Whether a header tells who asks, by its name or by how its value begins."""
    name, _, value = header.partition(":")
    return bool(_SECRET.search(name) or _PROOF.match(value))


def hidden(header: str) -> str:
    """A header as it may be written down and said."""
    return _hide(header) if is_secret(header) else header


def _hide(header: str) -> str:
    return f"{header.partition(':')[0]}: {NOT_KEPT}"


def without_userinfo(text: str) -> str:
    """A URL as typed, or what was meant to be one, without user and password."""
    return _USERINFO.sub("", text)


def checked_header(header: str, key: str = "fetch.headers") -> str:
    """A header of the operator's as it is sent, or SettingsError, which shows no value."""
    name, colon, value = header.partition(":")
    value = value.strip(" \t")
    if not (colon and _is_token(name) and value and value.replace("\t", " ").isprintable()):
        which = repr(name) if colon and len(name) < 40 else "one without a colon"
        raise SettingsError(key, f"has {which}, but each must be `Name: value` on one line")
    if name.lower() in _CONNECTIONS:
        raise SettingsError(key, f"may not set {name}: it belongs to the connection")
    if name.lower() == "user-agent":
        raise SettingsError(key, "may not set User-Agent: fetch.contact says who asks")
    if value == NOT_KEPT:
        raise SettingsError(
            key,
            f"had {name}, and its value is kept nowhere: give it again with --header, or name a "
            "file in fetch.headers_file; --set fetch.headers= goes on without it",
        )
    return f"{name}: {value}"


def _is_token(name: str) -> bool:
    return bool(name) and name.isascii() and all(c.isalnum() or c in _TOKEN for c in name)
