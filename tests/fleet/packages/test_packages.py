"""Build, split, send, join, filter, and what a unit keeps for differences."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.warc import payload_digest
from gossamer.fleet.packages.differences import difference, with_difference
from gossamer.fleet.packages.earlier import EarlierBodies
from gossamer.fleet.packages.entries import PackageEntry, RecordIds, SentBody, entry_bytes
from gossamer.fleet.packages.filter import FilteredPage, FilterText, PackageFilter, extension_of
from gossamer.fleet.packages.format import OUTCOMES, BuiltPackage, PackageRefused
from gossamer.fleet.packages.hosts import JobHosts
from gossamer.fleet.packages.join import join_packages
from gossamer.fleet.packages.known import known_name, read_name
from gossamer.fleet.packages.pieces import PieceStore, piece_data, split
from gossamer.fleet.packages.send import send_package
from gossamer.fleet.protocol import (
    PIECE_BYTES,
    HaveQuestion,
    MissingDigests,
    PackageAccepted,
    PackageNotice,
    PageFilter,
    PieceStored,
)
from gossamer.records import Fetched, Lease
from support.a_package import a_job, built_package, checked_file, checked_package
from support.a_site import site_in_thread
from support.answers import page

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


# -- filter


def judged(rules: PageFilter, url: str, **facts: object) -> str:
    known = {"type": "text/html", "size": 1000, "language": "en", "text": "some words", **facts}
    page = FilteredPage(
        url, str(known["type"]), int(str(known["size"])),
        lambda: FilterText(str(known["language"]), str(known["text"])),
    )  # fmt: skip
    verdict = PackageFilter(rules).judge(page)
    return verdict[0].value if verdict else ""


def test_an_empty_filter_excludes_nothing() -> None:
    assert judged(PageFilter(), "http://a.org/x.pdf") == ""


@pytest.mark.parametrize(
    ("rules", "good", "bad", "reason"),
    [
        (PageFilter(extensions=("pdf",)), {"url": "http://a.org/x.PDF?a"}, {}, "type"),
        (PageFilter(types=("pdf",)), {"type": "application/pdf"}, {}, "type"),
        (PageFilter(min_bytes=2000), {"size": 2000}, {}, "size"),
        (PageFilter(max_bytes=500), {"size": 500}, {}, "size"),
        (PageFilter(languages=("de",)), {"language": "de"}, {}, "scope"),
        (PageFilter(topic="Rivers, lakes"), {"text": "the LAKES of"}, {}, "scope"),
        (PageFilter(include=("/docs/",)), {"url": "http://a.org/docs/x"}, {}, "scope"),
        (PageFilter(exclude=("*print*",)), {}, {"url": "http://a.org/print/x"}, "scope"),
    ],
)
def test_each_rule_excludes_with_its_reason(
    rules: PageFilter, good: dict[str, object], bad: dict[str, object], reason: str
) -> None:
    def of(facts: dict[str, object]) -> str:
        url = str(facts.get("url", "http://a.org/x"))
        return judged(rules, url, **{k: v for k, v in facts.items() if k != "url"})

    assert of(good) == ""
    assert of(bad) == reason


def test_extensions_are_those_of_the_last_part() -> None:
    assert extension_of("http://a.org/b.c/d") == ""
    assert extension_of("http://a.org/.htaccess") == ""
    assert extension_of("http://a.org/a.tar.GZ?x=1.pdf") == "gz"


def test_hosts_of_a_job_are_names_and_domains() -> None:
    hosts = JobHosts(["a.org", ".b.org"])

    assert [hosts.has(name) for name in ("a.org", "b.org", "x.y.b.org")] == [True] * 3
    assert [hosts.has(name) for name in ("x.a.org", "ab.org", "org", "")] == [False] * 4


def test_pages_that_the_filter_excludes_are_reported_as_refused(tmp_path: Path) -> None:
    pages = {
        "/": page("<a href=/b.txt>b</a><a href=/c>c</a>"),
        "/b.txt": page("b"),
        "/c": page("c"),
    }
    with site_in_thread(pages) as site:
        unit = a_job(tmp_path, site.url(), filter=PageFilter(exclude=("/b",)))
        checked = checked_package(unit)

    assert (checked.pages, checked.outcomes) == (2, 1)
    with zipfile.ZipFile(tmp_path / "job1.wacz") as archive:
        line = json.loads(zstd.decompress(archive.read(OUTCOMES)))
    assert (line["url"], line["reason"]) == (site.url("/b.txt"), "scope")


# -- pieces


class Hub:
    """The part of a hub that takes pieces. `fails_after` cuts the connection once."""

    def __init__(self, folder: Path, fails_after: int = -1) -> None:
        self.store = PieceStore(folder)
        self.puts: list[str] = []
        self.fails_after = fails_after
        self.notice: PackageNotice | None = None

    def have(self, question: HaveQuestion) -> MissingDigests:
        return MissingDigests(
            missing=tuple(self.store.missing("u", question.job, question.digests))
        )

    def put_piece(self, job: str, fence: int, sha256: str, piece: bytes) -> PieceStored:
        assert fence == 1
        if len(self.puts) == self.fails_after:
            self.fails_after = -1
            raise ConnectionError
        self.puts.append(sha256)
        return PieceStored(is_new=self.store.put("u", job, sha256, piece))

    def send_package(self, notice: PackageNotice) -> PackageAccepted:
        self.notice = notice
        return PackageAccepted(package="p", is_new=True)


def a_file(path: Path, size: int) -> BuiltPackage:
    data = hashlib.shake_128(b"seed").digest(size)
    path.write_bytes(data)
    return BuiltPackage(path, "pages", 1, 1, hashlib.sha256(data).hexdigest(), size)


def test_a_cut_transfer_repeats_at_most_one_piece(tmp_path: Path) -> None:
    built = a_file(tmp_path / "x", 3 * PIECE_BYTES + 5)
    hub = Hub(tmp_path / "hub", fails_after=2)
    with pytest.raises(ConnectionError):
        send_package(hub, built, "j", 1)
    told: list[int] = []
    send_package(hub, built, "j", 1, lambda sent, _: told.append(sent))

    assert len(hub.puts) == len(set(hub.puts)) == 4
    assert told[-1] == built.size
    assert hub.notice is not None
    out = hub.store.join(
        "u", "j", hub.notice.pieces, hub.notice.sha256, hub.notice.size, tmp_path / "y"
    )
    assert out.read_bytes() == built.path.read_bytes()
    hub.store.free("u", "j")
    assert hub.store.used_bytes("u") == 0


def test_pieces_have_a_quota_and_belong_to_their_unit(tmp_path: Path) -> None:
    store = PieceStore(tmp_path / "pieces", job_bytes=10, unit_bytes=15)
    names = {data: hashlib.sha256(data).hexdigest() for data in (b"12345678", b"abcdefg", b"x")}
    assert store.put("u", "j", names[b"12345678"], b"12345678")
    assert not store.put("u", "j", names[b"12345678"], b"12345678")
    refused = [("u", "j", b"abcdefg", "quota"), ("u", "../j", b"x", "digest")]
    for unit, job, data, reason in refused:
        with pytest.raises(PackageRefused) as caught:
            store.put(unit, job, names[data], data)
        assert caught.value.reason == reason
    with pytest.raises(PackageRefused):
        store.put("u", "j", names[b"x"], b"y")
    assert store.put("u", "k", names[b"abcdefg"], b"abcdefg")

    assert not store.has("v", "j", names[b"12345678"])
    assert store.used_bytes("u") == 15
    assert PieceStore(tmp_path / "pieces").used_bytes("u") == 15
    assert store.free_old(2**62) == 2
    assert store.used_bytes("u") == 0


def test_a_damaged_piece_is_asked_for_again(tmp_path: Path) -> None:
    built = a_file(tmp_path / "x", 100)
    hub = Hub(tmp_path / "hub")
    send_package(hub, built, "j", 1)
    [piece] = split(built.path)
    (tmp_path / "hub" / "u" / "j" / piece.sha256).write_bytes(b"other")
    with pytest.raises(PackageRefused) as caught:
        hub.store.join("u", "j", [piece], built.sha256, 100, tmp_path / "y")

    assert caught.value.reason == "pieces"
    assert not (tmp_path / "y").exists()
    assert piece_data(built.path, 0) == built.path.read_bytes()
    assert hub.have(
        HaveQuestion(job="j", fence=1, kind="piece", digests=(piece.sha256,))
    ).missing == (0,)


# -- differences, names, entries


@given(st.binary(min_size=8, max_size=3000), st.binary(max_size=3000))
def test_a_difference_gives_the_body_back(earlier: bytes, body: bytes) -> None:
    packed = difference(earlier, body)

    assert with_difference(earlier, packed, 3000) == body
    if len(body) > 10:
        with pytest.raises(PackageRefused):
            with_difference(earlier, packed, len(body) - 1)


@given(st.binary(max_size=200))
def test_noise_is_no_difference(noise: bytes) -> None:
    with pytest.raises(PackageRefused):
        with_difference(b"12345678", noise, 1000)


@given(st.binary(min_size=16, max_size=16), st.binary(max_size=50))
def test_a_name_is_read_back(key: bytes, body: bytes) -> None:
    digest = payload_digest(body)

    assert read_name(known_name(key, digest)) == (key, digest)
    assert read_name(known_name(key, digest) + "x") is None


def test_earlier_bodies_are_kept_within_their_limit(tmp_path: Path) -> None:
    bodies = [hashlib.shake_128(bytes([n])).digest(1000) for n in range(20)]
    with EarlierBodies(tmp_path / "e.sqlite", 5_000) as earlier:
        for n, body in enumerate(bodies):
            earlier.put(bytes([n]) * 16, f"d{n}", body)
    with EarlierBodies(tmp_path / "e.sqlite", 5_000) as earlier:
        kept = [n for n in range(20) if earlier.find(bytes([n]) * 16) is not None]
        newest = earlier.find(bytes([19]) * 16)

    assert kept == [16, 17, 18, 19]
    assert newest == ("d19", bodies[19])


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "e.sqlite").write_bytes(b"no database at all" * 100)
    with EarlierBodies(tmp_path / "e.sqlite", 5_000) as earlier:
        assert earlier.find(b"x" * 16) is None


def test_a_second_build_returns_the_first_package(tmp_path: Path) -> None:
    with site_in_thread({"/": page("one")}) as site:
        unit = a_job(tmp_path, site.url())
    first, second = built_package(unit), built_package(unit)
    assert first == second
    first.path.write_bytes(b"damaged")

    assert built_package(unit).pages == first.pages


# -- join


def test_joined_packages_have_each_exchange_once(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<a href=/b>b</a>"), "/b": page("b")}) as site:
        unit = a_job(tmp_path, site.url(), salt="5a" * 16)
    one = built_package(unit)
    two = one.path.rename(tmp_path / "first.wacz")
    other = built_package(unit)
    joined = join_packages([two, other.path], unit.assignment, tmp_path / "joined.wacz")
    checked = checked_file(joined.path, unit.assignment)

    assert (checked.pages, checked.exchanges) == (one.pages, 3)
    assert joined.crawled_bytes == 2 * one.crawled_bytes


heads = st.sampled_from([b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/2 200\r\nContent-Length: 7\r\n\r\n"])


@given(st.lists(st.tuples(heads, st.binary(max_size=300)), max_size=6))
def test_entries_are_read_as_they_were_written(content: Sequence[tuple[bytes, bytes]]) -> None:
    import io

    from gossamer.archive.record import next_record
    from gossamer.archive.streams import PlainSupply, Stream
    from gossamer.fleet.packages.entries import read_entries

    ids, url = RecordIds(), "http://a.org/"
    entries = []
    for n, (head, body) in enumerate(content):
        answer = Fetched(url, 200, head, body, b"GET / HTTP/1.1\r\n\r\n", "127.0.0.1", "h2", n, 0.5)
        lease = Lease(0, url, bytes(16), "a.org", "127.0.0.1", via=url, depth=n)
        entries.append(PackageEntry(lease, answer, SentBody(payload_digest(body), "whole", body)))
    data = b"".join(entry_bytes(entry, ids) for entry in entries)
    stream = Stream(Path("x"), PlainSupply(io.BytesIO(data), 0))
    records = iter(lambda: next_record(stream, False, 0, 10_000), None)

    assert list(read_entries(records, "x")) == entries
