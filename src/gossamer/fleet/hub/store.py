"""The durable state of a hub: tables of rows by key, in SQLite or PostgreSQL.

The hub decides in memory and writes what has changed in one transaction; nothing is answered before
that. So the store only has to keep rows: `write` is atomic and durable, and repeating it does no
harm. SQLite runs in WAL mode with a sync per transaction.

    HubStore.open("/srv/hub/hub.sqlite")          a path: SQLite
    HubStore.open("postgresql://user@host/name")  PostgreSQL, if the package psycopg is installed

One hub at a time uses a PostgreSQL database: it holds an advisory lock. The directory of a hub has
a lock of its own (`folder.py`).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from gossamer.errors import DiskFault, StoreError, UsageError
from gossamer.fleet.hub.rows import SPECS, TABLES

FORMAT: Final = 1
NAMES: Final = (*TABLES, SPECS)
RowChanges = Mapping[tuple[str, str], bytes | None]  # table and key -> row; None: deleted
_AT_ONCE: Final = 400  # rows of a statement; older releases of SQLite allow 999 values
_LOCK_KEY: Final = 0x676F7373_68756221  # of the advisory lock: `gosshub!`


class RowDatabase(Protocol):
    """What differs between the databases."""

    def load(self, table: str) -> Iterator[tuple[str, bytes]]: ...
    def read(self, table: str, key: str) -> bytes | None: ...
    def write(self, changes: RowChanges) -> None: ...
    def close(self) -> None: ...


class HubStore:
    """Tables of rows. Thread-safe."""

    def __init__(self, database: RowDatabase) -> None:
        self._database = database

    @classmethod
    def open(cls, where: str | Path) -> HubStore:
        """Open or create the store. Raises StoreError, UsageError."""
        if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
            return cls(_Postgres(where))
        return cls(_Sqlite(Path(where)))

    def load(self, table: str) -> Iterator[tuple[str, bytes]]:
        """All rows of a table."""
        return self._database.load(table)

    def read(self, table: str, key: str) -> bytes | None:
        """One row."""
        return self._database.read(table, key)

    def write(self, changes: RowChanges) -> None:
        """Write all changes durably, or none. Raises StoreError or DiskFault; then it may be tried
        again."""
        if changes:
            self._database.write(changes)

    def close(self) -> None:
        self._database.close()


def _by_table(
    changes: RowChanges,
) -> Iterator[tuple[str, list[tuple[str, bytes]], list[tuple[str]]]]:
    for table in NAMES:
        put = [(key, row) for (name, key), row in changes.items() if name == table and row]
        gone = [(key,) for (name, key), row in changes.items() if name == table and row is None]
        if put or gone:
            yield table, put, gone


class _Sqlite:
    """One connection writes, another reads: a read does not wait for a sync."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        try:
            self._writer = self._connect()
            self._reader = self._connect()
            self._prepare()
        except sqlite3.Error as fault:
            raise StoreError(f"cannot open {path}: {fault}") from fault

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=30, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        found = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, FORMAT):
            raise StoreError(
                f"{self._path} has format {found}, but this release reads format {FORMAT}; install "
                "the release that wrote it"
            )
        for table in NAMES:
            self._writer.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (key TEXT PRIMARY KEY, body BLOB NOT NULL) "
                "WITHOUT ROWID"
            )
        self._writer.execute(f"PRAGMA user_version = {FORMAT}")

    def load(self, table: str) -> Iterator[tuple[str, bytes]]:
        assert table in NAMES
        with self._reading:
            yield from self._reader.execute(f"SELECT key, body FROM {table}")  # noqa: S608  # ours

    def read(self, table: str, key: str) -> bytes | None:
        assert table in NAMES
        with self._reading:
            query = f"SELECT body FROM {table} WHERE key = ?"  # noqa: S608  # a name of ours
            row = self._reader.execute(query, (key,)).fetchone()
        return row[0] if row else None

    def write(self, changes: RowChanges) -> None:
        with self._writing:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                for table, put, gone in _by_table(changes):
                    for start in range(0, len(put), _AT_ONCE):
                        self._upsert(table, put[start : start + _AT_ONCE])
                    self._writer.executemany(f"DELETE FROM {table} WHERE key = ?", gone)  # noqa: S608
                self._writer.execute("COMMIT")
            except sqlite3.Error as fault:
                with suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise self._fault(fault) from fault

    def _upsert(self, table: str, rows: list[tuple[str, bytes]]) -> None:
        """One statement for many rows: each one would hand the interpreter's lock over twice, and
        delay the event loop beside."""
        values = ", ".join(["(?, ?)"] * len(rows))
        statement = (
            f"INSERT INTO {table} VALUES {values} "  # noqa: S608  # a name of ours
            "ON CONFLICT (key) DO UPDATE SET body = excluded.body"
        )
        self._writer.execute(statement, [value for row in rows for value in row])

    def _fault(self, fault: sqlite3.Error) -> StoreError | DiskFault:
        code = getattr(fault, "sqlite_errorname", "")
        what = f"cannot write {self._path} ({fault})"
        if code.startswith(("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_IOERR")):
            return DiskFault(what, is_full=code.startswith("SQLITE_FULL"))
        return StoreError(what)

    def close(self) -> None:
        with self._writing, self._reading:
            self._writer.close()
            self._reader.close()


class _Postgres:
    """The same in PostgreSQL. A lost connection is opened again."""

    def __init__(self, dsn: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise UsageError(
                "PostgreSQL needs the package psycopg; install it with "
                "`pip install 'gossamer[fleet]'`"
            ) from None
        self._psycopg: Any = psycopg
        self._dsn = dsn
        self._using = threading.Lock()
        self._connection: Any = None
        self._call(self._prepare)

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._dsn, autocommit=True, connect_timeout=10)
        taken = connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK_KEY,)).fetchone()
        if not taken[0]:
            connection.close()
            raise StoreError("another hub uses this PostgreSQL database; stop it first")
        return connection

    def _prepare(self, connection: Any) -> None:
        with connection.transaction():
            for table in NAMES:
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {_name(table)} "
                    "(key TEXT PRIMARY KEY, body BYTEA NOT NULL)"
                )

    def _call(self, work: Any) -> Any:
        """Do something with the connection; once more if it was lost. Raises StoreError."""
        with self._using:
            for is_last in (False, True):
                try:
                    if self._connection is None:
                        self._connection = self._connect()
                    return work(self._connection)
                except self._psycopg.Error as fault:
                    self._drop()
                    if is_last or not isinstance(fault, self._psycopg.OperationalError):
                        raise self._fault(fault) from fault
        raise AssertionError("unreachable")

    def _fault(self, fault: Exception) -> StoreError | DiskFault:
        told = " ".join(str(fault).split())[:300]
        if isinstance(fault, self._psycopg.errors.DiskFull):
            return DiskFault(f"the disk of PostgreSQL is full ({told})", is_full=True)
        return StoreError(f"PostgreSQL failed: {told}")

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(self._psycopg.Error):
                self._connection.close()
            self._connection = None

    def load(self, table: str) -> Iterator[tuple[str, bytes]]:
        rows = self._call(
            lambda connection: connection.execute(
                f"SELECT key, body FROM {_name(table)}"  # noqa: S608  # a name of ours
            ).fetchall()
        )
        return ((key, bytes(body)) for key, body in rows)

    def read(self, table: str, key: str) -> bytes | None:
        query = f"SELECT body FROM {_name(table)} WHERE key = %s"  # noqa: S608  # ours
        row = self._call(lambda connection: connection.execute(query, (key,)).fetchone())
        return bytes(row[0]) if row else None

    def write(self, changes: RowChanges) -> None:
        def all_of_it(connection: Any) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                for table, put, gone in _by_table(changes):
                    upsert = (
                        f"INSERT INTO {_name(table)} VALUES (%s, %s) "  # noqa: S608  # ours
                        "ON CONFLICT (key) DO UPDATE SET body = excluded.body"
                    )
                    cursor.executemany(upsert, put)
                    cursor.executemany(f"DELETE FROM {_name(table)} WHERE key = %s", gone)  # noqa: S608

        self._call(all_of_it)

    def close(self) -> None:
        with self._using:
            self._drop()


def _name(table: str) -> str:
    """The table in PostgreSQL, where it may lie beside those of others."""
    assert table in NAMES
    return f"gossamer_hub_{table}"
