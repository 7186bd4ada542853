"""Tables of a collection, in files that other programs read."""

import csv
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.base.clock import SystemClock, iso_of
from gossamer.errors import UsageError
from gossamer.graph.arrow import pa, pq
from gossamer.graph.ranks.ranks import compute, ranks
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.state import PresentState
from gossamer.reader.tables import times_as_text
from gossamer.records import Reason
from gossamer.transfer.export_files import harmless
from gossamer.transfer.export_pages import http_moment
from gossamer.transfer.export_schemas import SCHEMAS
from gossamer.transfer.exports import batches, export
from support.a_crawl import crawl, crawl_until
from support.a_site import Pages, Site, answer, page, redirect, reset, robots, site_in_thread
from support.rows import each_row

PAGES: Pages = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\nCrawl-delay: 0.01\n"),
    "/": page(
        "<html lang=en><title>=SUM(1)</title><nav><a href=/b rel=nofollow>@first</a></nav>"
        "<a href=/b>second</a> <a href=/moved>+m</a> <a href=/private/x>x</a>\n"
        "<a href='http://[bad/'>bad</a> <a href=http://other.example/>o</a> <a href=/gone>g</a>"
        "<a href=/picture.png>p</a> <a href=/plain.txt>t</a> <a href=/cut>c</a>",
        headers={"last-modified": "Sat, 31 Jan 2026 12:00:00 GMT"},
    ),
    "/b": page(
        '<title>Comma, "quote"\nand line</title><p>bees</p><a href=/>home</a> <a href=/b>self</a>',
        headers={"last-modified": "once upon a time"},
    ),
    "/moved": redirect("/b"),
    "/gone": page("<p>no such page", "404 Not Found"),
    "/picture.png": answer(b"\x89PNG", headers={"content-type": "image/png"}),
    "/plain.txt": answer(b"plain words", headers={"content-type": "text/plain"}),
    "/cut": reset(),
}
COLUMNS = {
    "pages": "url status outcome reason type bytes title language depth fetched_at modified_at "
    "digest duplicate_of in_links out_links rank h1 description canonical words took_ms "
    "redirect_to importance",
    "links": "source target anchor rel place first_seen last_seen",
    "hosts": "host site known queued fetched failed refused bytes trouble crawl_delay_s",
    "files": "url type bytes taken title words pages linked_from found_at",
    "importance": "url title depth in_links rank out_links forward_rank similarity relevance "
    "location visits importance",
    "refused": "url reason detail depth via first_seen",
    "text": "url title language text",
    "anchors": "target anchor sites hosts pages links",
    "graph": "source target pages links",
    "captures": "url fetched_at status type bytes digest file offset length",
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path]]:
    folder = tmp_path_factory.mktemp("exports") / "collection"
    with site_in_thread(PAGES) as site:
        types = ("html", "text")
        crawl_until(folder, [site.url()], lambda: set(PAGES) <= set(site.asked), fetch__types=types)
        yield site, folder


@pytest.fixture
def site(crawled: tuple[Site, Path]) -> Site:
    return crawled[0]


@pytest.fixture
def reader(crawled: tuple[Site, Path]) -> Iterator[CollectionReader]:
    with CollectionReader.open(crawled[1]) as opened:
        yield opened


def rows_of(reader: CollectionReader, what: str, tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / f"{what}.jsonl"
    export(reader, what, path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_url(reader: CollectionReader, what: str, tmp_path: Path) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in rows_of(reader, what, tmp_path)}


@pytest.mark.parametrize("what", SCHEMAS)
def test_every_format_holds_the_same_rows_under_the_same_names(
    reader: CollectionReader, what: str, tmp_path: Path
) -> None:
    counts = {export(reader, what, tmp_path / f"t{end}") for end in (".jsonl", ".csv", ".parquet")}

    lines = rows_of(reader, what, tmp_path)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file))
    table = pq.read_table(tmp_path / "t.parquet")
    assert counts == {len(lines)}
    assert lines == times_as_text(table).to_pylist()
    assert cells[0] == table.schema.names == list(lines[0]) == COLUMNS[what].split()
    assert len(cells) == len(lines) + 1
    assert list(tmp_path.glob(".*")) == []


def test_every_known_url_is_a_page_with_an_outcome(
    reader: CollectionReader, tmp_path: Path
) -> None:
    rows = rows_of(reader, "pages", tmp_path)

    assert [row["url"] for row in rows] == sorted(row.url for row in reader.url_rows())
    for row in rows:
        has_reason = row["outcome"] in ("failed", "refused")
        assert (row["reason"] is not None) == has_reason
        assert (row["fetched_at"] is not None) == (row["outcome"] == "fetched")


def test_a_fetched_page_has_what_is_known_of_it(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    row = by_url(reader, "pages", tmp_path)[site.url()]

    assert row["status"] == 200
    assert row["type"] == "text/html"
    assert row["title"] == "=SUM(1)"
    assert row["modified_at"] == "2026-01-31T12:00:00Z"
    assert (row["depth"], row["in_links"], row["out_links"]) == (0, 1, 9)
    assert row["digest"].startswith("sha1:")
    assert row["duplicate_of"] is None


def test_ranks_are_those_computed_last(reader: CollectionReader, tmp_path: Path) -> None:
    compute(reader.paths.graph, SystemClock())

    rows = by_url(reader, "pages", tmp_path).values()

    known = {url for batch in ranks(reader.paths.graph) for url in batch["url"].to_pylist()}
    assert {row["url"] for row in rows if row["rank"] is not None} <= known
    assert max(row["rank"] or 0 for row in rows) > 1


def test_links_of_a_page_to_itself_are_no_links_into_it(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    # the home page twice, and the redirect
    assert by_url(reader, "pages", tmp_path)[site.url("/b")]["in_links"] == 2


def test_a_date_that_is_none_is_left_out(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    assert by_url(reader, "pages", tmp_path)[site.url("/b")]["modified_at"] is None


def test_a_refused_page_has_no_status_unless_it_was_asked(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    rows = by_url(reader, "pages", tmp_path)

    assert rows[site.url("/private/x")]["status"] is None
    assert rows[site.url("/private/x")]["reason"] == "robots"
    assert rows[site.url("/picture.png")]["reason"] == "type"
    assert rows[site.url("/picture.png")]["status"] == 200


def test_links_have_words_place_and_times(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    links = [row for row in rows_of(reader, "links", tmp_path) if row["target"] == site.url("/b")]

    told = {(row["source"], row["anchor"], row["rel"], row["place"]) for row in links}
    assert told == {
        (site.url(), "@first", "nofollow", "nav"),
        (site.url(), "second", "", "body"),
        (site.url("/b"), "self", "", "body"),
        (site.url("/moved"), "", "", "head"),
    }
    assert all(row["first_seen"] == row["last_seen"] for row in links)
    assert links[0]["first_seen"].endswith("Z")


def test_hosts_add_up(reader: CollectionReader, tmp_path: Path) -> None:
    rows = {row["host"]: row for row in rows_of(reader, "hosts", tmp_path)}

    assert set(rows) == {"127.0.0.1", "other.example"}
    for row in rows.values():
        parts = row["queued"] + row["fetched"] + row["failed"] + row["refused"]
        assert parts == row["known"]
    assert rows["127.0.0.1"]["crawl_delay_s"] == 0.01
    assert rows["other.example"]["site"] == "other.example"


def test_refused_urls_come_with_rule_and_page_and_malformed_links_with_their_line(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    rows = by_url(reader, "refused", tmp_path)

    assert {row["reason"] for row in rows.values()} == {"robots", "scope", "type", "malformed"}
    assert rows[site.url("/private/x")]["detail"] == "Disallow: /private (line 2)"
    assert rows[site.url("/private/x")]["via"] == site.url()
    bad = rows["http://[bad/"]
    assert bad["reason"] == Reason.MALFORMED
    assert bad["via"] == site.url()
    assert bad["detail"].endswith(", line 2")


def test_texts_are_of_pages_that_have_one(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    rows = by_url(reader, "text", tmp_path)

    assert set(rows) == {site.url(), site.url("/b"), site.url("/plain.txt")}
    assert "bees" in rows[site.url("/b")]["text"]
    assert rows[site.url("/plain.txt")]["text"] == "plain words"


def test_no_cell_of_a_csv_is_run_as_a_formula(reader: CollectionReader, tmp_path: Path) -> None:
    for what in ("pages", "links", "text"):
        export(reader, what, tmp_path / f"{what}.csv")
        with (tmp_path / f"{what}.csv").open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n") and cell]
        if what == "links":
            assert "'@first" in cells
            assert "'+m" in cells


def test_every_cell_of_a_csv_can_be_had_as_it_was_found() -> None:
    """By the rule of docs/formats/exports.md."""
    marks = "'=+-@\t\r\nx＝＋－＠ "
    found = ["".join(four) for size in range(5) for four in itertools.product(marks, repeat=size)]

    cells = harmless(pa.array(found)).to_pylist()

    assert [re.sub(r"^'(?='*[=+\-@\t\r\n＝＋－＠])", "", cell) for cell in cells] == found
    assert not [cell for cell in cells if re.match(r"[=+\-@\t\r\n＝＋－＠]", cell)]


def test_who_asks_for_it_has_exact_cells_in_csv(reader: CollectionReader, tmp_path: Path) -> None:
    export(reader, "links", tmp_path / "t.csv", is_exact=True)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]

    assert "@first" in cells
    assert "+m" in cells


def test_a_csv_keeps_commas_quotes_and_lines_in_their_cell(
    reader: CollectionReader, site: Site, tmp_path: Path
) -> None:
    export(reader, "pages", tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["url"]: row for row in csv.DictReader(file)}

    assert rows[site.url("/b")]["title"] == 'Comma, "quote" and line'


def test_a_dash_writes_lines_of_json_to_standard_output(
    reader: CollectionReader, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    rows = export(reader, "hosts", Path("-"))

    lines = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line)["host"] for line in lines] == ["127.0.0.1", "other.example"]
    assert rows == 2


def test_a_file_that_is_there_is_replaced(reader: CollectionReader, tmp_path: Path) -> None:
    path = tmp_path / "hosts.jsonl"
    path.write_text("old")

    export(reader, "hosts", path)

    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_a_link_to_a_file_stays_a_link(reader: CollectionReader, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real.jsonl")

    export(reader, "hosts", link)

    assert link.is_symlink()
    assert (tmp_path / "real.jsonl").is_file()


def test_a_device_is_written_to_and_not_replaced(reader: CollectionReader, tmp_path: Path) -> None:
    (tmp_path / "null.jsonl").symlink_to(os.devnull)

    export(reader, "hosts", tmp_path / "null.jsonl")

    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("what", "name", "says"),
    [
        ("pages", "pages.xlsx", r"\.jsonl, \.csv or \.parquet"),
        ("pages", "pages", r"\.jsonl, \.csv or \.parquet"),
        ("zim", "all.zim", "use pages, links, anchors, graph, .* captures, warc or wacz"),
        ("page", "pages.csv", "did you mean pages"),
        ("pages", "folder.csv", "is a directory"),
        ("pages", "missing/pages.csv", "cannot write .*No such file"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_sentence(
    reader: CollectionReader, tmp_path: Path, what: str, name: str, says: str
) -> None:
    (tmp_path / "folder.csv").mkdir()

    with pytest.raises(UsageError, match=says):
        export(reader, what, tmp_path / name)

    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_a_failed_export_leaves_the_old_file(reader: CollectionReader, tmp_path: Path) -> None:
    path = tmp_path / "text.jsonl"
    path.write_text("old")

    class Broken(CollectionReader):
        def url_rows(self) -> Iterator[Any]:
            raise RuntimeError("boom")

    broken = Broken(reader.paths, PresentState(reader.paths))
    with pytest.raises(RuntimeError):
        export(broken, "text", path)

    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["text.jsonl"]


def test_what_a_killed_export_has_left_goes_with_the_next(
    reader: CollectionReader, tmp_path: Path
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".hosts[1].csv.{ended.pid}.part"
    at_work = tmp_path / f".hosts[1].csv.{os.getppid()}.part"
    others = tmp_path / f".hosts1.csv.{ended.pid}.part"
    for path in (left, at_work, others):
        path.write_bytes(b"half")

    export(reader, "hosts", tmp_path / "hosts[1].csv")

    assert sorted(tmp_path.iterdir()) == sorted([at_work, others, tmp_path / "hosts[1].csv"])


@pytest.mark.parametrize("what", SCHEMAS)
def test_an_empty_collection_has_tables_with_names_and_no_rows(
    collection: Path, tmp_path: Path, what: str
) -> None:
    with site_in_thread({}) as site:
        crawl(collection, [site.url()], scope__exclude=("*",))
    with CollectionReader.open(collection) as reader:
        table = pa.Table.from_batches(list(batches(reader, what)), SCHEMAS[what])
        rows = export(reader, what, tmp_path / "t.parquet")

    assert table.schema.names == COLUMNS[what].split()
    assert rows == table.num_rows == pq.read_table(tmp_path / "t.parquet").num_rows


@each_row(
    ("header", "iso"),
    [
        ("Sat, 31 Jan 2026 12:00:00 GMT", "2026-01-31T12:00:00Z"),
        ("Sat, 31 Jan 2026 12:00:00 +0200", "2026-01-31T10:00:00Z"),
        ("Sat, 31 Jan 2026 12:00:00 -0000", "2026-01-31T12:00:00Z"),
        ("Saturday, 31-Jan-26 12:00:00 GMT", "2026-01-31T12:00:00Z"),
        ("", None),
        ("yesterday", None),
        ("Sat, 99 Jan 2026 12:00:00 GMT", None),
        ("Sat, 31 Jan 99999999 12:00:00 GMT", None),
    ],
)
def test_dates_of_headers_become_iso(header: str, iso: str | None) -> None:
    moment = http_moment(header)

    assert (None if moment is None else iso_of(moment)) == iso
