"""What every store promises (`frontier/store.py`); RocksDB adds other processes and damage."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.errors import CollectionInUse, CorruptFile, StaleEpoch
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import MemoryStore, StateTable, Store
from support.need import need_linux

MEMORY_MB = 16


@pytest.fixture(params=["memory", "rocks"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store
    if request.param == "memory":
        made = MemoryStore()
    else:
        made = RocksStore.open(tmp_path / "state", MEMORY_MB)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of a store that was closed with one row in it."""
    store = RocksStore.open(tmp_path / "state", MEMORY_MB)
    store.write({StateTable.META: {b"format": b"1"}, StateTable.URL: {b"k": b"v"}})
    store.close()
    return tmp_path / "state"


def test_a_store_that_is_being_tidied_up_takes_rows_and_has_them(store: Store) -> None:
    store.write({StateTable.URL: {b"a": b"1"}})

    store.tidy()
    store.write({StateTable.URL: {b"b": b"2"}})

    assert store.scan(StateTable.URL, b"", None, 9) == [(b"a", b"1"), (b"b", b"2")]


def test_a_row_is_found_in_its_own_table_alone(store: Store) -> None:
    store.write({StateTable.URL: {b"a": b"1"}})

    assert store.find(StateTable.URL, b"a") == b"1"
    assert store.find(StateTable.HOST, b"a") is None
    assert store.find(StateTable.URL, b"ab") is None


def test_an_empty_row_is_a_row(store: Store) -> None:
    store.write({StateTable.DUE: {b"a": b""}})

    assert store.find(StateTable.DUE, b"a") == b""
    assert store.scan(StateTable.DUE, b"", None, 9) == [(b"a", b"")]


def test_a_later_write_replaces_a_row(store: Store) -> None:
    store.write({StateTable.URL: {b"a": b"1"}})
    store.write({StateTable.URL: {b"a": b"2"}})

    assert store.scan(StateTable.URL, b"", None, 9) == [(b"a", b"2")]


def test_one_write_puts_and_deletes_in_many_tables(store: Store) -> None:
    store.write({StateTable.URL: {b"old": b"1"}, StateTable.QUEUE: {b"old": b"1"}})

    store.write({StateTable.URL: {b"old": None, b"new": b"2"}, StateTable.QUEUE: {b"old": None}})

    assert store.scan(StateTable.URL, b"", None, 9) == [(b"new", b"2")]
    assert store.scan(StateTable.QUEUE, b"", None, 9) == []


def test_deleting_what_is_not_there_does_nothing(store: Store) -> None:
    store.write({StateTable.URL: {b"a": None}})

    assert store.scan(StateTable.URL, b"", None, 9) == []


def test_a_scan_goes_in_the_order_of_the_bytes(store: Store) -> None:
    keys = [b"\xff\xff", b"b", b"", b"a\x00", b"a", b"\x80", b"ab"]

    store.write({StateTable.URL: dict.fromkeys(keys, b"x")})

    assert [key for key, _ in store.scan(StateTable.URL, b"", None, 99)] == sorted(keys)


def test_many_keys_are_found_as_each_of_them_would_be(store: Store) -> None:
    store.write({StateTable.URL: {b"a": b"1", b"b": b""}, StateTable.HOST: {b"c": b"3"}})

    assert store.find_many(StateTable.URL, [b"b", b"c", b"a", b"b"]) == [b"", None, b"1", b""]
    assert store.find_many(StateTable.URL, []) == []


def test_a_write_of_an_older_epoch_is_refused_and_changes_nothing(store: Store) -> None:
    store.write({StateTable.URL: {b"a": b"1"}}, epoch=2)

    for epoch in (1, 0):
        with pytest.raises(StaleEpoch, match=f"epoch 2, this process has {epoch}"):
            store.write({StateTable.URL: {b"a": None, b"b": b"2"}}, epoch)

    assert store.scan(StateTable.URL, b"", None, 9) == [(b"a", b"1")]


def test_writes_of_the_same_epoch_and_of_a_newer_one_are_taken(store: Store) -> None:
    for epoch in (0, 0, 3, 3, 7):
        store.write({StateTable.URL: {b"a": b"%d" % epoch}}, epoch)

    assert store.find(StateTable.URL, b"a") == b"7"


def test_epoch_zero_leaves_no_row(store: Store) -> None:
    store.write({StateTable.URL: {b"a": b"1"}})

    assert store.scan(StateTable.META, b"", None, 9) == []


@pytest.mark.parametrize(
    ("start", "stop", "limit", "found"),
    [
        (b"b", None, 9, "bcd"),
        (b"b", b"d", 9, "bc"),
        (b"a\x00", b"c\x00", 9, "bc"),
        (b"", None, 2, "ab"),
        (b"", b"a", 9, ""),
        (b"c", b"b", 9, ""),
        (b"b", b"b", 9, ""),
        (b"", None, 0, ""),
        (b"e", None, 9, ""),
        (b"", None, 2**62, "abcd"),
    ],
)
def test_a_scan_starts_at_start_and_ends_before_stop(
    store: Store, start: bytes, stop: bytes | None, limit: int, found: str
) -> None:
    store.write({StateTable.URL: {key: key for key in (b"a", b"b", b"c", b"d")}})

    rows = store.scan(StateTable.URL, start, stop, limit)

    assert rows == [(letter.encode(), letter.encode()) for letter in found]


KEYS = st.binary(max_size=3)
WRITES = st.lists(st.dictionaries(KEYS, st.none() | st.binary(max_size=4), max_size=6), max_size=8)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(writes=WRITES, start=KEYS, stop=st.none() | KEYS, limit=st.integers(0, 12))
def test_a_store_is_an_ordered_dictionary(
    store: Store,
    writes: list[dict[bytes, bytes | None]],
    start: bytes,
    stop: bytes | None,
    limit: int,
) -> None:
    store.write(
        {StateTable.URL: {key: None for key, _ in store.scan(StateTable.URL, b"", None, 10_000)}}
    )
    model: dict[bytes, bytes] = {}

    for write in writes:
        store.write({StateTable.URL: write})
        model.update({key: row for key, row in write.items() if row is not None})
        for key in [key for key, row in write.items() if row is None]:
            model.pop(key, None)

    rows = [(k, v) for k, v in sorted(model.items()) if k >= start and (stop is None or k < stop)]
    assert store.scan(StateTable.URL, start, stop, limit) == rows[:limit]


def test_what_was_written_is_there_when_it_is_opened_again(folder: Path) -> None:
    store = RocksStore.open(folder, MEMORY_MB)

    assert store.find(StateTable.URL, b"k") == b"v"
    store.close()


def test_a_store_that_is_opened_again_knows_the_epoch_that_wrote_last(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path / "state", MEMORY_MB)
    store.write({StateTable.URL: {b"a": b"1"}}, epoch=5)
    store.close()

    store = RocksStore.open(tmp_path / "state", MEMORY_MB)
    with pytest.raises(StaleEpoch):
        store.write({StateTable.URL: {b"a": b"2"}}, epoch=4)

    assert store.find(StateTable.URL, b"a") == b"1"
    store.close()


def test_a_reader_sees_what_is_written_after_it_refreshes(tmp_path: Path) -> None:
    writer = RocksStore.open(tmp_path / "state", MEMORY_MB)
    writer.write({StateTable.URL: {b"a": b"1"}})
    reader = RocksStore.open_to_read(tmp_path / "state")
    writer.write({StateTable.URL: {b"a": None, b"b": b"2"}})

    before = reader.scan(StateTable.URL, b"", None, 9)
    reader.refresh()

    assert before == [(b"a", b"1")]
    assert reader.scan(StateTable.URL, b"", None, 9) == [(b"b", b"2")]
    reader.close()
    writer.close()


def test_readers_read_while_there_is_no_writer(folder: Path) -> None:
    readers = [RocksStore.open_to_read(folder) for _ in range(2)]

    assert [reader.find(StateTable.URL, b"k") for reader in readers] == [b"v", b"v"]
    for reader in readers:
        reader.close()


def test_a_second_writer_in_this_process_is_turned_away(folder: Path) -> None:
    writer = RocksStore.open(folder, MEMORY_MB)

    with pytest.raises(CollectionInUse, match="gossamer stop"):
        RocksStore.open(folder, MEMORY_MB)

    writer.close()


def test_a_second_writer_in_another_process_is_turned_away(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gossamer.frontier.rocks import RocksStore\n"
        "store = RocksStore.open(Path(sys.argv[1]), 16); print('open', flush=True)\n"
        "sys.stdin.read(); store.close()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"

        with pytest.raises(CollectionInUse):
            RocksStore.open(folder, MEMORY_MB)

        other.communicate()


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _overwritten(path: Path) -> None:
    path.write_bytes(b"\xa5" * path.stat().st_size)


def _removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [_emptied, _overwritten, _removed])
@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*"])
@pytest.mark.parametrize("opener", [RocksStore.open, RocksStore.open_to_read])
def test_a_damaged_state_is_named_and_never_begun_anew(
    folder: Path,
    name: str,
    damage: Callable[[Path], None],
    opener: Callable[[Path], RocksStore],
) -> None:
    for path in folder.glob(name):
        damage(path)
    before = {path.name for path in folder.glob("*.sst")}

    with pytest.raises(CorruptFile, match="state"):
        opener(folder)

    assert {path.name for path in folder.glob("*.sst")} == before


def test_a_damaged_table_file_is_found_when_it_is_read(folder: Path) -> None:
    store = RocksStore.open(folder, MEMORY_MB)
    store.write({StateTable.URL: {b"%06d" % number: b"v" * 100 for number in range(2000)}})
    store.close()
    for path in folder.glob("*.sst"):
        _overwritten(path)

    with pytest.raises(CorruptFile):
        RocksStore.open(folder, MEMORY_MB).scan(StateTable.URL, b"", None, 10_000)


def test_a_full_disk_is_told_and_what_was_written_before_stays(tmp_path: Path) -> None:
    need_linux("a file size limit stands in for the full disk")
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from gossamer.errors import DiskFault\n"
        "from gossamer.frontier.rocks import RocksStore\n"
        "from gossamer.frontier.store import StateTable\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "store = RocksStore.open(Path(sys.argv[1]), 16)\n"
        "store.write({StateTable.URL: {b'first': b'1'}})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "try:\n"
        "    store.write({StateTable.URL: {b'%d' % n: b'x' * 1000 for n in range(1000)}})\n"
        "except DiskFault as fault:\n"
        "    print('told', fault)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-B", "-c", code, str(tmp_path / "state")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ran.stdout.startswith("told"), ran.stderr
    store = RocksStore.open(tmp_path / "state", MEMORY_MB)
    assert store.scan(StateTable.URL, b"", None, 9) == [(b"first", b"1")]
    store.close()
