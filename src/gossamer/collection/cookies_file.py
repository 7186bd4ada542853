"""The cookies of a crawl, stored in its collection so that a resumed crawl is still logged in.

The node owns the jar. Workers have copies: a cookie that a site sets goes from the worker to the
node and from there to the other workers. The file has Netscape's format, is readable by its owner
only, and is part of no export and no archive, because it gives access to the operator's accounts.
Cookies of the operator's own file are not copied here unless a site changes them. This file records
which operator file was used; if that has changed, its cookies replace the stored ones.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock
from gossamer.errors import CorruptFile
from gossamer.fetch.cookies import Cookie, Jar, cookie_text, read_cookie_text
from gossamer.fetch.network import cookies_in
from gossamer.settings import Fetch

_SAVE_EVERY_S: Final = 5.0  # some sites give a new cookie with every page
_BEGAN: Final = "Began with "


class CookiesFile:
    """The cookie jar of a collection and its file."""

    def __init__(self, path: Path, settings: Fetch, clock: Clock) -> None:
        """Raises SettingsError for the operator's file, CorruptFile for the collection's."""
        self._path = path
        self._clock = clock
        self._is_kept = settings.cookies
        self._given = given = cookies_in(settings.cookies_file)
        self._origin = _digest(settings.cookies_file)
        kept, origin = _read(path) if self._is_kept else ([], "")
        is_known = bool(self._origin) and origin == self._origin
        now_s = clock.wall_us() / 1e6
        self.jar: Final = Jar(given, is_open=self._is_kept)
        self.jar.put(kept if is_known else [c for c in kept if c.key not in _keys(given)], now_s)
        self._saved = self.jar.changed
        self._next_save_s = 0.0

    def save_now_and_then(self) -> None:
        """Write changes, unless the last write was a moment ago. Raises OSError."""
        if self._clock.now_s() >= self._next_save_s:
            self.save()

    def save(self) -> None:
        """Write changes to the disk. Raises OSError."""
        if not self._is_kept or self.jar.changed == self._saved:
            return
        rows = [*self._of_sites(), *self._taken_back()]
        if rows or self._path.exists():
            text = cookie_text(rows, _BEGAN + self._origin if self._origin else "")
            _write_private(self._path, text.encode("latin-1"))
        self._saved = self.jar.changed
        self._next_save_s = self._clock.now_s() + _SAVE_EVERY_S

    def _of_sites(self) -> list[Cookie]:
        now_s, given = self._clock.wall_us() / 1e6, set(self._given)
        return [c for c in self.jar.all() if c not in given and not c.is_over(now_s)]

    def _taken_back(self) -> list[Cookie]:
        """Return the operator's cookies that a site has deleted, with a date in the past."""
        held = _keys(self.jar.all())
        gone = (cookie for cookie in self._given if cookie.key not in held)
        return [cookie._replace(value="", expires_s=1) for cookie in gone]

    def put(self, cookies: Iterable[Cookie]) -> None:
        """Add cookies that a worker received."""
        self.jar.put(cookies, self._clock.wall_us() / 1e6)


def _keys(cookies: Iterable[Cookie]) -> set[tuple[str, str, str]]:
    return {cookie.key for cookie in cookies}


def _digest(file: str) -> str:
    return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}" if file else ""


def _read(path: Path) -> tuple[list[Cookie], str]:
    """Return the cookies of the collection's file, and the digest of the operator's file."""
    try:
        text = path.read_text(encoding="latin-1")
    except FileNotFoundError:
        return [], ""
    except OSError as fault:
        raise CorruptFile(path, 0, f"cannot be read ({fault.strerror})") from None
    try:
        cookies = read_cookie_text(text)
    except ValueError as fault:
        raise CorruptFile(path, 0, f"line {fault} is not a cookie; correct or delete it") from None
    began = (line for line in text.split("\n")[:3] if line.startswith(f"# {_BEGAN}"))
    return cookies, next(began, "").removeprefix(f"# {_BEGAN}")


def _write_private(path: Path, content: bytes) -> None:
    """Replace a file that only its owner may read, atomically."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    new.replace(path)
