"""The headers of a request, and the form in which they are archived.

Pure. The operator's headers replace ours of the same name. Headers that identify the operator are
secrets: they are sent only to the typed origins, wherever links and redirects lead, and their
values are never stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gossamer.errors import SettingsError
from gossamer.records import Previous
from gossamer.settings import Fetch
from gossamer.version import __version__

NOT_KEPT: Final = "(not kept)"

# Names of headers that sites use for authentication: `X-Api-Key`, `X-CSRF-Token`, ...
_SECRET: Final = re.compile(
    r"auth|cookie|token|key|secret|session|passw|pwd|credential|signature|login|jwt|csrf|xsrf",
    re.IGNORECASE,
)
_PROOF: Final = re.compile(r"\s*(?:basic|bearer|digest|token|negotiate|apikey)\s", re.IGNORECASE)
_USERINFO: Final = re.compile(r"(?<=//)[^\s]*@")  # up to the last @: passwords may contain others
_CONNECTIONS: Final = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
    "keep-alive", "expect", "proxy-authorization", "proxy-connection",
})  # fmt: skip
# A usable contact: a mail address (`me@localhost`), a URL, a web name (`a.org/bot`).
_REACHABLE: Final = re.compile(r"[^\s@<>]@[^\s@<>]|https?://[^\s/]|\w\.[a-z]{2}", re.IGNORECASE)
_MOST_VALIDATOR_CHARS: Final = 512
_TOKEN: Final = frozenset("!#$%&'*+-.^_`|~")  # RFC 9110, 5.6.2, besides letters and digits


class Headers:
    """The header lines of all requests: public ones, and those with secrets."""

    def __init__(self, settings: Fetch, accept: str, secrets: Sequence[str] = ()) -> None:
        """`secrets` are the headers of a file, all secret. Raises SettingsError for an invalid
        header or contact.
        """
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
        self._is_conditional = settings.conditional
        self.has_cookies: Final = "cookie" in named  # then the cookies of the jar are not sent
        self._for_typed = [line.encode() for line in for_typed]
        self._kept_for_all = "".join(map(_line, for_all))
        self._kept_for_typed = "".join(map(_line, [*map(hidden, lines), *map(_hide, secrets)]))

    def of(self, *, with_secrets: bool) -> list[bytes]:
        """The lines to send. `with_secrets`: to an origin that the operator typed."""
        return self._for_typed if with_secrets else self.for_all

    def conditions(self, previous: Previous | None) -> tuple[str, ...]:
        """The lines by which a server sends a page only if it has changed (RFC 9110, 13).
        None if the server has given nothing to compare with."""
        if previous is None or previous.status != 200 or not self._is_conditional:
            return ()
        lines = (
            ("If-None-Match", previous.etag),
            ("If-Modified-Since", previous.modified_at),
        )
        return tuple(f"{name}: {value}" for name, value in lines if _is_validator(value))

    def request_for(
        self,
        url: str,
        *,
        with_secrets: bool,
        hidden_names: Iterable[str] = (),
        conditions: Iterable[str] = (),
    ) -> bytes:
        """The request as sent, with secrets hidden; HTTP/2 and 3 in the form of HTTP/1.1.

        `hidden_names` are further headers of this request: login, cookies.
        """
        authority, slash, rest = url[url.index("/") + 2 :].partition("/")
        kept = self._kept_for_typed if with_secrets else self._kept_for_all
        for name in hidden_names:
            kept += f"{name}: {NOT_KEPT}\r\n"
        kept += "".join(map(_line, conditions))
        return f"GET {slash}{rest} HTTP/1.1\r\nHost: {authority}\r\n{kept}\r\n".encode()


def _is_validator(value: str) -> bool:
    """Whether a value that a server sent can be sent back to it."""
    return 0 < len(value) <= _MOST_VALIDATOR_CHARS and value.isascii() and value.isprintable()


def _line(header: str) -> str:
    return f"{header}\r\n"


def user_agent(contact: str) -> str:
    """`gossamer/VERSION (+contact)`, or the name alone without a contact. Raises SettingsError."""
    if not contact.isprintable():
        raise SettingsError("fetch.contact", f"is {contact!r}, but it must be one line of text")
    if contact and not _REACHABLE.search(contact):
        raise SettingsError(
            "fetch.contact", f"is {contact!r}, but it must contain a mail address or an http(s) URL"
        )
    return f"gossamer/{__version__} (+{contact})" if contact else f"gossamer/{__version__}"


def name_of(header: str) -> str:
    return header.partition(":")[0].lower()


def is_secret(header: str) -> bool:
    """Whether a header identifies the sender, by its name or the start of its value."""
    name, _, value = header.partition(":")
    return bool(_SECRET.search(name) or _PROOF.match(value))


def hidden(header: str) -> str:
    """A header in the form that may be stored and shown."""
    return _hide(header) if is_secret(header) else header


def _hide(header: str) -> str:
    return f"{header.partition(':')[0]}: {NOT_KEPT}"


def without_userinfo(text: str) -> str:
    """A URL as typed, or any other text, without user and password."""
    return _USERINFO.sub("", text)


def checked_header(header: str, key: str = "fetch.headers") -> str:
    """A header of the operator as it is sent. Raises SettingsError, which shows no value."""
    name, colon, value = header.partition(":")
    value = value.strip(" \t")
    if not (colon and _is_token(name) and value and value.replace("\t", " ").isprintable()):
        which = repr(name) if colon and len(name) < 40 else "one without a colon"
        raise SettingsError(key, f"has {which}, but each must be `Name: value` on one line")
    if name.lower() in _CONNECTIONS:
        raise SettingsError(key, f"must not set {name}: the connection sets it")
    if name.lower() == "user-agent":
        raise SettingsError(key, "must not set User-Agent; set fetch.contact instead")
    if value == NOT_KEPT:
        raise SettingsError(
            key,
            f"had {name}, and its value is kept nowhere: give it again with --header, or name a "
            "file in fetch.headers_file; --set fetch.headers= goes on without it",
        )
    return f"{name}: {value}"


def _is_token(name: str) -> bool:
    return bool(name) and name.isascii() and all(c.isalnum() or c in _TOKEN for c in name)
