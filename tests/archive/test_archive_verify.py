"""Faults that checking a file must find."""

from pathlib import Path

from isal import isal_zlib

from archive.archive_samples import AT_US, a_failure, a_lease, a_page, a_refusal, write_archive
from gossamer.archive.reader import read_records
from gossamer.archive.verify import check_file
from gossamer.archive.warc import RevisitOf, exchange_bytes, warcinfo_bytes


def rewritten(path: Path, at: int, old: bytes, new: bytes) -> None:
    """Change the record at that byte, in a member that is itself sound."""
    data = path.read_bytes()
    record = next(r for r in read_records(path) if r.offset == at)
    member = isal_zlib.decompress(data[at : at + record.length], 31)
    assert old in member
    changed = isal_zlib.compress(member.replace(old, new), 1, 31)
    path.write_bytes(data[:at] + changed + data[at + record.length :])


def offset_of(path: Path, kind: str) -> int:
    return next(record.offset for record in read_records(path) if record.type == kind)


def test_a_sound_file_has_no_faults(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page(), a_failure(), a_refusal())
    revisit = exchange_bytes(a_lease(), a_page(), 1, RevisitOf("http://a.b/", 0, "sha1:ABC"))
    path.write_bytes(path.read_bytes() + revisit.data)

    assert list(check_file(path)) == []


def test_a_body_that_was_changed_is_found_by_both_digests(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page())
    at = offset_of(path, "response")
    rewritten(path, at, b"Hello", b"Jello")

    faults = list(check_file(path))

    assert [(fault.path, fault.offset) for fault in faults] == [(path, at), (path, at)]
    assert "block" in faults[0].problem
    assert "payload" in faults[1].problem


def test_a_reference_to_another_record_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    write_archive(path, a_page())
    at = offset_of(path, "request")
    rewritten(path, at, b"Concurrent-To: <urn:uuid:", b"Concurrent-To: <urn:uuid:0")

    (fault,) = check_file(path)

    assert (fault.offset, fault.problem) == (
        at,
        "the request record does not name the response beside it",
    )


def test_an_exchange_that_lacks_a_record_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    info = warcinfo_bytes(path.name, AT_US, {})
    page = exchange_bytes(a_lease(), a_page())
    without_response = page.data[: page.response] + page.data[page.response_end :]
    path.write_bytes(info + without_response + page.data[: page.response_end])

    faults = list(check_file(path))

    assert [fault.problem for fault in faults] == [
        "an exchange of request, metadata records",
        "the exchange that begins here has no metadata record",
    ]


def test_damage_in_the_middle_hides_nothing_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    ends = write_archive(path, a_failure(), a_page())
    rewritten(path, offset_of(path, "response"), b"Hello", b"Jello")
    data = bytearray(path.read_bytes())
    data[ends[0] + 30] ^= 0xFF
    path.write_bytes(data)

    faults = list(check_file(path))

    assert faults[0].offset == ends[0]
    assert [fault.problem.split(" does ")[0] for fault in faults[1:]] == [
        "the block",
        "the payload",
    ]
