"""A copy has the bytes of its original, and cost as little as it could."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gossamer.base.copying import copy_bytes, link_or_copy


@pytest.mark.parametrize("size", [0, 1, 4096, 3_000_000])
def test_the_first_bytes_are_copied_and_no_more(tmp_path: Path, size: int) -> None:
    data = os.urandom(size + 10)
    (tmp_path / "old").write_bytes(data)

    with (tmp_path / "old").open("rb") as file:
        copied = copy_bytes(file, tmp_path / "new", size)

    assert copied == size
    assert (tmp_path / "new").read_bytes() == data[:size]


def test_a_file_that_is_shorter_than_asked_is_copied_whole(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"short")

    with (tmp_path / "old").open("rb") as file:
        assert copy_bytes(file, tmp_path / "new", 100) == 5


def test_who_may_not_read_a_file_may_not_read_its_copy(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"secret")
    (tmp_path / "old").chmod(0o600)
    with (tmp_path / "old").open("rb") as file:
        copy_bytes(file, tmp_path / "new", 6)

    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


def test_a_file_that_was_deleted_meanwhile_is_still_copied(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"held")
    with (tmp_path / "old").open("rb") as file:
        (tmp_path / "old").unlink()
        copy_bytes(file, tmp_path / "new", 4)

    assert (tmp_path / "new").read_bytes() == b"held"


def test_what_never_changes_gets_a_second_name(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"x")

    assert link_or_copy(tmp_path / "old", tmp_path / "new")
    assert (tmp_path / "new").samefile(tmp_path / "old")


def test_a_missing_file_is_no_copy(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        link_or_copy(tmp_path / "old", tmp_path / "new")
