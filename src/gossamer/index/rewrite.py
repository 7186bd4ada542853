"""Copy the live entries to a new generation, a step at a time.

tantivy counts dead entries in its statistics and has no command to remove them, so an index in
which a third is dead is rewritten. 100,000 entries take most of a minute, and pages must be
searchable within seconds of their fetch. So every commit takes one step, and the old generation is
used meanwhile. Entries that change during that time are copied again. A kill leaves the old
generation.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from gossamer.index.entry import entry_of
from gossamer.index.folder import build_generation, next_name
from gossamer.index.generation import Generation

STEP: Final = 2_000  # entries copied with one commit: about a second


class Rewriting:
    """A rewrite in progress."""

    def __init__(self, old: Generation, heap_bytes: int, step: int) -> None:
        self._old = old
        self._keys = (key for share in old.shares() for key, _ in old.keys(share))
        self._touched: dict[bytes, None] = {}
        self._step = step
        path = build_generation(old.path.parent, next_name(old.path))
        self.new = Generation(path, heap_bytes)

    def touch(self, keys: Iterable[bytes]) -> None:
        """Record keys that were written to the old generation, or removed from it, and
        committed.
        """
        self._touched.update(dict.fromkeys(keys))

    def step(self) -> bool:
        """Copy some more entries. Return whether the new generation is complete."""
        copied = self._copy(islice(self._keys, self._step))
        if copied == self._step:
            return False
        again = list(islice(self._touched, self._step - copied))
        for key in again:
            del self._touched[key]
        self._copy(again)
        return not self._touched

    def _copy(self, keys: Iterable[bytes]) -> int:
        copied = 0
        for key in keys:
            copied += 1
            kept = self._old.find(key)
            if kept is None:
                self.new.remove(key)
            else:
                self.new.write(entry_of(kept, self._old.text(kept)))
        return copied
