"""The bodies that a unit has sent lately, so that it can send a page that changed as a difference.

The hub decides: a difference is made only to a body that the hub says it has. So this is a cache;
it may be lost, and its oldest bodies are deleted when it is full. One SQLite file, compressed.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL: Final = 3
_MAX_BODY_BYTES: Final = 8 * 2**20  # a longer body is not kept
_LEAST_BYTES: Final = 64  # a shorter one is sent whole; a dictionary has at least 8 bytes
_SCHEMA: Final = """
create table if not exists body (
    key blob primary key, digest text not null, packed blob not null, size integer not null
) without rowid;
create table if not exists age (number integer primary key autoincrement, key blob unique);
"""


class EarlierBody(NamedTuple):
    digest: str
    body: bytes


class EarlierBodies:
    """A cache of bodies by URL key. Use it as a context manager."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Open or make it; a damaged one is made anew. Raises OSError and sqlite3.Error."""
        self._max_bytes = max_bytes
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._open(path)
        except sqlite3.DatabaseError:
            for suffix in ("", "-journal", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            self._open(path)

    def _open(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        try:
            self._db.execute("pragma auto_vacuum = full")
            self._db.executescript(_SCHEMA)
            found = self._db.execute("select coalesce(sum(size), 0) from body").fetchone()
        except BaseException:
            self._db.close()
            raise
        self._bytes = int(found[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with closing(self._db), suppress(sqlite3.Error):
            self._db.commit()

    def find(self, key: bytes) -> EarlierBody | None:
        """The last body of a URL that was sent."""
        with suppress(sqlite3.Error, zstd.ZstdError):
            found = self._db.execute(
                "select digest, packed from body where key = ?", (key,)
            ).fetchone()
            if found is not None:
                return EarlierBody(found[0], zstd.decompress(found[1]))
        return None

    def put(self, key: bytes, digest: str, body: bytes) -> None:
        """Keep a body in the place of an earlier one of its URL."""
        if not _LEAST_BYTES <= len(body) <= _MAX_BODY_BYTES:
            return
        with suppress(sqlite3.Error):  # the disk may be full: then it is sent whole next time
            self._delete(key)
            data = zstd.compress(body, _LEVEL)
            self._db.execute("insert into body values (?, ?, ?, ?)", (key, digest, data, len(data)))
            self._db.execute("insert into age (key) values (?)", (key,))
            self._bytes += len(data)
            while self._bytes > self._max_bytes and self._delete_oldest():
                pass

    def commit(self) -> None:
        with suppress(sqlite3.Error):
            self._db.commit()

    def _delete(self, key: bytes) -> None:
        found = self._db.execute("select size from body where key = ?", (key,)).fetchone()
        if found is not None:
            self._db.execute("delete from body where key = ?", (key,))
            self._db.execute("delete from age where key = ?", (key,))
            self._bytes -= int(found[0])

    def _delete_oldest(self) -> bool:
        found = self._db.execute("select key from age order by number limit 1").fetchone()
        if found is not None:
            self._delete(found[0])
        return found is not None
