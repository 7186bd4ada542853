"""Packages that a hub must refuse, each with its reason; memory does not grow with them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from gossamer.archive.wacz import WaczWriter
from gossamer.fleet.packages.check_process import check_apart
from gossamer.fleet.packages.format import (
    ARCHIVE,
    FACTS,
    OUTCOMES,
    PackageLimits,
    PackageRefused,
)
from support.a_package import UnitJob, a_job, built_package, checked_file
from support.a_site import site_in_thread
from support.answers import page

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SALT = "5a" * 16


@dataclass(frozen=True, slots=True)
class Sample:
    """A good package, and its members."""

    unit: UnitJob
    path: Path
    members: dict[str, bytes]

    def changed(self, target: Path, **members: bytes) -> Path:
        """A package with other members, whose lists of digests are right."""
        names = {"archive": ARCHIVE, "outcomes": OUTCOMES, "facts": FACTS}
        return self.with_members(
            target, {**self.members, **{names[key]: data for key, data in members.items()}}
        )

    def with_members(self, target: Path, members: dict[str, bytes]) -> Path:
        with target.open("wb") as file:
            wacz = WaczWriter(file, "2026-01-01T00:00:00Z")
            for name in (ARCHIVE, OUTCOMES, FACTS):
                wacz.add_member(name, [members[name]])
            wacz.add_pages([])
            wacz.close("x", None)
        return target

    def records(self) -> bytes:
        return zstd.decompress(self.members[ARCHIVE])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    folder = tmp_path_factory.mktemp("unit")
    pages = {"/": page("<a href=/b>b</a><a href=/c>c</a>"), "/b": page("bbb"), "/c": page("ccc")}
    with site_in_thread(pages) as site:
        unit = a_job(folder, site.url(), salt=SALT)
        built = built_package(unit)
    with zipfile.ZipFile(built.path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return Sample(unit, built.path, members)


def refusal(path: Path, unit: UnitJob, limits: PackageLimits | None = None) -> str:
    with pytest.raises(PackageRefused) as caught:
        checked_file(path, unit.assignment, limits)
    return caught.value.reason


def edited(sample: Sample, target: Path, change: Callable[[bytes], bytes]) -> Path:
    before = sample.records()
    after = change(before)
    assert after != before
    return sample.changed(target, archive=zstd.compress(after))


def test_a_good_package_is_accepted(sample: Sample, tmp_path: Path) -> None:
    same = sample.changed(tmp_path / "same.wacz")

    assert checked_file(same, sample.unit.assignment).pages == 3


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"\r\n\r\nbbb", b"\r\n\r\nxyz", "digest"),
        (b"WARC-Date: 20", b"WARC-Date: 30", "date"),
        (b"WARC-Date: 20", b"WARC-Date: 19", "date"),
        (b"WARC-Date: 2", b"WARC-Date: x", "damaged"),
        (b"WARC-Target-URI: http://127.0.0.1:", b"WARC-Target-URI: http://127.0.0.9:", "host"),
        (b"WARC-Target-URI: http://", b"WARC-Target-URI: HTTP://", "url"),
        (b"\r\nkey: ", b"\r\nkey: 00", "salt"),
        (b"depth: 0", b"depth: 99999999", "damaged"),
        (b"Content-Length: ", b"Content-Length: 9", "damaged"),
        (b"Content-Length: ", b"Content-Length: 99999999", "size"),
        (b"WARC-Type: response", b"WARC-Type: resource", "damaged"),
        (b"maxBodyBytes: ", b"purpose: kept\r\nmaxBodyBytes: ", "damaged"),
    ],
)
def test_a_changed_record_is_refused(
    sample: Sample, tmp_path: Path, old: bytes, new: bytes, reason: str
) -> None:
    path = edited(sample, tmp_path / "x.wacz", lambda records: records.replace(old, new))

    assert refusal(path, sample.unit) in (reason, "damaged", "digest")


def test_records_that_are_cut_off_are_refused(sample: Sample, tmp_path: Path) -> None:
    cut = edited(sample, tmp_path / "a.wacz", lambda records: records[:-100])
    torn = sample.changed(tmp_path / "b.wacz", archive=sample.members[ARCHIVE][:-20])
    more = sample.changed(tmp_path / "c.wacz", archive=sample.members[ARCHIVE] + b"more")
    noise = sample.changed(tmp_path / "d.wacz", archive=os.urandom(1000))
    whole = sample.path.read_bytes()
    for number, length in enumerate((0, 10, 100, len(whole) // 2, len(whole) - 1)):
        part = tmp_path / f"part{number}.wacz"
        part.write_bytes(whole[:length])
        assert refusal(part, sample.unit) in ("truncated", "layout", "entries")

    assert refusal(cut, sample.unit) == "damaged"
    assert refusal(torn, sample.unit) == "truncated"
    assert refusal(more, sample.unit) == "layout"
    assert refusal(noise, sample.unit) == "damaged"


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("job", "job2", "job"),
        ("fence", 2, "fence"),
        ("kind", "summary", "kind"),
        ("format", 9, "format"),
        ("pages", 99, "count"),
        ("exchanges", 1, "count"),
        ("outcomes", 7, "count"),
        ("known", -1, "count"),
        ("seeds", ["http://evil.example/"], "job"),
        ("job", 5, "facts"),
    ],
)
def test_wrong_facts_are_refused(
    sample: Sample, tmp_path: Path, name: str, value: object, reason: str
) -> None:
    facts = {**json.loads(sample.members[FACTS]), name: value}
    path = sample.changed(tmp_path / "x.wacz", facts=json.dumps(facts).encode())

    assert refusal(path, sample.unit) == reason


def test_keys_of_another_salt_are_refused(sample: Sample) -> None:
    assignment = msgspec.structs.replace(sample.unit.assignment, salt="77" * 16)

    with pytest.raises(PackageRefused) as caught:
        checked_file(sample.path, assignment)
    assert caught.value.reason == "salt"


@pytest.mark.parametrize(
    "line",
    [
        {"url": "http://other.example/", "outcome": "refused", "reason": "robots", "at_us": 1},
        {"url": "http://127.0.0.1/", "outcome": "fetched", "reason": "robots"},
        {"url": "http://127.0.0.1/", "outcome": "refused", "reason": "nonsense"},
        {"url": "file:///etc/passwd", "outcome": "refused", "reason": "robots"},
        {"url": 5},
    ],
)
def test_outcomes_of_other_hosts_or_kinds_are_refused(
    sample: Sample, tmp_path: Path, line: dict[str, object]
) -> None:
    outcomes = zstd.compress(json.dumps(line).encode() + b"\n")
    facts = json.dumps({**json.loads(sample.members[FACTS]), "outcomes": 1}).encode()
    path = sample.changed(tmp_path / "x.wacz", outcomes=outcomes, facts=facts)

    assert refusal(path, sample.unit) in ("host", "url", "damaged", "date")


# -- the container


def a_zip(path: Path, *members: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "archive/../../x",
        "C:\\x",
        "archive/inner.wacz",
        "fleet/",
        "x" * 60_000,
    ],
)
def test_other_names_are_refused(sample: Sample, tmp_path: Path, name: str) -> None:
    path = a_zip(tmp_path / "x.wacz", *sample.members.items(), (name, b"x"))

    assert refusal(path, sample.unit) in ("name", "entries", "link")
    assert [one.name for one in tmp_path.iterdir()] == ["x.wacz"]


def test_links_are_refused(sample: Sample, tmp_path: Path) -> None:
    link = zipfile.ZipInfo(FACTS)
    link.external_attr = 0o120777 << 16
    members = {**sample.members}
    del members[FACTS]
    path = a_zip(tmp_path / "x.wacz", *members.items(), (link, b"/etc/passwd"))

    assert refusal(path, sample.unit) == "link"


def test_overlapping_members_are_refused(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    shutil.copy(sample.path, path)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", at + 4)
    data[second + 42 : second + 46] = struct.pack("<I", 0)  # it begins where the first one does
    path.write_bytes(data)

    assert refusal(path, sample.unit) in ("layout", "name", "truncated")


def test_a_million_entries_are_refused_without_reading_them(sample: Sample, tmp_path: Path) -> None:
    entry = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0
    )
    listed = (entry + b"a") * 1_000_000
    for count in (0xFFFF, 6):
        end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(listed), 0, 0)
        path = tmp_path / f"{count}.wacz"
        path.write_bytes(listed + end)
        assert refusal(path, sample.unit) == "entries"


def test_a_wrong_list_of_digests_is_refused(sample: Sample, tmp_path: Path) -> None:
    listed = json.loads(sample.members["datapackage.json"])
    listed["resources"][0]["hash"] = "sha256:" + "0" * 64
    data = json.dumps(listed).encode()
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
    members = {
        **sample.members,
        "datapackage.json": data,
        "datapackage-digest.json": json.dumps(digest).encode(),
    }
    path = a_zip(tmp_path / "x.wacz", *members.items())

    assert refusal(path, sample.unit) == "digest"


# -- bombs


def bomb(size: int) -> bytes:
    packer = zstd.ZstdCompressor()
    piece = bytes(1 << 20)
    parts = [packer.compress(piece) for _ in range(size >> 20)]
    return b"".join([*parts, packer.flush()])


@pytest.mark.slow
def test_bombs_are_refused_and_memory_stays_flat(sample: Sample, tmp_path: Path) -> None:
    record = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1073741824\r\n\r\n"
    packer = zstd.ZstdCompressor()
    long = packer.compress(record) + b"".join(packer.compress(bytes(1 << 20)) for _ in range(256))
    long += packer.flush()
    lines = sample.changed(tmp_path / "lines.wacz", outcomes=bomb(1 << 28))
    zeros = sample.changed(tmp_path / "zeros.wacz", archive=bomb(1 << 28))
    large = sample.changed(tmp_path / "large.wacz", archive=long)
    limits = PackageLimits(max_memory_bytes=512 * 2**20, max_cpu_s=60)
    assignment = sample.unit.assignment
    for path in (lines, zeros, large):
        with pytest.raises(PackageRefused) as caught:
            check_apart(
                path, assignment.spec, assignment.hosts, limits, job="job1", fence=1, salt=SALT
            )
        assert caught.value.reason in ("bomb", "size", "damaged")


def test_a_window_that_takes_too_much_memory_is_refused(sample: Sample, tmp_path: Path) -> None:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 30}
    packer = zstd.ZstdCompressor(options=options)
    wide = packer.compress(sample.records()) + packer.flush()
    path = sample.changed(tmp_path / "x.wacz", archive=wide)

    assert refusal(path, sample.unit) == "damaged"


def test_a_check_that_takes_too_much_memory_is_ended(sample: Sample) -> None:
    limits = PackageLimits(max_memory_bytes=32 * 2**20)  # too little for any program
    assignment = sample.unit.assignment

    with pytest.raises(PackageRefused) as caught:
        check_apart(
            sample.path, assignment.spec, assignment.hosts, limits, job="job1", fence=1, salt=SALT
        )
    assert caught.value.reason in ("limits", "damaged")
