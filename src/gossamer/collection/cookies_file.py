"""The cookies of a crawl, kept in its collection so that who goes on is still logged in.

The node owns the book. Workers have copies of it: what a site tells one of them goes to the node
and from there to the others, so that all agree but for the moment that this takes. The file has
Netscape's form, is readable by its owner alone, and belongs to no export and no archive: whoever
has it is the operator to these sites. Cookies that the operator gave and no site has changed stay
in the operator's file alone. Ours says which file that was; when it has changed since, its cookies
take the place of those that are kept.
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
    """The jar of a collection and its file."""

    def __init__(self, path: Path, settings: Fetch, clock: Clock) -> None:
        """Raises SettingsError for the operator's file, CorruptFile for ours."""
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
        """Write what has changed, unless that was done a moment ago. Raises OSError."""
        if self._clock.now_s() >= self._next_save_s:
            self.save()

    def save(self) -> None:
        """Make what has changed last. Raises OSError."""
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
        """Of the operator's cookies those that a site has ended, as ones that are long over."""
        held = _keys(self.jar.all())
        gone = (cookie for cookie in self._given if cookie.key not in held)
        return [cookie._replace(value="", expires_s=1) for cookie in gone]

    def put(self, cookies: Iterable[Cookie]) -> None:
        """What a worker heard."""
        self.jar.put(cookies, self._clock.wall_us() / 1e6)


def _keys(cookies: Iterable[Cookie]) -> set[tuple[str, str, str]]:
    return {cookie.key for cookie in cookies}


def _digest(file: str) -> str:
    return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}" if file else ""


def _read(path: Path) -> tuple[list[Cookie], str]:
    """The cookies of a file of ours, and with which file it began."""
    try:
        text = path.read_text(encoding="latin-1")
    except FileNotFoundError:
        return [], ""
    except OSError as fault:
        raise CorruptFile(path, 0, f"cannot be read ({fault.strerror})") from None
    try:
        cookies = read_cookie_text(text)
    except ValueError as fault:
        raise CorruptFile(path, 0, f"line {fault} is no cookie; mend or delete it") from None
    began = (line for line in text.split("\n")[:3] if line.startswith(f"# {_BEGAN}"))
    return cookies, next(began, "").removeprefix(f"# {_BEGAN}")


def _write_private(path: Path, content: bytes) -> None:
    """Replace a file that only its owner may read, in one act."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    new.replace(path)
