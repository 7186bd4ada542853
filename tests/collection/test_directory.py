"""A collection's directory: made, held by one, and refused when it is not ours to use."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.collection.directory import (
    FORMAT,
    CollectionPaths,
    locked,
    open_to_read,
    open_to_write,
)
from gossamer.errors import (
    CollectionInUse,
    CorruptFile,
    DiskFault,
    NoCollection,
    StoreError,
    UsageError,
    WrongVersion,
)
from gossamer.frontier.meta_keys import SALT_KEY, VERSION_KEY
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable, Store

MEMORY_MB = 16


@pytest.fixture
def home(collection: Path) -> CollectionPaths:
    """A collection that was opened once and closed."""
    home = CollectionPaths(collection)
    home.make()
    open_to_write(home, MEMORY_MB).close()
    return home


def open_small(home: CollectionPaths) -> Store:
    return open_to_write(home, MEMORY_MB)


def put(home: CollectionPaths, key: bytes, row: bytes | None) -> None:
    store = RocksStore.open(home.state, MEMORY_MB)
    store.write({StateTable.META: {key: row}})
    store.close()


def test_a_new_collection_has_a_format_and_a_salt_that_stay(home: CollectionPaths) -> None:
    store = open_to_write(home, MEMORY_MB)
    salt = store.find(StateTable.META, SALT_KEY)
    store.close()
    reader = open_to_read(home)

    assert reader.find(StateTable.META, VERSION_KEY) == str(FORMAT).encode()
    assert salt is not None
    assert len(salt) == 16
    assert reader.find(StateTable.META, SALT_KEY) == salt
    reader.close()


def test_two_collections_have_two_salts(tmp_path: Path) -> None:
    salts = set()
    for name in "ab":
        home = CollectionPaths(tmp_path / name)
        home.make()
        store = open_to_write(home, MEMORY_MB)
        salts.add(store.find(StateTable.META, SALT_KEY))
        store.close()

    assert len(salts) == 2


def test_a_collection_that_was_killed_before_its_first_row_is_new(collection: Path) -> None:
    home = CollectionPaths(collection)
    home.make()
    RocksStore.open(home.state, MEMORY_MB).close()
    assert home.exists

    store = open_to_write(home, MEMORY_MB)

    assert store.find(StateTable.META, SALT_KEY) is not None
    store.close()


@pytest.mark.parametrize("left", ["CURRENT", "MANIFEST-000001"])
def test_a_state_that_was_begun_is_none_and_is_made_anew(collection: Path, left: str) -> None:
    home = CollectionPaths(collection)
    home.make()
    home.half_made.touch()
    (home.state / left).write_bytes(b"half")
    with pytest.raises(NoCollection):
        open_to_read(home)

    open_to_write(home, MEMORY_MB).close()

    assert not home.half_made.exists()
    reader = open_to_read(home)
    assert reader.find(StateTable.META, SALT_KEY) is not None
    reader.close()


def test_what_lies_in_the_place_of_a_state_and_is_none_stays(collection: Path) -> None:
    home = CollectionPaths(collection)
    home.make()
    (home.state / "000009.sst").write_bytes(b"rows")

    with pytest.raises(DiskFault, match="cannot create"):
        open_to_write(home, MEMORY_MB)

    assert (home.state / "000009.sst").read_bytes() == b"rows"


@pytest.mark.parametrize(
    ("found", "way_out"), [(FORMAT + 1, "install a newer"), (0, "import its archive")]
)
def test_a_collection_of_another_format_is_refused_with_the_way_out(
    home: CollectionPaths, found: int, way_out: str
) -> None:
    put(home, VERSION_KEY, str(found).encode())

    for opener in (open_small, open_to_read):
        with pytest.raises(WrongVersion, match=way_out) as told:
            opener(home)
        assert told.value.found == found


@pytest.mark.parametrize("version", [None, b"", b"one"])
def test_a_state_that_is_not_ours_is_refused(home: CollectionPaths, version: bytes | None) -> None:
    put(home, VERSION_KEY, version)

    with pytest.raises(StoreError, match="not the state of a collection"):
        open_to_write(home, MEMORY_MB)


def test_a_damaged_state_is_named_and_kept(home: CollectionPaths) -> None:
    (home.state / "CURRENT").write_bytes(b"")

    for opener in (open_small, open_to_read):
        with pytest.raises(CorruptFile, match="gossamer rebuild state"):
            opener(home)


def test_there_is_nothing_to_read_where_nothing_is(collection: Path) -> None:
    with pytest.raises(NoCollection, match="gossamer crawl -c"):
        open_to_read(CollectionPaths(collection))

    assert not collection.exists()


def test_a_file_is_no_place_for_a_collection(collection: Path) -> None:
    collection.write_text("")

    with pytest.raises(UsageError, match="is a file"):
        CollectionPaths(collection).make()


def test_a_folder_with_other_things_in_it_is_left_alone(collection: Path) -> None:
    collection.mkdir()
    (collection / "thesis.doc").write_text("")

    with pytest.raises(UsageError, match=r"thesis\.doc"):
        CollectionPaths(collection).make()

    assert [path.name for path in collection.iterdir()] == ["thesis.doc"]


def test_a_folder_with_nothing_but_settings_becomes_a_collection(collection: Path) -> None:
    collection.mkdir()
    (collection / "gossamer.toml").write_text("")

    CollectionPaths(collection).make()

    assert (collection / "archive").is_dir()


def test_a_place_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot create a collection"):
        CollectionPaths(tmp_path / "file" / "c").make()


def test_one_holds_the_lock_and_the_next_is_told_who(home: CollectionPaths) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from gossamer.collection.directory import CollectionPaths, locked\n"
        "with locked(CollectionPaths(Path(sys.argv[1]))):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(home.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"

        with pytest.raises(CollectionInUse, match=f"process {other.pid}"), locked(home):
            pass

        other.communicate()

    with locked(home):
        assert "pid" in (home.run / "lock").read_text()
    assert (home.run / "lock").read_text() == ""


def test_a_lock_ends_with_its_process_however_that_ends(home: CollectionPaths) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from gossamer.collection.directory import CollectionPaths, locked\n"
        "with locked(CollectionPaths(Path(sys.argv[1]))): os._exit(9)"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(home.path)], check=False, timeout=90)
    assert ran.returncode == 9

    with locked(home):
        pass


def test_a_disk_without_locks_is_not_in_use_by_anybody(
    home: CollectionPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)

    with pytest.raises(DiskFault, match=r"cannot lock .*lock \(No locks"), locked(home):
        pass


@pytest.mark.parametrize("name", ["run/lock", "log/crawl.jsonl", "log/acts.jsonl"])
def test_a_file_that_leads_out_of_a_collection_is_not_written_to(
    home: CollectionPaths, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    path = home.path / name
    path.unlink(missing_ok=True)
    path.symlink_to(outside)

    with pytest.raises(StoreError, match="symbolic link"), locked(home):
        pass

    assert outside.read_text() == "mine"
