"""Files of exchanges: names, rolling, failing disks."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from archive.archive_samples import a_failure, a_lease, a_page
from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.foreign import PackedExchange
from gossamer.archive.manifest import read_manifest
from gossamer.archive.reader import iter_exchanges, read_exchange, read_info, read_records
from gossamer.archive.verify import check_file
from gossamer.archive.warc import RevisitOf
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import ManualClock
from gossamer.errors import DiskFault
from gossamer.settings import Archive


def open_writer(folder: Path, *, roll_bytes: int = 10**9) -> WarcWriter:
    settings = Archive(roll_bytes=roll_bytes)
    return WarcWriter.open(folder, "w1", settings, {"robots": "obey"}, ManualClock())


def noise(size: int) -> bytes:
    """Bytes that gzip cannot make smaller."""
    return os.urandom(size)


def test_an_appended_exchange_lies_where_the_writer_says(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)

    first = writer.append(a_lease(), a_page())
    second = writer.append(a_lease(), a_failure())
    writer.sync()

    path = tmp_path / writer.name
    assert writer.name == "w1-20260101000000-00000.warc.gz"
    assert writer.end == path.stat().st_size == second.end
    assert [exchange.stored for exchange in iter_exchanges(path)] == [first, second]
    assert first.start < first.response < first.end == second.start == second.response
    assert read_exchange(path, first.response).answer == a_page()
    writer.close()


def test_each_exchange_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = open_writer(tmp_path)
    sizes: list[int] = []
    write = os.write

    def counted(file: int, data: bytes) -> int:
        sizes.append(len(data))
        return write(file, data)

    monkeypatch.setattr(os, "write", counted)
    stored = writer.append(a_lease(), a_page())
    monkeypatch.undo()

    assert sizes == [stored.end - stored.start]
    writer.close()


def test_a_file_past_its_size_is_followed_by_another_with_its_own_warcinfo(tmp_path: Path) -> None:
    writer = open_writer(tmp_path, roll_bytes=10_000)

    places = [writer.append(a_lease(), a_page(body=noise(6000))) for _ in range(4)]
    writer.close()

    assert [place.file[-13:-8] for place in places] == ["00000", "00000", "00001", "00001"]
    for path in sorted(tmp_path.glob("*.warc.gz")):
        assert read_info(path)["robots"] == "obey"
        assert list(check_file(path)) == []
        assert len(cdxj_path(path).read_text().splitlines()) == 2


def test_a_file_with_many_captures_is_followed_by_another_however_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.archive.writer.MAX_CAPTURES", 3)
    writer = open_writer(tmp_path)

    places = [writer.append(a_lease(), a_page()) for _ in range(4)]
    writer.close()

    assert [place.file[-13:-8] for place in places] == ["00000", "00000", "00000", "00001"]


def test_imported_exchanges_fill_a_file_as_others_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_writer(tmp_path / "from")
    name = writer.name
    writer.append(a_lease(), a_page())
    writer.close()
    path = tmp_path / "from" / name
    _info, *records = read_records(path)
    start = records[0].offset
    packed = PackedExchange(
        path.read_bytes()[start:],
        tuple(replace(one, offset=one.offset - start) for one in records),
    )
    monkeypatch.setattr("gossamer.archive.writer.MAX_CAPTURES", 3)
    importing = open_writer(tmp_path / "to")
    names = []
    for _ in range(4):
        importing.append_packed(packed)
        names.append(importing.name[-13:-8])
    importing.close()

    assert names == ["00000", "00000", "00000", "00001"]


def test_the_index_that_the_writer_keeps_is_the_one_that_reading_gives(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    path = tmp_path / writer.name
    for url in ("https://example.org/b", "http://www.example.org:8080/A?z=1&a=2", "https://a.b/ü"):
        writer.append(a_lease(url), a_page(url))
    writer.append(a_lease(), a_failure())
    writer.append(a_lease(), a_page(), RevisitOf("https://example.org/b", 0, "sha1:ABC"))
    writer.close()

    kept = cdxj_path(path).read_text()

    assert write_cdxj(path).read_text() == kept
    assert len(kept.splitlines()) == 4


def test_a_name_that_is_taken_is_passed_over(tmp_path: Path) -> None:
    first, second = open_writer(tmp_path), open_writer(tmp_path)

    assert first.name.endswith("-00000.warc.gz")
    assert second.name.endswith("-00001.warc.gz")
    first.close()
    second.close()


def test_a_file_without_exchanges_is_removed_on_close(tmp_path: Path) -> None:
    open_writer(tmp_path).close()

    assert [path.name for path in tmp_path.iterdir()] == ["manifest.jsonl"]
    assert read_manifest(tmp_path).files == {}


def test_a_failed_sync_is_final(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append(a_lease(), a_page())
    reader, pipe = os.pipe()  # a pipe cannot be synced
    os.dup2(pipe, writer.fileno())

    with pytest.raises(DiskFault, match="cannot sync") as caught:
        writer.sync()

    assert not caught.value.is_full
    with pytest.raises(DiskFault, match="start again"):
        writer.append(a_lease(), a_page())
    with pytest.raises(DiskFault):
        writer.sync()
    writer.close()
    os.close(reader)
    os.close(pipe)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_told_apart(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer.fileno())

    with pytest.raises(DiskFault, match="No space left on device") as caught:
        writer.append(a_lease(), a_page())

    assert caught.value.is_full
    writer.close()
    os.close(full)


# The limit lets a part of the second exchange in: the write is short, and the rest fails.
LIMITED = """
import os, resource, sys
from pathlib import Path
from archive.archive_samples import a_lease, a_page
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import ManualClock
from gossamer.errors import DiskFault
from gossamer.settings import Archive

writer = WarcWriter.open(Path(sys.argv[1]), "w1", Archive(), {}, ManualClock())
writer.append(a_lease(), a_page())
end = writer.end
resource.setrlimit(resource.RLIMIT_FSIZE, (end + 5000, resource.RLIM_INFINITY))
try:
    writer.append(a_lease(), a_page(body=os.urandom(20_000)))
except DiskFault as fault:
    assert not fault.is_full, fault  # the limit is the operator's, not the disk's
else:
    raise SystemExit("no fault")
assert writer.end == writer.path.stat().st_size == end
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.append(a_lease(), a_page())
writer.close()
"""


def test_a_short_write_leaves_the_file_as_it_was_and_usable(tmp_path: Path) -> None:
    tests = Path(__file__).parents[1]

    found = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode == 0, found.stderr
    (path,) = tmp_path.glob("*.warc.gz")
    assert list(check_file(path)) == []
    assert len(list(read_records(path))) == 1 + 3 + 3


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    writer = open_writer(tmp_path)
    writer.append(a_lease(), a_page())
    writer.close()
    writer.close()

    with pytest.raises(DiskFault, match="no archive file is open"):
        writer.append(a_lease(), a_page())
    assert len(list(tmp_path.glob("*.warc.gz"))) == 1


def test_a_file_that_is_some_days_old_is_closed_at_its_next_page(tmp_path: Path) -> None:
    clock = ManualClock()
    writer = WarcWriter.open(tmp_path, "w1", Archive(roll_days=7), {}, clock)
    for days in (0, 6, 1):
        asyncio.run(clock.advance(days * 86_400))
        writer.append(a_lease(), a_page())
    writer.close()

    files = sorted(tmp_path.glob("*.warc.gz"))
    assert [len(list(iter_exchanges(path))) for path in files] == [2, 1]


def test_half_a_line_of_the_manifest_is_cut_off_when_the_disk_is_full(tmp_path: Path) -> None:
    """The limit of the file size stands for a full disk."""
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from gossamer.archive.manifest import note_begun\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "folder = Path(sys.argv[1])\n"
        "note_begun(folder, 'one.warc.gz')\n"
        "size = (folder / 'manifest.jsonl').stat().st_size + 10\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))\n"
        "try:\n"
        "    note_begun(folder, 'two.warc.gz')\n"
        "except OSError:\n"
        "    print('full')\n"
    )
    command = [sys.executable, "-B", "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    manifest = read_manifest(tmp_path)
    assert done.stdout == "full\n"
    assert manifest.bad_lines == []
    assert list(manifest.files) == ["one.warc.gz"]
