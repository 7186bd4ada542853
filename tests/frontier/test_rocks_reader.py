"""A reader in the same moment as its writer sees all that was written, the end included."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable, TableChanges


def _row(number: int) -> TableChanges:
    rows: dict[bytes, bytes | None] = {b"counts": str(number).encode()}
    return {table: rows if table is StateTable.META else {} for table in StateTable}


def test_a_reader_sees_what_was_written_just_before_the_writer_ended(tmp_path: Path) -> None:
    writer = RocksStore.open(tmp_path / "state", 16)
    writer.write(_row(1))
    reader = RocksStore.open_to_read(tmp_path / "state")
    reader.refresh()

    writer.write(_row(2))
    writer.close()
    reader.refresh()

    assert reader.find(StateTable.META, b"counts") == b"2"
    reader.close()


def test_a_reader_follows_from_one_writer_to_the_next(tmp_path: Path) -> None:
    reader = None
    for number in range(1, 6):
        writer = RocksStore.open(tmp_path / "state", 16)
        reader = reader or RocksStore.open_to_read(tmp_path / "state")
        writer.write(_row(number))
        reader.refresh()
        assert reader.find(StateTable.META, b"counts") == str(number).encode()
        writer.close()

    assert reader is not None
    reader.close()


def test_a_reader_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    RocksStore.open(tmp_path / "state", 16).close()
    reader = RocksStore.open_to_read(tmp_path / "state")
    writer = RocksStore.open(tmp_path / "state", 16)
    writer.write(_row(1))
    writer.close()

    reader.refresh()
    reader.close()

    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_reader_follows_when_another_state_takes_the_place_of_the_first(tmp_path: Path) -> None:
    for number, name in ((1, "state"), (2, "other")):
        store = RocksStore.open(tmp_path / name)
        store.write(_row(number))
        store.close()
    reader = RocksStore.open_to_read(tmp_path / "state")
    (tmp_path / "state").rename(tmp_path / "gone")
    (tmp_path / "other").rename(tmp_path / "state")

    reader.refresh()

    assert reader.find(StateTable.META, b"counts") == b"2"
    reader.close()
