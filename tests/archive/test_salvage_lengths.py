"""A record whose length is wrong costs itself, and no whole record behind it."""

from __future__ import annotations

import io
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer.archive.reader import read_records, salvage
from gossamer.archive.record import Record
from gossamer.archive.warc import payload_digest
from gossamer.errors import CorruptFile

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Pack = Callable[[Sequence[bytes]], bytes]


def gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(6, wbits=31)
    return packer.compress(data) + packer.flush()


def in_pieces(records: Sequence[bytes]) -> bytes:
    """Members that begin and end anywhere in records."""
    whole = b"".join(records)
    return b"".join(gzip(whole[at : at + 700]) for at in range(0, len(whole), 700))


PACKS: dict[str, Pack] = {
    "plain": b"".join,
    "a member each": lambda records: b"".join(map(gzip, records)),
    "one member": lambda records: gzip(b"".join(records)),
    "two in a member": lambda records: gzip(b"".join(records[:2])) + gzip(b"".join(records[2:])),
    "pieces": in_pieces,
    "a frame each": lambda records: b"".join(map(zstd.compress, records)),
    "one frame": lambda records: zstd.compress(b"".join(records)),
}


def record(
    number: int,
    by: int = 0,
    *,
    end: bytes = b"\r\n",
    head_end: bytes = b"\r\n",
    has_digest: bool = False,
) -> bytes:
    """A response of which Content-Length is wrong by so much."""
    head = head_end.join([b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"", b""])
    block = head + b"<p>page %d</p>\n" % number * 20
    lines = [
        b"WARC/1.0",
        b"WARC-Type: response",
        b"WARC-Record-ID: <urn:uuid:%08d-0000-0000-0000-000000000000>" % number,
        b"WARC-Date: 2026-01-01T00:00:00Z",
        b"WARC-Target-URI: http://example.org/%d" % number,
        b"Content-Type: application/http; msgtype=response",
        b"Content-Length: %d" % (len(block) + by),
    ]
    if has_digest:
        lines.append(b"WARC-Block-Digest: " + payload_digest(block).encode())
    return end.join([*lines, b"", b""]) + block + end + end


def numbers(path: Path) -> list[int]:
    """The records that are found, by their numbers."""
    return [int(one.uri[-1]) for one in salvage(path) if isinstance(one, Record)]


LONG = len(record(3))


# Not of pieces: behind damage, a line that begins in one member and ends in the next is not found.
@pytest.mark.parametrize("pack", [name for name in PACKS if name != "pieces"])
@example(wrong=2, by=10, has_digest=False)
@example(wrong=2, by=LONG - 324 + 4, has_digest=False)  # to the end of the next one's headers
@given(wrong=st.integers(1, 4), by=st.integers(-300, 3 * LONG), has_digest=st.booleans())
def test_all_other_records_are_found(
    pack: str, wrong: int, by: int, has_digest: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # What ends just behind another record says nothing of being too long; what is off by some line
    # ends neither.
    behind = by % len(record(3, has_digest=has_digest))
    assume(4 < behind < len(record(3, has_digest=has_digest)) - 4)
    path = tmp_path_factory.getbasetemp() / "salvaged.warc"
    made = [record(n, by if n == wrong else 0, has_digest=has_digest) for n in (1, 2, 3, 4)]
    path.write_bytes(PACKS[pack](made))

    found = list(salvage(path))

    whole = [int(one.uri[-1]) for one in found if isinstance(one, Record)]
    assert [n for n in whole if n != wrong] == [n for n in (1, 2, 3, 4) if n != wrong]
    assert wrong not in whole or by < 0, "cut short at an empty line of its own"
    assert sum(isinstance(one, CorruptFile) for one in found) >= 1
    with pytest.raises(CorruptFile):
        list(read_records(path))


@pytest.mark.parametrize("pack", PACKS)
def test_several_wrong_lengths_cost_no_whole_record(pack: str, tmp_path: Path) -> None:
    wrong = {2: 500, 3: 10, 5: -40, 7: 5000}
    path = tmp_path / "a.warc"
    path.write_bytes(PACKS[pack]([record(n, wrong.get(n, 0)) for n in range(1, 10)]))

    assert numbers(path) == [1, 4, 6, 8, 9]


@pytest.mark.parametrize("pack", ["plain", "one member", "one frame"])
def test_a_whole_record_before_rubbish_stays(pack: str, tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(PACKS[pack]([record(1), record(2), b"rubbish\nof lines\n\n", record(3)]))

    assert numbers(path) == [1, 2, 3]


def test_a_record_that_holds_a_record_is_not_searched_if_its_digest_fits(tmp_path: Path) -> None:
    inner = record(7)
    block = b"HTTP/1.1 200 OK\r\n\r\n\n" + inner
    outer = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/1\r\n"
    outer += b"WARC-Block-Digest: %s\r\n" % payload_digest(block).encode()
    outer += b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)
    path = tmp_path / "a.warc"
    path.write_bytes(outer + b"rubbish\n" + record(2))

    assert numbers(path) == [1, 2]


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("head_end", [b"\r\n", b"\r\r\n"])
def test_lines_that_end_in_two_carriage_returns_are_read_as_warcio_reads_them(
    pack: str, head_end: bytes, tmp_path: Path
) -> None:
    made = [record(n, end=b"\r\r\n", head_end=head_end) for n in (1, 2, 3)]
    path = tmp_path / "a.warc"
    path.write_bytes(PACKS[pack](made))
    theirs = [
        (one.rec_headers.get_header("WARC-Target-URI"), one.content_stream().read())
        for one in ArchiveIterator(io.BytesIO(b"".join(made)))  # type: ignore[no-untyped-call]
    ]

    ours = list(read_records(path))

    assert [(one.uri, one.payload) for one in ours] == theirs
    assert [one.status for one in ours] == [200] * 3
    assert len(theirs) == 3


def rubbish_behind_pairs() -> bytes:
    """A whole record and one that claims half of the file, over and over."""
    whole = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    claim = b"WARC/1.0\r\nContent-Length: 1000000\r\n\r\nx\n"
    return (whole + claim) * 25_000 + b"x\n" * 500_000


@pytest.mark.parametrize("pack", ["plain", "one member", "one frame"])
def test_claims_of_half_the_file_are_not_read_each(pack: str, tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(PACKS[pack]([rubbish_behind_pairs()]))
    began_s = time.process_time()

    found = list(salvage(path, 1 << 20))

    assert time.process_time() - began_s < 20  # of 25 GB it would be minutes
    assert any(isinstance(one, Record) for one in found)


def test_damage_right_behind_a_record_does_not_hide_it(tmp_path: Path) -> None:
    packed = bytearray(gzip(b"".join(record(n) + b"%d" % n * 9 for n in range(1, 9)) * 40))
    cut = len(packed) - 200
    path = tmp_path / "a.warc.gz"
    path.write_bytes(packed[:cut] + b"\xff" * 200)

    assert numbers(path)[:8] == list(range(1, 9))
