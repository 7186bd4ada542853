"""Reading our files where they are damaged, and other people's where they lie."""

import gzip
import time
import tracemalloc
from pathlib import Path

import pytest
from isal import isal_zlib

from archive.archive_samples import a_failure, a_page, write_archive
from gossamer.archive.chunks import unchunked
from gossamer.archive.reader import (
    Exchange,
    iter_exchanges,
    last_whole_end,
    read_answer_at,
    read_exchange,
    read_records,
    salvage,
)
from gossamer.archive.record import Record
from gossamer.archive.search import Search
from gossamer.errors import CorruptFile

PLAIN = (
    b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://example.org/a b>\r\n"
    b"X-Long: one\r\n two\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
)


def a_record(block: bytes = b"hello") -> bytes:
    return PLAIN % (len(block), block)


def exchanges_and_fault(path: Path) -> tuple[list[Exchange], CorruptFile | None]:
    try:
        return list(iter_exchanges(path)), None
    except CorruptFile as fault:
        return [], fault


def test_cut_at_any_byte_the_whole_exchanges_are_found_exactly(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page(), a_failure())
    data = path.read_bytes()

    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        expected = max((end for end in ends if end <= size), default=0)
        assert last_whole_end(path) == expected, size


def test_from_a_known_end_only_what_follows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page(), a_failure())
    path.write_bytes(b"\0" * ends[1] + path.read_bytes()[ends[1] :])

    assert last_whole_end(path, ends[1]) == ends[2]
    assert last_whole_end(path, ends[2]) == ends[2]
    assert [exchange.stored.start for exchange in iter_exchanges(path, ends[1])] == [ends[1]]


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"junk", b"\x1f\x8b\x08", b"\x04\x22\x4d\x18"])
def test_a_tail_of_anything_is_no_exchange(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page())
    path.write_bytes(path.read_bytes() + tail)

    assert last_whole_end(path) == ends[-1]
    assert last_whole_end(path, ends[-1]) == ends[-1]


def test_a_changed_byte_is_found_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page())
    sound = path.read_bytes()
    expected = list(iter_exchanges(path))

    for at in range(0, len(sound), 3):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 0x10]) + sound[at + 1 :])
        found, fault = exchanges_and_fault(path)
        if fault is None:
            assert found == expected  # a byte of a gzip header that says nothing
        else:
            assert fault.path == path
            assert fault.offset <= at


def test_damage_is_named_with_file_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page(), a_page())
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(CorruptFile, match=r"a\.warc\.gz, byte \d+: the gzip member .* cut off"):
        list(iter_exchanges(path))
    with pytest.raises(CorruptFile, match=r"byte \d+: the file ends here, but byte 999999 was"):
        read_exchange(path, 999_999)
    with pytest.raises(CorruptFile, match=f"byte {ends[1] + 1}: no record begins here"):
        read_answer_at(path, ends[1] + 1)


def test_an_exchange_without_its_metadata_is_no_exchange(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page())
    *_, metadata = read_records(path)
    path.write_bytes(path.read_bytes()[: metadata.offset])

    with pytest.raises(CorruptFile, match="ends with a response record instead of its metadata"):
        list(iter_exchanges(path))


def test_metadata_that_says_nothing_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    record = a_record(b"outcome: failed\r\n").replace(b"resource", b"metadata")
    path.write_bytes(gzip.compress(record))

    with pytest.raises(CorruptFile, match="byte 0: the metadata record cannot be understood"):
        list(iter_exchanges(path))


@pytest.mark.parametrize("layout", ["plain", "members", "one member", "split members"])
def test_every_layout_of_a_file_is_read(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "a.warc"
    records = [a_record(b"one"), a_record(b"two" * 50_000), a_record(b"")]
    joined = b"".join(records)
    path.write_bytes(
        {
            "plain": joined,
            "members": b"".join(map(gzip.compress, records)),
            "one member": gzip.compress(joined),
            "split members": gzip.compress(joined[:150]) + gzip.compress(joined[150:]),
        }[layout]
    )

    found = list(read_records(path))

    assert [record.content for record in found] == [b"one", b"two" * 50_000, b""]
    assert {record.uri for record in found} == {"http://example.org/a%20b"}
    assert {record.header("x-long") for record in found} == {"one two"}


@pytest.mark.parametrize("layout", ["plain", "members"])
def test_a_record_can_be_read_at_its_offset(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "a.warc"
    records = [a_record(b"%d" % number) for number in range(5)]
    path.write_bytes(b"".join(records if layout == "plain" else map(gzip.compress, records)))

    for record in read_records(path):
        assert read_answer_at(path, record.offset) == record


def test_a_claimed_size_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(a_record().replace(b"Length: 5", b"Length: 99999999999999"))
    tracemalloc.start()

    with pytest.raises(CorruptFile, match="has 99999999999999 bytes, but the file ends after 9"):
        list(read_records(path))

    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_a_bomb_is_kept_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(
        isal_zlib.compress(a_record(b"\0" * 50_000_000), 1, 31) + gzip.compress(a_record())
    )
    tracemalloc.start()

    bomb, after = read_records(path, limit_bytes=1000)

    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    assert bomb.is_cut
    assert bomb.is_whole
    assert (len(bomb.content), bomb.size) == (1000, 50_000_000)
    assert after.content == b"hello"


@pytest.mark.parametrize(
    "header", [b"Content-Length: x", b"Content-Length: -1", b"Content-Length:", b"X: 1"]
)
def test_a_record_must_say_its_size(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(a_record().replace(b"Content-Length: 5", header))

    with pytest.raises(CorruptFile, match="byte 0: the record's Content-Length is"):
        list(read_records(path))


def test_endless_headers_are_given_up(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"WARC/1.1\r\n" + b"X: y\r\n" * 400_000)

    with pytest.raises(CorruptFile, match="byte 0: the record's headers are too long"):
        list(read_records(path))


def test_a_block_that_is_longer_than_it_says_is_no_silent_loss(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(a_record() + a_record(b"world").replace(b"Length: 5", b"Length: 3"))
    found: list[Record] = []

    with pytest.raises(CorruptFile, match="no empty line follows the record") as caught:
        found.extend(read_records(path))

    assert [record.is_whole for record in found] == [True, False]
    assert caught.value.offset == path.stat().st_size - len(b"ld\r\n\r\n")


def test_the_next_record_behind_damage_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_page(), a_failure())
    data = bytearray(path.read_bytes())
    data[ends[0] + 20] ^= 0xFF
    path.write_bytes(data)

    with path.open("rb") as one, path.open("rb") as other:
        search = Search(path, one, other)
        first = search.after(ends[0], 0)
        none = search.after(ends[1], 0)

    assert first is not None
    assert read_answer_at(path, first).type == "response"
    assert none is None


def test_arc_files_of_the_second_kind_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.arc"
    block = b"HTTP/1.0 404 Gone\n\nno"
    path.write_bytes(
        b"filedesc://a.arc 0.0.0.0 20010203040506 text/plain 200 - - 0 a.arc 8\n2 0 X\n\n\n"
        b"http://example.org/ 192.0.2.1 20010203040506 text/html 404 - - 99 a.arc %d\n"
        % len(block)
        + block
        + b"\n"
    )

    header, page = read_records(path)

    assert header.type == "arc_header"
    assert (page.uri, page.status, page.payload) == ("http://example.org/", 404, b"no")
    assert page.header("Content-Type") == "text/html"
    assert page.at_us == 981_173_106_000_000


def test_chunks_are_joined_and_what_is_not_chunked_is_left() -> None:
    assert unchunked(b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n") == b"hello world"
    assert unchunked(b"hello") == b"hello"
    assert unchunked(b"ff\r\nshort") == b"ff\r\nshort"
    assert unchunked(b"") == b""


def test_beginnings_of_endless_records_are_not_read_to_the_end_each(tmp_path: Path) -> None:
    endless = b"WARC/1.0\r\nContent-Length: 999999999999\r\n\r\n"
    whole = b"WARC/1.0\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n"
    path = tmp_path / "a.warc"
    path.write_bytes(endless * 20_000 + b"\n" + whole)  # 900 KB, that were 9 GB to read

    found = list(salvage(path))

    assert [one.content for one in found if isinstance(one, Record)] == [b"hi"]


def test_a_header_of_many_lines_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    folded = b"X: a\r\n" + b" a\r\n" * 200_000
    path.write_bytes(b"WARC/1.1\r\n" + folded + b"Content-Length: 0\r\n\r\n\r\n\r\n")

    began_s = time.process_time()
    [record] = read_records(path)

    assert len(record.header("X")) == 400_001
    assert time.process_time() - began_s < 3  # of pieces joined one by one, ten


@pytest.mark.parametrize("part", [b" 000000000000", b" 1 000000000000 a", b" 1", b" "])
def test_a_line_that_looks_like_arc_over_and_over_is_told_at_once(
    tmp_path: Path, part: bytes
) -> None:
    path = tmp_path / "a.arc"
    path.write_bytes(b"http://a.example/" + part * (900_000 // len(part)) + b" \n")

    with pytest.raises(CorruptFile, match="no record begins here"):
        list(read_records(path))
