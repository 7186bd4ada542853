"""The current state of a collection, opened to read.

A takedown or a rebuild writes a new state and replaces the old one (`staging.py`); a process that
has the old one open could still read it. Invariant: this module reads no row of a replaced state.
It compares the inode of one file, which costs a fifth of decoding a row.

The state is the first of the parts that are replaced. So if a process reads archive or graph and
the state is the same afterwards, what it read belongs to that state (`PresentState.steady`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import fspath

from gossamer.base.files import stamp_of
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.errors import Rewritten
from gossamer.frontier.store import Store

StateCheck = Callable[[], None]


class PresentState:
    """The current state, opened to read. Many threads may use it; one closes it at the end."""

    def __init__(self, paths: CollectionPaths) -> None:
        """Raises NoCollection, WrongVersion, CorruptFile, and CollectionInUse while the parts are
        being replaced."""
        self._paths = paths
        self._identity = fspath(paths.state / "IDENTITY")  # RocksDB creates it with the database
        self._opening = threading.Lock()
        self._replaced: list[Store] = []  # another thread may be reading; closed at the end
        # One tuple, so that no thread sees the stamp of a new state with the rows of the old one.
        self._present = self._open()

    @property
    def store(self) -> Store:
        """Its rows. Reopens a replaced state, and raises like the constructor."""
        stamp, store = self._present
        return store if stamp_of(self._identity) == stamp else self._reopen()

    def unchanged(self) -> StateCheck:
        """Return a function that raises Rewritten if this state has been replaced."""
        store = self.store

        def check() -> None:
            stamp, present = self._present
            if stamp_of(self._identity) != stamp or present is not store:
                raise Rewritten(self._paths.path)

        return check

    @contextmanager
    def steady(self) -> Iterator[StateCheck]:
        """A context that reads one state, with archive and graph. It yields a check to call before
        any result is used. Errors caused by a replaced state are raised as Rewritten."""
        check = self.unchanged()
        try:
            yield check
        except Rewritten:
            raise
        except Exception:
            check()
            raise

    def close(self) -> None:
        for store in (*self._replaced, self._present[1]):
            store.close()

    def _reopen(self) -> Store:
        with self._opening:
            stamp, store = self._present
            if stamp_of(self._identity) == stamp:
                return store  # another thread has done it
            new = self._open()
            self._replaced.append(store)
            self._present = new
            return new[1]

    def _open(self) -> tuple[tuple[int, int], Store]:
        # first: then a replacement in the meantime is detected later
        stamp = stamp_of(self._identity)
        store = open_to_read(self._paths)
        try:
            store.refresh()
        except BaseException:
            store.close()
            raise
        return stamp, store
