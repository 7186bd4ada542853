"""The archive of a collection as one file, whole or in part."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from gossamer.archive.padding import first_without_salt
from gossamer.archive.reader import iter_exchanges, read_answer_at, read_info, read_records
from gossamer.archive.verify import check_file
from gossamer.errors import CorruptFile, NotKnown, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.exports import export
from support.a_crawl import crawl
from support.a_site import Site, page, site_in_thread

PAGES = {
    "/": page("<title>Top</title><a href=/docs/a>a</a><a href=/other>o</a>"),
    "/docs/a": page("<title>A</title>"),
    "/other": page("<title>Other</title>"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Site]:
    folder = tmp_path_factory.mktemp("crawled") / "collection"
    with site_in_thread(PAGES) as site:
        crawl(folder, [site.url()], archive__roll_bytes=10_000)
    return folder, site


def urls_in(path: Path) -> set[str]:
    return {exchange.lease.url for exchange in iter_exchanges(path)}


def test_a_warc_is_all_files_joined(crawled: tuple[Path, Site], tmp_path: Path) -> None:
    folder, _ = crawled
    with CollectionReader.open(folder) as reader:
        written = export(reader, "warc", tmp_path / "all.warc.gz")
    files = sorted((folder / "archive").glob("*.warc.gz"))
    joined = b"".join(map(without_salt, files))
    assert (tmp_path / "all.warc.gz").read_bytes() == joined
    assert written == len(joined) == sum(file.stat().st_size for file in files)


def without_salt(file: Path) -> bytes:
    """A file as it may leave the collection: only its first record is another, of its length."""
    first = first_without_salt(file)
    return first + file.read_bytes()[len(first) :]


def test_the_salt_of_the_collection_does_not_leave_it(
    crawled: tuple[Path, Site], tmp_path: Path
) -> None:
    folder, site = crawled
    with CollectionReader.open(folder) as reader:
        salt = reader.keys.salt.hex()
        export(reader, "warc", tmp_path / "all.warc.gz")
        export(reader, "warc", tmp_path / "part.warc.gz", prefix=site.url("/docs/"))
        export(reader, "wacz", tmp_path / "all.wacz")
    with zipfile.ZipFile(tmp_path / "all.wacz") as wacz:
        inside = [name for name in wacz.namelist() if name.endswith(".warc.gz")]
        for name in inside:
            (tmp_path / "inside.warc.gz").write_bytes(wacz.read(name))
            assert "salt" not in read_info(tmp_path / "inside.warc.gz")

    assert all(read_info(file)["salt"] == salt for file in (folder / "archive").glob("*.warc.gz"))
    for name in ("all.warc.gz", "part.warc.gz"):
        assert "salt" not in read_info(tmp_path / name)
        assert list(check_file(tmp_path / name)) == []
        assert salt not in str(list(read_records(tmp_path / name)))
    assert inside


def test_a_part_holds_the_urls_wanted_and_no_other(
    crawled: tuple[Path, Site], tmp_path: Path
) -> None:
    folder, site = crawled
    path = tmp_path / "part.warc.gz"
    with CollectionReader.open(folder) as reader:
        export(reader, "warc", path, prefix=site.url("/docs/"))
    assert urls_in(path) == {site.url("/docs/a")}


def test_the_index_of_a_part_tells_where_its_records_lie_now(
    crawled: tuple[Path, Site], tmp_path: Path
) -> None:
    folder, site = crawled
    path = tmp_path / "part.wacz"
    with CollectionReader.open(folder) as reader:
        export(reader, "wacz", path, prefix=site.url("/other"))
    with zipfile.ZipFile(path) as wacz:
        wacz.extractall(tmp_path / "out")
    packed = (tmp_path / "out/indexes/index.cdx.gz").read_bytes()
    (line,) = gzip.decompress(packed).decode().splitlines()
    entry = json.loads(line.split(" ", 2)[2])
    archive = tmp_path / "out" / "archive" / entry["filename"]
    assert read_answer_at(archive, int(entry["offset"])).uri == site.url("/other")


def test_the_page_to_open_first_is_the_seed(crawled: tuple[Path, Site], tmp_path: Path) -> None:
    folder, site = crawled
    path = tmp_path / "all.wacz"
    with CollectionReader.open(folder) as reader:
        export(reader, "wacz", path)
    with zipfile.ZipFile(path) as wacz:
        assert json.loads(wacz.read("datapackage.json"))["mainPageUrl"] == site.url("/")


@pytest.mark.parametrize(
    ("what", "name", "prefix", "says"),
    [
        ("wacz", "all.zip", "", r"ends in \.wacz"),
        ("wacz", "-", "", r"ends in \.wacz"),
        ("warc", "all.warc", "", r"ends in \.warc\.gz"),
        ("warc", "all.warc.gz", "example.org", "is not a URL prefix"),
        ("pages", "pages.csv", "https://example.org/", "--prefix works only with warc and wacz"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_read(
    crawled: tuple[Path, Site], tmp_path: Path, what: str, name: str, prefix: str, says: str
) -> None:
    path = Path(name) if name == "-" else tmp_path / name
    with CollectionReader.open(crawled[0]) as reader, pytest.raises(UsageError, match=says):
        export(reader, what, path, prefix=prefix)


def test_a_part_without_anything_in_it_is_no_file(
    crawled: tuple[Path, Site], tmp_path: Path
) -> None:
    with (
        CollectionReader.open(crawled[0]) as reader,
        pytest.raises(NotKnown, match="contains nothing"),
    ):
        export(reader, "wacz", tmp_path / "x.wacz", prefix="https://nowhere.example/")
    assert list(tmp_path.iterdir()) == []


def test_a_lost_file_of_the_archive_is_named(crawled: tuple[Path, Site], tmp_path: Path) -> None:
    copied = tmp_path / "copy"
    shutil.copytree(crawled[0], copied, ignore=shutil.ignore_patterns("*.warc.gz"))

    for what in ("warc.gz", "wacz"):
        with (
            CollectionReader.open(copied) as reader,
            pytest.raises(CorruptFile, match=r"warc\.gz.*the file is missing; restore it"),
        ):
            export(reader, what.removesuffix(".gz"), tmp_path / f"x.{what}")
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]
