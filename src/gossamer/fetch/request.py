"""What is said in a request, to whom, and what of it is written down.

Pure. The operator's headers take the place of ours where they have the same name. Credentials go
to hosts that the operator typed and to nobody else, wherever links and redirects lead, and are
never written down.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gossamer.errors import SettingsError
from gossamer.settings import Fetch
from gossamer.version import __version__

_SECRET: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
_CONNECTIONS: Final = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
    "keep-alive", "expect",
})  # fmt: skip
_TOKEN: Final = frozenset("!#$%&'*+-.^_`|~")  # RFC 9110, 5.6.2, beside letters and digits


class Headers:
    """The header lines of all requests: those for everybody, and those with credentials."""

    def __init__(self, settings: Fetch, accept: str) -> None:
        """Raises SettingsError for a header or a contact that cannot be sent."""
        own = [checked_header(header) for header in settings.headers]
        named = {name_of(header) for header in own}
        ours = (
            f"User-Agent: {user_agent(settings.contact)}",
            f"Accept: {accept}",
            "Accept-Encoding: gzip, deflate, br, zstd",
        )
        lines = [*(line for line in ours if name_of(line) not in named), *own]
        self._for_typed = [line.encode() for line in lines]
        self.for_all: Final = [line.encode() for line in lines if name_of(line) not in _SECRET]
        self._kept_for_typed = _joined(map(hidden, lines))
        self._kept_for_all = _joined(line for line in lines if name_of(line) not in _SECRET)

    def of(self, *, is_trusted: bool) -> list[bytes]:
        """What is sent; `is_trusted`: to a host that the operator typed."""
        return self._for_typed if is_trusted else self.for_all

    def request_for(self, url: str, *, is_trusted: bool) -> bytes:
        """The request as sent, credentials hidden; HTTP/2 and 3 in the form of HTTP/1.1."""
        authority, slash, rest = url[url.index("/") + 2 :].partition("/")
        kept = self._kept_for_typed if is_trusted else self._kept_for_all
        return f"GET {slash}{rest} HTTP/1.1\r\nHost: {authority}\r\n{kept}".encode()


def _joined(lines: Iterable[str]) -> str:
    return "".join([f"{line}\r\n" for line in lines]) + "\r\n"


def user_agent(contact: str) -> str:
    """`gossamer/VERSION (+contact)`, or without a contact the name alone."""
    if not contact.isprintable():
        raise SettingsError("fetch.contact", f"is {contact!r}, but it must be one line of text")
    return f"gossamer/{__version__} (+{contact})" if contact else f"gossamer/{__version__}"


def name_of(header: str) -> str:
    return header.partition(":")[0].lower()


def hidden(header: str) -> str:
    """A request header for the archive: credentials are not kept."""
    name = header.partition(":")[0]
    return f"{name}: (not kept)" if name_of(header) in _SECRET else header


def checked_header(header: str) -> str:
    """A header of the operator's as it is sent, or SettingsError."""
    name, colon, value = header.partition(":")
    value = value.strip(" \t")
    if not (colon and _is_token(name) and value and value.replace("\t", " ").isprintable()):
        raise SettingsError("fetch.headers", f"has {header!r}, but it must be `Name: value`")
    if name.lower() in _CONNECTIONS:
        raise SettingsError("fetch.headers", f"may not set {name}: it belongs to the connection")
    if name.lower() == "user-agent":
        raise SettingsError("fetch.headers", "may not set User-Agent: fetch.contact says who asks")
    return f"{name}: {value}"


def _is_token(name: str) -> bool:
    return bool(name) and name.isascii() and all(c.isalnum() or c in _TOKEN for c in name)
