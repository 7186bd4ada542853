"""The requests of a unit to its hub, over HTTPS, through a proxy if there is one.

Each call blocks and is bounded in time and size. It returns the answer, or raises one of three
errors with one sentence for a person: HubAway (try again later), HubUntrusted (the certificate) or
HubRefusal (the hub says no, with its status). A client is for one thread.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
import pycurl

from gossamer.errors import HubAway, HubError, HubRefusal, HubUntrusted, UsageError
from gossamer.fleet.protocol import (
    MESSAGE_BYTES,
    PREFIX,
    BannedLines,
    FleetFault,
    FleetMessage,
    HaveQuestion,
    Join,
    Joined,
    MissingDigests,
    PackageAccepted,
    PackageNotice,
    PieceStored,
    Poll,
    PollAnswer,
)
from gossamer.version import __version__

_CONNECT_S: Final = 20.0
_ANSWER_S: Final = 120.0
_LEAST_BYTES_S: Final = 100  # a slower transfer ends after the next number of seconds
_SLOW_S: Final = 60
_CA_BYTES: Final = 100_000
_FAULT_BYTES: Final = 65_536  # of the body of a refusal
_ENDING: Final = "check the address and the network"
# libcurl's errors about certificates: of the server, of an authority, of the connection.
_UNTRUSTED: Final = frozenset({60, 51, 77, 83, 90, 91})
_NO_TLS: Final = frozenset({35})
_NO_NAME, _NO_PROXY_NAME, _NO_CONNECTION, _TOO_LATE, _BY_PROXY = 6, 5, 7, 28, 97
# What a status means without words of the hub.
_MEANINGS: Final = {
    401: "the hub does not know this unit any more: its token was revoked; join again with a new "
    "code",
    403: "the hub does not allow this",
    404: "{url} is not a hub of Gossamer, or one of another version",
    407: "the proxy wants a login; set `proxy` in unit.toml to http://USER:PASSWORD@HOST:PORT",
    409: "the job was given to another unit",
    413: "the hub takes nothing that large",
    426: "the hub needs another version of the unit; update it",
    429: "the hub got too many requests",
    503: "the hub is busy",
}

_Message = TypeVar("_Message", bound=FleetMessage)


def checked_url(url: str) -> str:
    """The address of a hub as a person typed it, without a path. Raises UsageError."""
    parts = urlsplit(url if "://" in url else f"https://{url}")
    try:
        is_right = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right or parts.username is not None:
        raise UsageError(f"{url!r} is not the address of a hub (https://HOST:PORT expected)")
    return f"https://{parts.netloc}{parts.path.rstrip('/')}"


class HubClient:
    """A connection to a hub that is kept open between requests."""

    def __init__(
        self,
        url: str,
        token: str = "",
        ca_file: Path | None = None,
        proxy: str = "",
        *,
        certificate: Path | None = None,
        answer_s: float = _ANSWER_S,
    ) -> None:
        """`ca_file`: the authority of the hub; without it those of the system. `proxy`: by default
        that of the environment (https_proxy). `certificate`: key and certificate of the unit, if
        the hub wants one."""
        self.url = checked_url(url)
        self._token = token
        self._ca_file = ca_file
        self._proxy = proxy
        self._certificate = certificate
        self._answer_s = answer_s
        self._curl = pycurl.Curl()

    def close(self) -> None:
        self._curl.close()

    # -- the calls of the protocol

    def authority(self) -> str:
        """The certificate of the hub's authority (PEM). The connection is not verified: the join
        code tells whether it is the right one."""
        return self._request("GET", "/ca", most=_CA_BYTES, is_open=True).decode("ascii", "replace")

    def join(self, message: Join) -> Joined:
        return self._post("/join", message, Joined)

    def poll(self, message: Poll) -> PollAnswer:
        return self._post("/poll", message, PollAnswer)

    def have(self, question: HaveQuestion) -> MissingDigests:
        return self._post("/have", question, MissingDigests)

    def put_piece(self, job: str, fence: int, sha256: str, piece: bytes) -> PieceStored:
        path = f"/pieces/{quote(job, safe='')}/{fence}/{quote(sha256, safe='')}"
        return _read(self._request("PUT", path, piece), PieceStored, self.url)

    def send_package(self, notice: PackageNotice) -> PackageAccepted:
        return self._post("/package", notice, PackageAccepted)

    def bans(self) -> BannedLines:
        return _read(self._request("GET", "/bans"), BannedLines, self.url)

    def fetch_update(self, path: str, most: int) -> bytes:
        """A file of the update repository, of at most so many bytes."""
        return self._request("GET", f"/update/{quote(path)}", most=most)

    def download_update(self, path: str, start: int, take: Callable[[bytes], None]) -> None:
        """A file of the update repository from an offset on, in pieces, for as long as it takes.
        What `take` raises ends the transfer and is raised here."""
        passing = _Passing(start, take)
        self._prepare("GET", f"/update/{quote(path)}", None, is_open=False)
        self._curl.setopt(pycurl.TIMEOUT_MS, 0)  # the speed is checked, here and by the caller
        self._curl.setopt(pycurl.RANGE, f"{start}-")
        self._curl.setopt(pycurl.HEADERFUNCTION, passing.head)
        self._curl.setopt(pycurl.WRITEFUNCTION, passing.take)
        try:
            self._curl.perform()
        except pycurl.error as fault:
            if passing.fault is not None:
                raise passing.fault from None
            raise self._error_of(fault.args[0], str(fault.args[1])) from None
        status = self._curl.getinfo(pycurl.RESPONSE_CODE)
        if status not in (200, 206) and not (status == 416 and start):  # 416: it is complete
            raise _refusal(status, bytes(passing.refused), self.url)

    # -- one request

    def _post(self, path: str, message: FleetMessage, kind: type[_Message]) -> _Message:
        return _read(self._request("POST", path, msgspec.json.encode(message)), kind, self.url)

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        most: int = MESSAGE_BYTES,
        is_open: bool = False,
    ) -> bytes:
        curl, taken = self._curl, _Taken(most)
        self._prepare(method, path, body, is_open=is_open)
        curl.setopt(pycurl.WRITEFUNCTION, taken.take)
        try:
            curl.perform()
        except pycurl.error as fault:
            if taken.is_over:
                raise HubAway(f"the answer of the hub at {self.url} is too long") from None
            raise self._error_of(fault.args[0], str(fault.args[1])) from None
        status = curl.getinfo(pycurl.RESPONSE_CODE)
        if status != 200:
            raise _refusal(status, bytes(taken.bytes), self.url)
        return bytes(taken.bytes)

    def _prepare(self, method: str, path: str, body: bytes | None, *, is_open: bool) -> None:
        curl = self._curl
        curl.reset()  # connections stay open
        curl.setopt(pycurl.URL, f"{self.url}{PREFIX}{path}")
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, round(_CONNECT_S * 1000))
        curl.setopt(pycurl.TIMEOUT_MS, round(self._answer_s * 1000))
        curl.setopt(pycurl.LOW_SPEED_LIMIT, _LEAST_BYTES_S)
        curl.setopt(pycurl.LOW_SPEED_TIME, _SLOW_S)
        curl.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.PROXYAUTH, pycurl.HTTPAUTH_ANY)
        if self._proxy:
            curl.setopt(pycurl.PROXY, "" if self._proxy == "direct" else self._proxy)
        self._set_trust(is_open=is_open)
        headers = [f"User-Agent: gossamer-unit/{__version__}", "Expect:"]
        if self._token and not is_open:
            headers.append(f"Authorization: Bearer {self._token}")
        if body is not None:
            kind = "application/json" if method == "POST" else "application/octet-stream"
            headers.append(f"Content-Type: {kind}")
            curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.CUSTOMREQUEST, method)
        curl.setopt(pycurl.HTTPHEADER, headers)

    def _set_trust(self, *, is_open: bool) -> None:
        curl = self._curl
        if is_open:
            curl.setopt(pycurl.SSL_VERIFYPEER, 0)
            curl.setopt(pycurl.SSL_VERIFYHOST, 0)
            curl.setopt(pycurl.FRESH_CONNECT, 1)
            curl.setopt(pycurl.FORBID_REUSE, 1)
        elif self._ca_file is not None:
            curl.setopt(pycurl.CAINFO, str(self._ca_file))
            curl.setopt(pycurl.CAPATH, str(self._ca_file.parent / "no-further-authorities"))
        else:
            system = ssl.get_default_verify_paths()
            if system.cafile:
                curl.setopt(pycurl.CAINFO, system.cafile)
            if system.capath:
                curl.setopt(pycurl.CAPATH, system.capath)
        if self._certificate is not None and not is_open:
            curl.setopt(pycurl.SSLCERT, str(self._certificate))
            curl.setopt(pycurl.SSLKEY, str(self._certificate))

    def _error_of(self, code: int, message: str) -> HubError:
        """One sentence for each kind of failure."""
        host = urlsplit(self.url).hostname
        by_proxy = self._curl.getinfo(pycurl.HTTP_CONNECTCODE)
        if code == _NO_NAME:
            return HubAway(f"the hub {host} is unknown: its name cannot be resolved; {_ENDING}")
        if code == _NO_PROXY_NAME:
            return HubAway("the name of the proxy cannot be resolved; check `proxy` in unit.toml")
        if code == _BY_PROXY or (by_proxy and by_proxy != 200):
            known = _MEANINGS[407] if by_proxy == 407 else f"status {by_proxy}"
            return HubAway(f"the proxy does not lead to the hub {host}: {known}")
        if code in _UNTRUSTED:
            return HubUntrusted(
                f"the certificate of the hub at {self.url} cannot be verified ({message}): it is "
                "another server, or a proxy that reads the connection; nothing was sent"
            )
        if code in _NO_TLS:
            return HubUntrusted(f"{self.url} does not speak TLS as a hub does ({message})")
        if code == _TOO_LATE:
            return HubAway(f"the hub at {self.url} does not answer in time; {_ENDING}")
        if code == _NO_CONNECTION:
            return HubAway(f"no connection to the hub at {self.url}; {_ENDING}")
        return HubAway(f"the connection to the hub at {self.url} failed ({message})")


class _Taken:
    """The body of an answer, of a bounded size."""

    def __init__(self, most: int) -> None:
        self.bytes = bytearray()
        self.is_over = False
        self._most = most

    def take(self, piece: bytes) -> int | None:
        if len(self.bytes) + len(piece) > self._most:
            self.is_over = True
            return -1
        self.bytes += piece
        return None


class _Passing:
    """Passes on the body of a file from an offset on."""

    def __init__(self, start: int, take: Callable[[bytes], None]) -> None:
        self._status = b""
        self._to_skip = start  # if the hub sends all of it
        self._take = take
        self.refused = bytearray()
        self.fault: BaseException | None = None

    def head(self, line: bytes) -> None:
        """A line of the head. The last status counts: the first may be the proxy's."""
        if line.startswith(b"HTTP/"):
            self._status = line.partition(b" ")[2][:3]

    def take(self, piece: bytes) -> int | None:
        if self._status not in (b"200", b"206"):
            self.refused += piece[: max(0, _FAULT_BYTES - len(self.refused))]
            return None
        if self._status == b"200" and self._to_skip:
            skipped = min(self._to_skip, len(piece))
            self._to_skip -= skipped
            piece = piece[skipped:]
        try:
            self._take(piece)
        except BaseException as fault:  # noqa: BLE001  # libcurl calls this; `perform` ends then
            self.fault = fault
            return -1
        return None


def _read(body: bytes, kind: type[_Message], url: str) -> _Message:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as fault:
        what = f"the hub at {url} answers in a way that this version does not understand ({fault})"
        raise HubRefusal(
            f"{what}; update the unit or the hub", status=0, reason="protocol"
        ) from None


def _refusal(status: int, body: bytes, url: str) -> HubRefusal:
    """The error that the hub has told, in its words if it has any."""
    fault: Any = None
    try:
        fault = msgspec.json.decode(body, type=FleetFault)
    except msgspec.MsgspecError:
        what = _MEANINGS.get(status, "the hub answers with status {status}")
        what = what.format(url=url, status=status)
        return HubRefusal(what, status=status)
    what = fault.error or _MEANINGS.get(status, f"status {status}")
    return HubRefusal(what[:500], status=status, reason=fault.reason, retry_s=fault.retry_s)
