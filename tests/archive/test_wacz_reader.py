"""WACZ files that others have broken, or built to break a reader."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zipfile
from pathlib import Path

import pytest

from gossamer.archive.reader import salvage
from gossamer.archive.wacz_reader import warc_members
from gossamer.errors import CorruptFile

NAME = "archive/a.warc.gz"
ONE = b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 5\r\n\r\nwords\r\n\r\n"


def zipped(packing: int = zipfile.ZIP_STORED, warc: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr(NAME, warc or gzip.compress(ONE) * 20)
    return file.getvalue()


def with_list(data: bytes, entries: bytes, count: int) -> bytes:
    """The ZIP with another list of members."""
    place = data.rfind(b"PK\x01\x02")
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entries), place, 0)
    return data[:place] + entries + end


def found_in(path: Path) -> tuple[int, list[str]]:
    """How many records can be read, and what cannot."""
    records, faults = 0, []
    for member in warc_members(path):
        for one in [member] if isinstance(member, CorruptFile) else salvage(member):
            if isinstance(one, CorruptFile):
                faults.append(str(one))
            else:
                records += 1
    return records, faults


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read_however_they_are_packed(packing: int, tmp_path: Path) -> None:
    (path := tmp_path / "a.wacz").write_bytes(zipped(packing))
    assert found_in(path) == (20, [])


def test_a_packed_member_is_read_from_any_byte(tmp_path: Path) -> None:
    warc = random.Random(1).randbytes(200_000)
    (path := tmp_path / "a.wacz").write_bytes(zipped(zipfile.ZIP_DEFLATED, warc))
    (member,) = warc_members(path)
    assert not isinstance(member, CorruptFile)
    with member.open("rb") as file:
        assert file.seek(0, 2) == len(warc)
        for place in (150_000, 10, 199_999, 200_000, 0):
            file.seek(place)
            assert file.read(70_000) == warc[place : place + 70_000]
        file.seek(5)
        assert file.read() == warc[5:]


def test_a_member_that_is_said_to_lie_outside_of_the_file_is_named(tmp_path: Path) -> None:
    data = zipped()
    place = data.rfind(b"PK\x01\x02")
    entry = bytearray(data[place : place + 46])
    far = struct.pack("<HHQ", 1, 8, 2**64 - 1000)
    entry[42:46], entry[30:32] = b"\xff" * 4, struct.pack("<H", len(far))
    path = tmp_path / "a.wacz"
    path.write_bytes(with_list(data, bytes(entry) + NAME.encode() + far, 1))
    records, faults = found_in(path)
    assert records == 0
    assert "outside the file" in faults[0]


def test_bytes_that_many_members_share_are_read_once(tmp_path: Path) -> None:
    data = zipped(warc=gzip.compress(random.Random(1).randbytes(9000)))
    place = data.rfind(b"PK\x01\x02")
    entry = data[place : place + 46] + NAME.encode()
    (path := tmp_path / "a.wacz").write_bytes(with_list(data, entry * 500, 500))
    found = list(warc_members(path))
    assert sum(isinstance(one, CorruptFile) for one in found) > 490
    assert "shares its bytes" in str(found[-1])


def test_a_list_that_only_the_wide_end_tells_of_is_not_held_in_memory(tmp_path: Path) -> None:
    data = zipped()
    end = data.rfind(b"PK\5\6")
    wide = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, 2**30, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    (path := tmp_path / "a.wacz").write_bytes(data[:end] + wide + locator + data[end:])
    with pytest.raises(CorruptFile, match="too many"):
        found_in(path)


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_no_broken_byte_leads_to_anything_but_a_named_fault(packing: int, tmp_path: Path) -> None:
    chance, whole, path = random.Random(5), zipped(packing), tmp_path / "a.wacz"
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            broken[chance.randrange(len(broken))] = chance.choice(
                (0, 1, 255, chance.getrandbits(8))
            )
        path.write_bytes(broken[: chance.choice((len(broken), chance.randrange(len(broken))))])
        try:
            found_in(path)
        except CorruptFile:
            continue
