"""Files as crashes leave them."""

from pathlib import Path

import pytest

from archive.archive_samples import a_failure, a_page, write_archive
from gossamer.archive.recover import repair
from gossamer.archive.verify import check_file
from gossamer.errors import CorruptFile


def test_half_an_exchange_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page(), a_failure(), a_page())
    path.write_bytes(path.read_bytes()[:-7])

    done = repair(path, known_end=ends[1])

    assert done.kept_end == ends[2] == path.stat().st_size
    assert done.cut_bytes == ends[3] - 7 - ends[2]
    assert list(check_file(path)) == []


def test_a_whole_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page(), a_failure())

    assert repair(path, known_end=0) == repair(path, ends[2])
    assert path.stat().st_size == ends[2]


def test_nothing_committed_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page())
    path.write_bytes(path.read_bytes() + b"\0" * 100)

    assert repair(path, known_end=ends[1]).kept_end == ends[1]


def test_a_file_that_lost_committed_exchanges_is_not_repaired_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page())
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(CorruptFile, match=f"exchanges up to byte {ends[1]} were committed"):
        repair(path, known_end=ends[1])
