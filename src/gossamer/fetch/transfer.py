"""One libcurl handle and its current request.

Handles are reused; only what differs between requests is set each time. `intake.py` collects the
response, and this module checks it as soon as its head is complete.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from functools import partial
from typing import Final

import pycurl

from gossamer.base.magic import START_BYTES, magic_of
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.head import Head
from gossamer.fetch.held_bytes import HeldBytes
from gossamer.fetch.intake import STOP, ResponseIntake
from gossamer.fetch.judge import ResponseJudge, mime_of
from gossamer.fetch.multi import TransferEnded
from gossamer.fetch.network import DIRECT, HostRoute, Login, NetworkAccess
from gossamer.fetch.permit import ALWAYS, Permit
from gossamer.fetch.raw_bytes import most_for, raw_bytes
from gossamer.fetch.request import Headers
from gossamer.fetch.resolve import address_in
from gossamer.records import Lease, Purpose, Reason
from gossamer.settings import Fetch
from gossamer.urls.canonical import host_of, origin_of, port_of

_ALLOW_REQUEST: Final[int] = pycurl.PREREQFUNC_OK
_REFUSE_REQUEST: Final[int] = pycurl.PREREQFUNC_ABORT
# the headers of a proxy about its tunnel; pycurl has no name for it
_SUPPRESS_CONNECT_HEADERS: Final = 265
# With one scheme libcurl authenticates at once, with two it first asks which is wanted.
_SCHEMES: Final[dict[str, int]] = {
    "": pycurl.HTTPAUTH_BASIC | pycurl.HTTPAUTH_DIGEST,
    "basic": pycurl.HTTPAUTH_BASIC,
    "digest": pycurl.HTTPAUTH_DIGEST,
}
_BUFFER_BYTES: Final = 128 * 1024  # most bodies arrive in one or two pieces
_PAGE: Final = Purpose.PAGE


class Transfer:
    """A handle with the state of its current request."""

    def __init__(
        self,
        settings: Fetch,
        headers: Headers,
        judge: ResponseJudge,
        guard: AddressGuard,
        held: HeldBytes,
        network: NetworkAccess,
        permit: Permit = ALWAYS,
    ) -> None:
        self._held = held
        self._permit = permit
        self.is_unpermitted = False  # it was not sent, because its permit had ended
        self.held_bytes = 0
        self.intake: Final = ResponseIntake(
            settings.max_header_bytes,
            partial(held.take, self),
            self._on_head,
            self._on_start,
            self._on_fault,
        )
        self._purpose = _PAGE
        self._times_s = {
            Purpose.PAGE: settings.total_time_s,
            Purpose.ROBOTS: min(settings.robots_time_s, settings.total_time_s),
            Purpose.SITEMAP: min(settings.sitemap_time_s, settings.total_time_s),
        }
        self.began_s = 0.0
        self.received_bytes = 0
        self._received_before: int | None = None
        self.on_end: TransferEnded | None = None
        self._headers = headers
        self._is_secret_sent = False
        self.conditions: tuple[str, ...] = ()  # header lines of this request
        self._cookies = ""
        self._judge = judge
        self._guard = guard
        self._network = network
        self._way = DIRECT
        # prefix of URLs that need no pin, because their host is an address
        self._nameless = "none yet"
        self.curl = _handle(settings, network.authorities)
        self.curl.setopt(pycurl.HTTPHEADER, headers.for_all)
        self.curl.setopt(pycurl.HEADERFUNCTION, self.intake.header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.intake.body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)
        self.curl.setopt(pycurl.PREREQFUNCTION, self._on_request)

    def begin(self, lease: Lease, cookies: str, *, may_repeat: bool) -> pycurl.Curl:
        """Reset the handle and prepare it for this request.

        `cookies` is the value of the Cookie header, or empty. `may_repeat`: the host has no delay
        between requests, so libcurl may repeat a request on a connection that the server was just
        closing.
        """
        self.lease = lease
        self._requests_left = 2 if may_repeat else 1
        self.refusal: tuple[Reason, str] | None = None
        self.failure: tuple[Reason, str] | None = None
        self.intake.begin(lease.max_body_bytes)
        self._magic = ""  # type by the first bytes, where the headers did not tell
        self.set_cookies: list[str] = []
        self._was_challenged = False
        self.is_unpermitted = False
        self.received_bytes, self._received_before = 0, None
        curl = self.curl
        curl.setopt(pycurl.URL, lease.url)
        if lease.purpose is not self._purpose:
            self._purpose = lease.purpose
            curl.setopt(pycurl.TIMEOUT_MS, round(self._times_s[lease.purpose] * 1000))
        if not self._network.is_plain:
            self._take(self._network.way_to(lease))
        if self._way.proxy or not lease.url.startswith(self._nameless):
            self._pin(lease)
        conditions = () if lease.previous is None else self._headers.conditions(lease.previous)
        if lease.gets_secrets != self._is_secret_sent or conditions != self.conditions:
            self._is_secret_sent, self.conditions = lease.gets_secrets, conditions
            lines = self._headers.of(with_secrets=lease.gets_secrets)
            curl.setopt(pycurl.HTTPHEADER, [*lines, *(line.encode() for line in conditions)])
        if cookies != self._cookies:
            self._cookies = cookies
            self._set_cookies(cookies)
        return curl

    def _set_cookies(self, cookies: str) -> None:
        if cookies:
            self.curl.setopt(pycurl.COOKIE, cookies.encode("latin-1"))
        else:
            self.curl.unsetopt(pycurl.COOKIE)

    @property
    def hidden_names(self) -> tuple[str, ...]:
        """Headers of this request beyond those of `Headers`, whose values are not archived."""
        if self._way.login is None and not self._cookies:
            return ()
        is_known = self._way.login is not None and (self._way.scheme or self._was_challenged)
        return (("Authorization",) if is_known else ()) + (("Cookie",) if self._cookies else ())

    def _pin(self, lease: Lease) -> None:
        """Pin the name to the checked address, at a proxy too."""
        host, port, address = host_of(lease.url), port_of(lease.url), lease.address
        if not self._way.proxy and address_in(host):
            self._nameless = f"{origin_of(lease.url)}/"
            return
        pinned = f"[{address}]" if ":" in address else address
        if not self._way.proxy:
            self.curl.setopt(pycurl.RESOLVE, [f"{host}:{port}:{pinned}"])
        elif not self._network.gives_names:
            self.curl.setopt(pycurl.CONNECT_TO, [f"{host}:{port}:{pinned}:{port}"])

    def _take(self, way: HostRoute) -> None:
        """Change proxy and login if they differ from the last request."""
        # Host and proxy may each send a challenge before they accept the request.
        self._requests_left += (way.login is not None) + (way.proxy_login is not None)
        if way == self._way:
            return
        self._way, curl = way, self.curl
        curl.setopt(pycurl.PROXY, way.proxy)
        curl.setopt(pycurl.HTTPPROXYTUNNEL, bool(way.proxy) and not self._network.gives_names)
        curl.unsetopt(pycurl.CONNECT_TO)
        curl.setopt(pycurl.HTTPAUTH, _SCHEMES[way.scheme])
        _set_login(curl, way.login, pycurl.USERNAME, pycurl.PASSWORD)
        _set_login(curl, way.proxy_login, pycurl.PROXYUSERNAME, pycurl.PROXYPASSWORD)

    def end(self) -> None:
        """End the request and free its response."""
        self.intake.end()
        self._held.end(self)

    def excess(self) -> int:
        """Number of bytes received beyond the limit of the body. Called from time to time."""
        received = raw_bytes(self.curl)
        if received is None:
            return 0
        if self._received_before is None:  # on a reused connection, count from the first call
            is_new = self.curl.getinfo(pycurl.NUM_CONNECTS) > 0
            self._received_before = 0 if is_new else received
        self.received_bytes = received - self._received_before
        return self.received_bytes - most_for(self.lease.max_body_bytes)

    def speed(self, now_s: float) -> float:
        """Bytes per second since the request began."""
        received: float = self.curl.getinfo(pycurl.SIZE_DOWNLOAD_T)
        return received / max(now_s - self.began_s, 0.001)

    def resume(self) -> None:
        with suppress(pycurl.error):  # it may have ended by its timeout or its size
            self.curl.pause(pycurl.PAUSE_CONT)

    def _on_connect(self, _purpose: int, address: tuple[int, int, int, tuple[str, int]]) -> object:
        """Check the address that this program or the proxy is about to connect to."""
        family, kind, protocol, (ip, *_) = address
        if self._way.proxy:
            ip = self.lease.address
        lease = self.lease
        forbidden = self._guard.forbids(
            ip,
            is_trusted=lease.is_trusted and not lease.must_be_public,
            is_literal=bool(address_in(lease.host)),
        )
        if forbidden:
            self.refusal = Reason.PRIVATE, forbidden
            return pycurl.SOCKET_BAD
        return _DuplicatedSocket(socket.socket(family, kind, protocol))

    def _on_request(self, *_connection: object) -> int:
        """Called before each request, including repeats by libcurl itself. The process may have
        been stopped while the connection was made: the permit is checked at the last moment."""
        if not self._permit.is_valid():
            self.is_unpermitted = True
            return _REFUSE_REQUEST
        self._requests_left -= 1
        if self._requests_left >= 0:
            return _ALLOW_REQUEST
        self.failure = Reason.RESET, "the connection closed before the response began"
        return _REFUSE_REQUEST

    def _on_fault(self, sentence: str) -> None:
        self.failure = Reason.PROTOCOL, sentence

    def _on_head(self) -> int | None:
        """The head of the response is complete: check whether the body is wanted."""
        status, head = self.intake.status, Head(self.intake.head)
        self.set_cookies += head.all("set-cookie")
        if status == 401 and self._way.login is not None:
            self._was_challenged = True
            self._network.note_challenge(self.lease.url, head.all("www-authenticate"))
        if self.lease.purpose is not _PAGE:
            return None  # any type and length: the first part of the body is read
        content_type = head.content_type()
        self.refusal = self._judge.forbids(
            status,
            content_type,
            head.length(),
            max_body_bytes=self.lease.max_body_bytes,
        )
        mime = mime_of(content_type)
        if self._judge.looks_at_bytes(mime):
            self._untold_type = mime
            self.intake.is_watched = not head.first("content-encoding")
        elif status == 200 and self.refusal is None:
            self.intake.let_pass(content_type)
        return STOP if self.refusal else None

    @property
    def listed(self) -> tuple[str, int]:
        """Type and length of a file that is only listed; 0 if the headers do not say how long."""
        head = Head(self.intake.head)
        mime = mime_of(head.content_type())
        return self._magic or mime, head.length() or 0

    def judge_last_type(self) -> None:
        """Check the effective one of several Content-Type headers. The intake compares only the
        first one with the type that it lets pass.
        """
        head = self.intake.head
        if self.lease.purpose is _PAGE and head.lower().count(b"\ncontent-type") > 1:
            self.refusal = self._judge.forbids(
                self.intake.status,
                Head(head).content_type(),
                None,
                max_body_bytes=self.lease.max_body_bytes,
            )

    def _on_start(self, piece: bytes) -> bool:
        """Check the first bytes of a body whose head did not tell the type."""
        self.refusal = self._judge.forbids_bytes(self._untold_type, piece)
        self._magic = magic_of(piece[:START_BYTES])
        return self.refusal is not None


class _DuplicatedSocket:
    """A socket for libcurl, which duplicates it. Ours is closed as soon as it has."""

    def __init__(self, own: socket.socket) -> None:
        self._own = own
        self.fileno = own.fileno

    def __del__(self) -> None:
        self._own.close()


def _set_login(curl: pycurl.Curl, login: Login | None, user: int, password: int) -> None:
    if login is None:
        curl.unsetopt(user)
        curl.unsetopt(password)
    else:
        curl.setopt(user, login.user)
        curl.setopt(password, login.password)


def _handle(settings: Fetch, authorities: bytes) -> pycurl.Curl:
    """A handle with all options that are the same for all requests."""
    curl = pycurl.Curl()
    curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    curl.setopt(pycurl.FOLLOWLOCATION, 0)
    curl.setopt(pycurl.NOSIGNAL, 1)
    curl.setopt(pycurl.BUFFERSIZE, _BUFFER_BYTES)
    curl.setopt(pycurl.PATH_AS_IS, 1)
    curl.setopt(pycurl.HTTP09_ALLOWED, 0)
    curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
    # Ignore the proxies of the environment and the user's .netrc.
    curl.setopt(pycurl.PROXY, "")
    curl.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
    curl.setopt(pycurl.CONNECTTIMEOUT_MS, round(settings.connect_time_s * 1000))
    curl.setopt(pycurl.TIMEOUT_MS, round(settings.total_time_s * 1000))
    curl.setopt(pycurl.LOW_SPEED_LIMIT, settings.low_speed_bytes)
    curl.setopt(pycurl.LOW_SPEED_TIME, settings.low_speed_time_s)
    curl.setopt(pycurl.PROXYAUTH, _SCHEMES[""])
    curl.setopt(_SUPPRESS_CONNECT_HEADERS, 1)
    system = ssl.get_default_verify_paths()
    if authorities:
        curl.setopt(pycurl.CAINFO_BLOB, authorities)
    elif system.cafile:
        curl.setopt(pycurl.CAINFO, system.cafile)
    if system.capath:
        curl.setopt(pycurl.CAPATH, system.capath)
    return curl
