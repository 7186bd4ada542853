"""The store of a hub: the same in SQLite and PostgreSQL; a failed write loses nothing."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.errors import DiskFault, StoreError
from gossamer.fleet.hub.rows import BanRow
from gossamer.fleet.hub.state import HubState
from gossamer.fleet.hub.store import HubStore, RowChanges
from support.a_hub import a_hub, site

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """A PostgreSQL server on a Unix socket, owned by a user other than root."""
    pytest.importorskip("psycopg")
    if not PROGRAMS:
        pytest.skip("PostgreSQL is not installed")
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    owner = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    shutil.chown(home, owner)
    data, log = home / "data", home / "log"

    def run(*words: object) -> None:
        user = owner if os.geteuid() == 0 else None
        groups: list[str] | None = [] if os.geteuid() == 0 else None
        command = [str(PROGRAMS[-1] / str(words[0])), "-D", str(data), *map(str, words[1:])]
        quiet = subprocess.DEVNULL  # a pipe would stay open as long as the server runs
        subprocess.run(
            command, check=True, cwd=home, user=user, extra_groups=groups, stdout=quiet,
            stderr=quiet,
        )  # fmt: skip

    try:
        run("initdb", "-U", "hub", "-A", "trust")
        options = f"-k {home} -c listen_addresses= -c fsync=off"
        run("pg_ctl", "-w", "-l", log, "-o", options, "start")
        try:
            yield f"postgresql://hub@/postgres?host={home}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home)


def check_store(where: str | Path) -> None:
    """Rows are written, changed, deleted and read back, also after the store was opened again."""
    store = HubStore.open(where)
    store.write({("jobs", "j1"): b"1", ("jobs", "j2"): b"2", ("specs", "j1"): b"s"})
    store.write({("jobs", "j1"): b"3", ("jobs", "j2"): None, ("jobs", "none"): None})
    store.write({})
    assert store.read("jobs", "j1") == b"3"
    assert store.read("jobs", "j2") is None
    store.close()

    again = HubStore.open(where)
    assert list(again.load("jobs")) == [("j1", b"3")]
    assert dict(again.load("specs")) == {"j1": b"s"}
    again.write({("jobs", "j1"): None, ("specs", "j1"): None})
    again.close()


def test_rows_are_kept_in_sqlite(tmp_path: Path) -> None:
    check_store(tmp_path / "hub.sqlite")


@pytest.mark.slow
def test_a_hub_works_in_postgresql_as_in_sqlite(postgres: str, tmp_path: Path) -> None:
    check_store(postgres)
    test = a_hub(tmp_path, postgres)
    test.hub.add_jobs([site("example.org"), site("example.net")])
    unit = test.new_unit()
    done = unit.ask()
    unit.finish(done)
    job = unit.ask()
    with pytest.raises(StoreError, match="another hub uses"):
        HubStore.open(postgres)
    test.hub.state.close()

    again = a_hub(tmp_path, postgres, clock=test.clock)
    unit.hub, unit.row = again.hub, again.hub.unit_of(unit.token)
    assert unit.row.jobs_done == 1
    assert list(unit.tell(job, fetched=1).renewed) == [job.job]
    again.hub.close()


@pytest.mark.slow
def test_a_lost_connection_to_postgresql_is_opened_again(postgres: str) -> None:
    import psycopg

    store = HubStore.open(postgres)
    with psycopg.connect(postgres, autocommit=True) as other:
        mine = "pid <> pg_backend_pid() AND usename = 'hub' AND backend_type = 'client backend'"
        other.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}")
    store.write({("bans", "x"): b"1"})
    assert store.read("bans", "x") == b"1"
    store.write({("bans", "x"): None})
    store.close()


def test_a_database_of_another_format_is_refused(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "hub.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()

    with pytest.raises(StoreError, match="format 99"):
        HubStore.open(path)


class FullDisk:
    """A database on a disk that is full until a test makes room."""

    def __init__(self, path: Path) -> None:
        self.inner = HubStore.open(path)
        self.is_full = False

    def load(self, table: str) -> Iterator[tuple[str, bytes]]:
        return self.inner.load(table)

    def read(self, table: str, key: str) -> bytes | None:
        return self.inner.read(table, key)

    def write(self, changes: RowChanges) -> None:
        if self.is_full:
            raise DiskFault("full", is_full=True)
        self.inner.write(changes)

    def close(self) -> None:
        self.inner.close()


def test_what_could_not_be_written_is_written_with_the_next_flush(tmp_path: Path) -> None:
    disk = FullDisk(tmp_path / "hub.sqlite")
    state = HubState(HubStore(disk))
    state.bans.put(BanRow(line="a", note="first"))
    disk.is_full = True
    with pytest.raises(DiskFault):
        state.flush()
    assert state.saved < state.edits
    state.bans.put(BanRow(line="a", note="second"))
    state.bans.put(BanRow(line="b"))
    disk.is_full = False
    state.flush()

    assert state.saved == state.edits
    assert {row.line: row.note for row in HubState(HubStore(disk)).bans} == {"a": "second", "b": ""}
    disk.close()
