"""The log of a unit: lines for people, in a file of bounded size and on the terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock, iso_of

_MOST_BYTES: Final = 2**20


class UnitLog:
    """Appends lines. A file that has become long is kept as `log.old`."""

    def __init__(self, path: Path, clock: Clock, *, is_quiet: bool = False) -> None:
        self._path = path
        self._clock = clock
        self._is_quiet = is_quiet
        self._last = ""

    def say(self, text: str) -> None:
        line = f"{iso_of(self._clock.wall_us())} {' '.join(text.split())[:1000]}"
        with suppress(OSError):  # a full disk does not end the unit
            if self._path.exists() and self._path.stat().st_size > _MOST_BYTES:
                self._path.replace(self._path.with_name("log.old"))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        if not self._is_quiet:
            print(line, file=sys.stderr, flush=True)

    def say_once(self, text: str) -> None:
        """Unless it was the last such text."""
        if text != self._last:
            self._last = text
            if text:
                self.say(text)
