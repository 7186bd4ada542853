"""Authentication: who may read, and who may make changes.

On loopback everyone may read; changes need the token or a session. On any other address reading
needs the same. A session begins with a password, the token, or the one-time link that `serve`
prints at its start. A browser's request for a change must also carry the session's CSRF token,
which no other site can read.

Pure except for the sessions: the time is an argument, and nothing waits.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from gossamer.errors import UsageError
from gossamer.web.protect.proxies import Proxies
from gossamer.web.protect.throttle import LoginThrottle

SESSION_S: Final = 12 * 3600.0
_MOST_SESSIONS: Final = 1_000
_LEAST_TOKEN: Final = 16  # characters; 22 of base64 are 128 bits
# RFC 7914's interactive parameters times eight: 128 MB and about 0.3 s for each guess.
_N, _R, _P = 2**17, 8, 1
_MEMORY_BYTES: Final = 256 * 2**20


def hash_password(password: str, salt: bytes | None = None) -> str:
    """Return a line for the password file: `scrypt$N$r$p$salt$hash`. Raises UsageError for a short
    one."""
    if len(password) < 10:
        raise UsageError("a password needs at least 10 characters")
    salt = salt or secrets.token_bytes(16)
    hashed = hashlib.scrypt(
        password.encode(), salt=salt, n=_N, r=_R, p=_P, maxmem=_MEMORY_BYTES, dklen=32
    )
    return f"scrypt${_N}${_R}${_P}${b64encode(salt).decode()}${b64encode(hashed).decode()}"


def check_hash(line: str) -> str:
    """Return the line if `hash_password` made it. Raises UsageError."""
    parts = line.strip().split("$")
    if len(parts) != 6 or parts[:4] != ["scrypt", str(_N), str(_R), str(_P)]:
        raise UsageError(
            "the password file is invalid; create its line with `gossamer serve --hash-password`"
        )
    return line.strip()


def check_token(text: str) -> str:
    """Return the token if it is too long to be guessed. Raises UsageError."""
    token = text.strip()
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise UsageError(f"a token needs at least {_LEAST_TOKEN} printable ASCII characters")
    return token


def fits(password: str, line: str) -> bool:
    """Whether a password matches the line. Always takes about 0.3 s."""
    _, n, r, p, salt, hashed = line.split("$")
    made = hashlib.scrypt(
        password.encode("utf-8", "replace"),
        salt=b64decode(salt), n=int(n), r=int(r), p=int(p), maxmem=_MEMORY_BYTES, dklen=32,
    )  # fmt: skip
    return hmac.compare_digest(made, b64decode(hashed))


@dataclass(slots=True)
class Sessions:
    """The sessions. Kept in memory: a restart logs everyone out."""

    _ends_s: dict[str, float] = field(default_factory=dict)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def begin(self, now_s: float) -> str:
        """Start a session and return its name; the oldest ends if there are too many."""
        self._ends_s = {name: end for name, end in self._ends_s.items() if end > now_s}
        while len(self._ends_s) >= _MOST_SESSIONS:
            self._ends_s.pop(next(iter(self._ends_s)))
        name = secrets.token_urlsafe(32)
        self._ends_s[name] = now_s + SESSION_S
        return name

    def is_on(self, name: str, now_s: float) -> bool:
        return self._ends_s.get(name, 0.0) > now_s

    def end(self, name: str) -> None:
        self._ends_s.pop(name, None)

    def csrf_of(self, name: str) -> str:
        """Return the CSRF token of a session's forms."""
        return hmac.new(self._secret, name.encode(), hashlib.sha256).hexdigest()

    def key_of(self, name: str) -> str:
        """Return the key in links of a session's copies; it opens copies while the session
        lasts."""
        return hmac.new(self._secret, f"copies {name}".encode(), hashlib.sha256).hexdigest()

    def has_key(self, given: str, now_s: float) -> bool:
        """Whether this is the key of an active session."""
        word = given.encode("utf-8", "replace")
        on = [name for name in list(self._ends_s) if self.is_on(name, now_s)]
        return any(hmac.compare_digest(word, self.key_of(name).encode()) for name in on)


@dataclass(slots=True)
class Credentials:
    """The secrets of the server, and who may read without one."""

    token: str  # for programs: `Authorization: Bearer TOKEN`
    password: str = ""  # a line of `hash_password`; empty if none is set
    is_open_to_readers: bool = True
    cookie: str = "gossamer"  # browsers share cookies between ports, so the port is in the name
    sessions: Sessions = field(default_factory=Sessions)
    throttle: LoginThrottle = field(default_factory=LoginThrottle)
    proxies: Proxies = field(default_factory=Proxies)  # proxies whose X-Forwarded-For is trusted
    ticket: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    # Further tokens, each with what it may do: a hub has one for each person.
    others: Callable[[str], Literal["", "read", "manage"]] = lambda _given: ""
    # Each guess takes 128 MB: many at once would use up the memory.
    _hashing: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(2))

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def scope_of(self, given: str) -> Literal["", "read", "manage"]:
        """What a token may do; empty if it is wrong."""
        return "manage" if self.is_token(given) else self.others(given)

    def is_password(self, given: str) -> bool:
        """Whether a text is the password. May take 0.3 s."""
        if not self.password:
            return False
        with self._hashing:
            return fits(given, self.password)

    def take_ticket(self, given: str) -> bool:
        """Whether this is the printed one-time link; it is invalid afterwards."""
        if not self.ticket or not hmac.compare_digest(
            given.encode("utf-8", "replace"), self.ticket.encode()
        ):
            return False
        self.ticket = ""
        return True
