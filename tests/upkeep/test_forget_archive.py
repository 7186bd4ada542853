"""What hangs on a body that is forgotten: revisits, imported ones, and lists of URLs."""

from __future__ import annotations

import gzip
import uuid
from pathlib import Path

import pytest

from gossamer.archive.reader import iter_exchanges
from gossamer.archive.rewrite import Moved, Replacement, rebuilt, rewrite
from gossamer.archive.warc import RevisitOf, payload_digest
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import ManualClock, SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Fetched, Lease
from gossamer.settings import Archive
from gossamer.upkeep.forget import forget
from gossamer.upkeep.rebuild import rebuild
from gossamer.upkeep.verify import verify
from support.killing import typed
from support.traces import traces_of

BODY = b"<title>quartz</title> words that two pages share"
GONE, STAYS = "http://zyxquince.example/a", "http://stays.example/b"


def fetched(url: str, body: bytes, at_us: int) -> tuple[Lease, Fetched]:
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    host = url.split("/")[2]
    answer = Fetched(url, 200, head, body, b"", "127.0.0.1", "http/1.1", at_us, 0.1)
    return Lease(1, url, bytes(16), host, "127.0.0.1", via=GONE), answer


def test_a_rewritten_file_says_where_its_exchanges_lie(tmp_path: Path) -> None:
    writer = WarcWriter.open(tmp_path, "old", Archive(), {}, ManualClock())
    for number in range(6):
        writer.append(*fetched(f"http://a.example/{number}", b"x" * number, number * 1_000_000))
    old = writer.path
    writer.close()
    (tmp_path / "new").mkdir()
    new, moved = tmp_path / "new" / old.name, Moved()

    def judge(exchange: object) -> object:
        number = int(exchange.answer.url[-1])  # type: ignore[attr-defined]
        if number in (1, 4):
            return None
        return rebuilt(exchange, 1) if number == 2 else exchange  # type: ignore[arg-type]

    done = rewrite(old, new, judge, lambda fields: {**fields, "x": "y"}, 1, moved)  # type: ignore[arg-type]

    assert (done.kept, done.changed, done.dropped) == (3, 1, 2)
    before = {one.answer.url: one.stored for one in iter_exchanges(old)}
    after = {one.answer.url: one.stored for one in iter_exchanges(new)}
    assert [url[-1] for url in after] == ["0", "2", "3", "5"]
    for url, stored in after.items():
        was = before[url]
        place = moved.place(was.response, was.end - was.response)
        assert place == (stored.response, stored.end - stored.response)


def test_a_revisit_can_be_written_anew_as_a_whole_answer(tmp_path: Path) -> None:
    writer = WarcWriter.open(tmp_path, "old", Archive(), {}, ManualClock())
    lease, answer = fetched(STAYS, BODY, 5_000_000)
    writer.append(lease, answer, RevisitOf(GONE, 1_000_000, "sha1:X"))
    writer.close()
    (exchange,) = iter_exchanges(writer.path)
    assert exchange.answer.body == b""  # type: ignore[union-attr]

    whole = rebuilt(type(exchange)(lease, answer, exchange.stored), 1)

    assert isinstance(whole, Replacement)
    (tmp_path / "one.warc.gz").write_bytes(whole.data)
    (again,) = iter_exchanges(tmp_path / "one.warc.gz")
    assert (again.answer.body, again.revisit_of) == (BODY, None)  # type: ignore[union-attr]


def record(kind: str, url: str, block: bytes, *headers: str) -> bytes:
    """A record as another crawler writes it, a gzip member of its own."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, kind + url)}>",
        "WARC-Date: 2026-01-31T12:00:00Z",
        f"WARC-Target-URI: {url}",
        f"WARC-Payload-Digest: {payload_digest(BODY)}",
        "Content-Type: application/http; msgtype=response",
        *headers,
        f"Content-Length: {len(block)}",
    ]
    return gzip.compress("\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n")


def foreign_file(path: Path) -> Path:
    """One body at two URLs, and a revisit of each."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"
    profile = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    alone = "http://alone.example/"
    records = [record("response", url, head + BODY) for url in (GONE, alone)]
    for url, origin in ((STAYS, GONE), ("http://stays.example/c", alone)):
        told = f"WARC-Refers-To-Target-URI: {origin}"
        when = "WARC-Refers-To-Date: 2026-01-31T12:00:00Z"
        records.append(record("revisit", url, head, profile, told, when))
    path.write_bytes(b"".join(records))
    return path


@pytest.fixture
def brought(tmp_path: Path) -> Path:
    listed = tmp_path / "urls.txt"
    listed.write_text(f"{GONE}/listed\n{STAYS}/listed\n", encoding="utf-8")
    collection = tmp_path / "study"
    file = foreign_file(tmp_path / "foreign.warc.gz")
    assert typed("import", file, listed, "-c", collection).code == 0
    assert list(verify(CollectionPaths(collection))) == []
    return collection


def html_of(collection: Path, url: str) -> bytes:
    with CollectionReader.open(collection) as reader:
        return reader.page(url).raw_body


def test_imported_revisits_keep_the_body_that_others_lose(brought: Path) -> None:
    others = {STAYS: BODY, "http://stays.example/c": BODY, "http://alone.example/": BODY}
    assert {url: html_of(brought, url) for url in others} == others

    forget(CollectionPaths(brought), ["zyxquince.example"], SystemClock(), lambda _: None)

    assert {url: html_of(brought, url) for url in others} == others
    assert list(verify(CollectionPaths(brought))) == []


def test_lists_that_were_imported_lose_what_is_forgotten(brought: Path) -> None:
    forget(CollectionPaths(brought), ["zyxquince.example"], SystemClock(), lambda _: None)

    assert [t for t in traces_of(brought, "zyxquince") if not t.startswith("archive/")] == []
    with CollectionReader.open(brought) as reader:
        assert reader.find(f"{STAYS}/listed") is not None
        assert reader.find(f"{GONE}/listed") is None


def test_what_was_imported_and_forgotten_stays_so(brought: Path, tmp_path: Path) -> None:
    forget(CollectionPaths(brought), ["zyxquince.example"], SystemClock(), lambda _: None)

    rebuild(CollectionPaths(brought), "all", SystemClock(), lambda _: None)
    typed("import", foreign_file(tmp_path / "again.warc.gz"), "-c", brought)

    with CollectionReader.open(brought) as reader:
        assert reader.find(GONE) is None
    assert html_of(brought, STAYS) == BODY
    assert list(verify(CollectionPaths(brought))) == []
