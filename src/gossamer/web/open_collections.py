"""The collections of the server, by name, each opened once and shared by all requests.

The first is the one of `-c`, at any path. The others are in one folder, where new crawls are
created. A name is a short word, never a path, so that no request can leave the folder.
"""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock
from gossamer.base.files import stamp_of
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import NotKnown, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.search.copies.results import Copies, CopiesRequest
from gossamer.search.engine import Engine
from gossamer.search.messages import SearchedCollection
from gossamer.search.results import Request, Results, as_json
from gossamer.search.searchers import Searchers
from gossamer.web.slow_answers import SlowAnswers

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_REFRESH_S: Final = 0.5  # a crawl commits once a second
_STALE_S: Final = 10.0  # longest time for which a slow reader may delay a refresh


def check_name(name: str) -> str:
    """Return the name if it is valid for a new collection. Raises UsageError."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:80]!r} is not a valid name; use up to 64 lower-case letters, digits, - and _"
        )
    return name


def name_of(path: Path) -> str:
    """Return a directory's name as the web interface shows it."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", path.resolve().name.lower()).strip("-_")
    return plain[:64] or "collection"


@dataclass(slots=True)
class _Opened:
    """The readers of a collection, and the files they were opened on.

    Any number of threads read at once, so that a slow reader delays no other. A refresh may reopen
    the state, and closing ends it: both happen only without readers.
    """

    stamp: tuple[int, int]
    reader: CollectionReader
    engine: Engine | None = None
    refreshed_s: float = float("-inf")
    is_closed: bool = False
    reading: int = 0
    turn: threading.Condition = field(default_factory=threading.Condition)

    def begin(self, now_s: float) -> bool:
        """Start reading, and refresh if there is no other reader; False if it is closed."""
        with self.turn:
            old_s = now_s - self.refreshed_s
            # new readers wait here too, so the number of readers falls to zero
            if old_s >= _STALE_S:
                self.turn.wait_for(self._is_free, _STALE_S)
            if self.is_closed:
                return False
            if self._is_free() and now_s - self.refreshed_s >= _REFRESH_S:
                self.reader.refresh()
                self.refreshed_s = now_s
            self.reading += 1
            return True

    def end(self) -> None:
        with self.turn:
            self.reading -= 1
            self.turn.notify_all()

    def close(self) -> None:
        with self.turn:
            self.is_closed = True
            self.turn.wait_for(self._is_free)
            self.reader.close()

    def _is_free(self) -> bool:
        return not self.reading


class OpenCollections:
    """All collections of one server."""

    def __init__(
        self, first: Path, folder: Path, clock: Clock, searchers: Searchers | None = None
    ) -> None:
        """Without `searchers` this process runs the searches."""
        self._searchers = searchers
        self.first = name_of(first)
        self._first_path = first
        self.folder = folder
        self.clock = clock
        self.slowly = SlowAnswers(clock)
        self.exporting = threading.Lock()  # one export at a time
        self._opened: dict[str, _Opened] = {}
        self._opening = threading.Lock()

    def names(self) -> list[str]:
        """Return every existing collection, the first one first."""
        found = [self.first] if self.paths(self.first).exists else []
        if self.folder.is_dir():
            inside = sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))
            found += [
                path.name
                for path in inside
                if path.name != self.first and CollectionPaths(path).exists
            ]
        return found

    def paths(self, name: str) -> CollectionPaths:
        """Return the paths of a collection, existing or not. Raises NotKnown for an invalid
        name."""
        if name in ("", self.first):
            return CollectionPaths(self._first_path)
        if not _NAME.fullmatch(name):
            raise NotKnown(f"there is no crawl {name[:80]!r}")
        return CollectionPaths(self.folder / name)

    def existing(self, name: str) -> CollectionPaths:
        """Return the paths of an existing collection. Raises NoCollection, NotKnown."""
        paths = self.paths(name)
        if not paths.exists:
            raise paths.missing()
        return paths

    def identity(self, name: str) -> tuple[str, tuple[int, int]]:
        """Return what distinguishes a collection from a cleared or rewritten one."""
        return name or self.first, stamp_of(self.paths(name).state / "IDENTITY")

    @contextmanager
    def reader(self, name: str) -> Iterator[CollectionReader]:
        """Yield a collection to read, at most half a second old; ten seconds with slow readers.

        Raises NoCollection.
        """
        opened = self._open(name)
        if not opened.begin(self.clock.now_s()):  # cleared in the meantime
            raise self.paths(name).missing()
        try:
            yield opened.reader
        finally:
            opened.end()

    def search(self, name: str, request: Request) -> Results:
        """Search a collection. Raises NoCollection, StoreError, QueryError."""
        paths = self.paths(name)
        if self._searchers is None:
            return self._engine(name).search(request)
        if not paths.exists:
            raise paths.missing()
        return self._searchers.search(
            SearchedCollection(paths.path, self.identity(name)[1]), request
        )

    def copies(self, name: str, request: CopiesRequest) -> Copies:
        """Find the copies of a text in a collection. Raises NoCollection, StoreError."""
        paths = self.paths(name)
        if self._searchers is None:
            return self._engine(name).copies(request)
        if not paths.exists:
            raise paths.missing()
        return self._searchers.copies(
            SearchedCollection(paths.path, self.identity(name)[1]), request
        )

    async def search_as_json(self, name: str, request: Request) -> bytes:
        """The same as JSON text, without a waiting thread if the system supports that."""
        paths = self.paths(name)
        if self._searchers is None or sys.platform == "win32":
            return await asyncio.to_thread(lambda: as_json(self.search(name, request), request))
        if not paths.exists:  # checks one or two files, as quick as starting a thread
            raise paths.missing()
        where = SearchedCollection(paths.path, self.identity(name)[1])
        return await self._searchers.search_as_json(where, request)

    def forget(self, name: str) -> None:
        """Close the readers of a collection before it is deleted."""
        with self._opening:
            opened = self._opened.pop(name or self.first, None)
        if opened is not None:
            opened.close()

    def close(self) -> None:
        for name in list(self._opened):
            self.forget(name)
        if self._searchers is not None:
            self._searchers.close()

    def _engine(self, name: str) -> Engine:
        opened = self._open(name)
        with opened.turn:
            if opened.engine is None:
                opened.engine = Engine(self.paths(name).path)
            return opened.engine

    def _open(self, name: str) -> _Opened:
        name = name or self.first
        paths = self.paths(name)
        if not paths.exists:
            self.forget(name)
            raise paths.missing()
        stamp = stamp_of(paths.state / "IDENTITY")
        with self._opening:
            before = self._opened.get(name)
            if before is not None and before.stamp == stamp:
                return before
            opened = _Opened(stamp, CollectionReader.open(paths.path))
            self._opened[name] = opened
        if before is not None:
            before.close()  # of a collection that was cleared and created again
        return opened
