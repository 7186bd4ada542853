"""Files made so that looking for records in them never ends: each costs what it weighs."""

from __future__ import annotations

import struct
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.archive.reader import salvage
from gossamer.archive.record import Record
from gossamer.archive.verify import check_file
from gossamer.archive.wacz_reader import warc_members
from gossamer.errors import CorruptFile

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
# Some seconds at the most for 2 MB; read on to the end from every place, it would be an hour.
MOST_S = 20.0


def warc(size: int, block: bytes = b"") -> bytes:
    named = b"WARC-Type: resource\r\nWARC-Target-URI: http://example.org/\r\n"
    return b"WARC/1.0\r\n%sContent-Length: %d\r\n\r\n%s" % (named, size, block)


def member(data: bytes) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return packer.compress(data) + packer.flush()


def endless_claims() -> bytes:
    """Every record claims all that follows, and more."""
    return member(warc(10**12)) * 15_000


def nothing_but_marks() -> bytes:
    return member(warc(0) + b"\r\n\r\n") + GZIP_HEAD[:3] * 700_000


def names_without_end() -> bytes:
    """Each member begins with a file name that never ends."""
    return member(b"rubbish") + (b"\x1f\x8b\x08\x08" + b"a" * 30) * 60_000


def nested_members() -> bytes:
    """Members that hold all that follows, stored as it is, so that each reads on to the end; each
    begins with a record that is whole."""
    record = warc(0) + b"\r\n\r\n"
    head = GZIP_HEAD + b"\0" + struct.pack("<HH", len(record), len(record) ^ 0xFFFF) + record
    level = b"\0" + struct.pack("<HH", 60_000, 60_000 ^ 0xFFFF)
    inner = (head * (60_000 // len(head) + 1))[:60_000]
    return head + (level + inner) * 30


HOSTILE = (endless_claims, nothing_but_marks, names_without_end, nested_members)


@pytest.mark.parametrize("made", HOSTILE)
def test_a_hostile_file_costs_what_it_weighs(made: Callable[[], bytes], tmp_path: Path) -> None:
    (path := tmp_path / "a.warc.gz").write_bytes(made())
    began_s = time.monotonic()

    found = list(salvage(path, 1 << 20))

    assert time.monotonic() - began_s < MOST_S
    assert any(isinstance(one, CorruptFile) for one in found)
    assert sum(1 for _ in check_file(path)) >= 1


def test_the_same_packed_into_a_zip_costs_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/a.warc.gz", endless_claims()[:300_000])
    (one,) = warc_members(path)
    assert not isinstance(one, CorruptFile)
    began_s = time.monotonic()

    found = list(salvage(one))

    assert time.monotonic() - began_s < MOST_S
    assert isinstance(found[-1], CorruptFile)


def test_a_dictionary_of_two_kilobytes_that_unpacks_to_megabytes_is_read_once(
    tmp_path: Path,
) -> None:
    texts = [b"%d http://example.org/ words of page %d" % (n, n * n) for n in range(1_000)]
    packed = zstd.compress(zstd.train_dict(texts, 4_096).dict_content + bytes(2**24))
    whole = zstd.compress(warc(0) + b"\r\n\r\n")
    damaged = b"\x28\xb5\x2f\xfd" + b"\xff" * 8
    head = b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(packed)) + packed
    (path := tmp_path / "a.warc.zst").write_bytes(head + (whole + damaged * 3) * 500)
    began_s = time.process_time()

    found = [one for one in salvage(path) if isinstance(one, Record)]

    assert time.process_time() - began_s < 5  # 0.3 s; read for every place, a minute
    assert len(found) == 500


def test_of_a_file_with_every_other_member_damaged_all_others_are_found(tmp_path: Path) -> None:
    bodies = [b"%d " % n * 2_000 for n in range(200)]
    members = [bytearray(member(warc(len(body), body) + b"\r\n\r\n")) for body in bodies]
    for damaged in members[1::2]:
        damaged[len(damaged) // 2] ^= 0x55
    (path := tmp_path / "a.warc.gz").write_bytes(b"".join(members))

    found = [one.content for one in salvage(path) if isinstance(one, Record)]

    assert found == bodies[::2]
