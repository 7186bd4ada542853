"""Which state of a collection counts now?

A takedown and a rebuild make the state anew and put it in the place of the old one (`staging.py`),
which whoever has it open can go on reading though it is deleted. Invariant: no row is read here of
a state that has been replaced. A look at one file's number tells; it costs a fifth of what decoding
a row does.

The state is the first of the parts that change places. So whoever reads archive or graph, and
finds the state the same afterwards, has read what belongs to it (`PresentState.steady`).
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

Check = Callable[[], None]


class PresentState:
    """The state that counts, opened to read. Many threads may ask; one closes it at the end."""

    def __init__(self, paths: CollectionPaths) -> None:
        """Raises NoCollection, WrongVersion, CorruptFile, and CollectionInUse in the moment in
        which the parts change places."""
        self._paths = paths
        self._identity = fspath(paths.state / "IDENTITY")  # RocksDB makes it with the database
        self._opening = threading.Lock()
        self._replaced: list[Store] = []  # another thread may be reading; closed at the end
        # In one, so that no thread sees the stamp of a new state beside the rows of the old one.
        self._present = self._open()

    @property
    def store(self) -> Store:
        """Its rows. Raises as the making does, where it has been replaced."""
        stamp, store = self._present
        return store if stamp_of(self._identity) == stamp else self._reopen()

    def unchanged(self) -> Check:
        """Something to call later: it raises Rewritten when this state has been replaced."""
        store = self.store

        def check() -> None:
            stamp, present = self._present
            if stamp_of(self._identity) != stamp or present is not store:
                raise Rewritten(self._paths.path)

        return check

    @contextmanager
    def steady(self) -> Iterator[Check]:
        """A block that reads one state, archive and graph with it. It is given a check to be made
        before anything is handed on; whatever goes wrong because the state was replaced is raised
        as Rewritten."""
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
        stamp = stamp_of(self._identity)  # first: a state that comes in between is seen later
        store = open_to_read(self._paths)
        try:
            store.refresh()
        except BaseException:
            store.close()
            raise
        return stamp, store
