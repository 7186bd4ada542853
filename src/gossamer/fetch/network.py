"""Proxies, logins and client certificates.

Secrets are in files that the settings name, never in the settings themselves, which are stored in
the collection. A login is for one host, by its exact name, and is sent to no other, wherever links
and redirects lead. If its file has a port, the login is for that port. If not, it is for the typed
origins of the host, and for a host that was not typed, for the default ports. So no link can send a
password to another service on the host, or over plain http if https was typed. A proxy gets
addresses that were checked, not names, which it would resolve itself.

Reads files when created; does no I/O afterwards.
"""

from __future__ import annotations

import netrc
import os
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.errors import SettingsError
from gossamer.fetch.cookies import Cookie, read_cookie_text
from gossamer.fetch.request import checked_header, without_userinfo
from gossamer.records import Lease
from gossamer.settings import Fetch
from gossamer.urls.canonical import origin_of, port_of

_PROXY: Final = re.compile(r"(https?|socks4a?|socks5h?)://(\[[0-9a-f:.]+\]|[^/:@\s]+)(?::(\d+))?/?")
_PORTS: Final = {"http": "80", "https": "443"}  # default ports of a proxy; for SOCKS it is 1080
_CHALLENGE: Final = re.compile(r"\b(basic|digest)\b(?=\s)", re.IGNORECASE)
_WEB_PORTS: Final = (80, 443)
_DIRECT: Final = "direct"
_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials for one host. Never shown in `repr` or in a log."""

    user: str
    password: str

    def __repr__(self) -> str:
        return "Login(not shown)"


@dataclass(frozen=True, slots=True)
class HostRoute:
    """How a host is requested. No proxy: directly."""

    proxy: str = ""
    proxy_login: Login | None = None
    login: Login | None = None
    scheme: str = ""  # "basic" or "digest", if the host has said which it wants


DIRECT: Final = HostRoute()


class NetworkAccess:
    """The operator's proxies, logins, cookies and certificates."""

    def __init__(self, settings: Fetch) -> None:
        """Raises SettingsError for invalid values and unreadable files."""
        self._logins = _logins_in(settings.logins_file)
        self._proxy = _checked_proxy("fetch.proxy", settings.proxy) if settings.proxy else ""
        self._proxies = dict(map(_proxy_of_host, settings.proxies))
        self._schemes: dict[str, str] = {}  # of hosts with a login, from their challenges
        self.gives_names: Final = settings.proxy_resolves
        self.headers: Final = headers_in(settings.headers_file)
        self.cookies: Final = cookies_in(settings.cookies_file)
        self.certificate: Final = _readable("fetch.client_certificate", settings.client_certificate)
        self.authorities: Final = _authorities(settings.authorities_file)
        # Most crawls use none of it and skip the lookup.
        self.is_plain: Final = not (self._logins or self._proxy or self._proxies)

    def way_to(self, lease: Lease) -> HostRoute:
        """The way to the URL of a lease."""
        url, host = lease.url, lease.host
        proxy = self._proxies.get(host, self._proxy)
        login = self._login_for(lease)
        if not proxy and login is None:
            return DIRECT
        scheme = self._schemes.get(origin_of(url), "") if login else ""
        return HostRoute(proxy, self._proxy_login(proxy), login, scheme)

    def _login_for(self, lease: Lease) -> Login | None:
        port = port_of(lease.url)
        named = self._logins.get(f"{lease.host}:{port}")
        if named is not None:
            return named
        is_meant = lease.gets_secrets or (not lease.is_trusted and port in _WEB_PORTS)
        return self._logins.get(lease.host) if is_meant else None

    def note_challenge(self, url: str, challenges: Sequence[str]) -> None:
        """Record the challenge of a host. From now on the login is sent with the first request."""
        names = {name.lower() for value in challenges for name in _CHALLENGE.findall(value)}
        if names:
            self._schemes[origin_of(url)] = "digest" if "digest" in names else "basic"

    def _proxy_login(self, proxy: str) -> Login | None:
        found = _PROXY.fullmatch(proxy)
        if not found:
            return None
        host, port = found[2], found[3] or _PORTS.get(found[1], "1080")
        return self._logins.get(f"{host}:{port}") or self._logins.get(host)


def _checked_proxy(key: str, text: str) -> str:
    if "@" in text:
        raise SettingsError(key, "contains a user or password; put them into fetch.logins_file")
    if not _PROXY.fullmatch(text.lower()):
        shown = without_userinfo(text)
        raise SettingsError(
            key, f"is {shown!r}, but it must be a URL such as http://proxy.example:3128"
        )
    return text.lower()


def _proxy_of_host(text: str) -> tuple[str, str]:
    host, equals, proxy = text.partition("=")
    if not (host.strip() and equals):
        shown = without_userinfo(text)
        raise SettingsError("fetch.proxies", f"has {shown!r}, but it must be HOST=URL")
    is_direct = proxy.strip().lower() == _DIRECT
    return host.strip().lower(), "" if is_direct else _checked_proxy("fetch.proxies", proxy.strip())


def headers_in(file: str) -> tuple[str, ...]:
    """The headers in a file, one per line; `#` begins a comment. Raises SettingsError."""
    if not file:
        return ()
    key = "fetch.headers_file"
    lines = (line.strip() for line in _text_in(key, file).split("\n"))
    return tuple(checked_header(line, key) for line in lines if line and line[0] != "#")


def cookies_in(file: str) -> tuple[Cookie, ...]:
    """The cookies in a file in Netscape format. Raises SettingsError."""
    if not file:
        return ()
    key = "fetch.cookies_file"
    try:
        # Byte for byte, because the character set of a site's cookies is unknown.
        return tuple(read_cookie_text(Path(_readable(key, file)).read_text(encoding="latin-1")))
    except ValueError as fault:
        form = "not a cookie in Netscape's format (seven fields separated by tabs)"
        raise SettingsError(key, f"names {file}, line {fault}, which is {form}") from None


def _text_in(key: str, file: str) -> str:
    try:
        return Path(_readable(key, file)).read_text(encoding="utf-8-sig")
    except UnicodeError:
        raise SettingsError(key, f"names {file}, which is not UTF-8 text") from None


def _logins_in(file: str) -> dict[str, Login]:
    """Logins of a netrc file: `machine HOST login USER password WORD`."""
    if not file:
        return {}
    key = "fetch.logins_file"
    _readable(key, file)
    try:
        held = netrc.netrc(file).hosts
    except netrc.NetrcParseError as fault:  # its message can contain a password
        problem = "is not `machine HOST login USER password WORD`"
        raise SettingsError(key, f"names {file}, line {fault.lineno}, which {problem}") from None
    except UnicodeError:
        raise SettingsError(key, f"names {file}, which is not text") from None
    if "default" in held:
        raise SettingsError(key, f"names {file}, which has a login for every host (`default`)")
    return {host.lower(): Login(user, word or "") for host, (user, _, word) in held.items()}


def secret_files(settings: Fetch) -> list[str]:
    """The files with secrets that the settings name."""
    named = (
        settings.logins_file,
        settings.headers_file,
        settings.cookies_file,
        settings.client_certificate,
    )
    return [file for file in named if file]


def can_others_read(file: str) -> bool:
    """Whether other users of this machine may read a file; False if unknown."""
    try:
        return os.name == "posix" and bool(Path(file).stat().st_mode & 0o077)
    except OSError:
        return False


def _readable(key: str, file: str) -> str:
    if file:
        try:
            with Path(file).open("rb"):
                pass
        except OSError as fault:
            raise SettingsError(
                key, f"names {file}, which cannot be read: {fault.strerror}"
            ) from None
    return file


def _authorities(file: str) -> bytes:
    """The operator's certificate authorities and the system's, as one text for libcurl."""
    if not file:
        return b""
    key = "fetch.authorities_file"
    own = Path(_readable(key, file)).read_bytes()
    if _CERTIFICATE not in own:
        raise SettingsError(key, f"names {file}, which contains no certificate in PEM format")
    system = ssl.get_default_verify_paths().cafile
    return own + b"\n" + (Path(system).read_bytes() if system else b"")
