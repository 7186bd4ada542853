"""Pages to take away: chosen by outcome and status, with what the pages themselves say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import pytest

import gossamer
from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.graph.arrow import pa, pq
from gossamer.graph.tables import quoted
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_choice import Choice
from gossamer.transfer.export_folder import export_folder
from gossamer.transfer.export_schemas import MOMENT, READ_AGAIN, SCHEMAS
from gossamer.transfer.exports import batches, export
from gossamer.upkeep.rebuild import rebuild
from support.a_crawl import crawl
from support.a_site import Pages, answer, page, redirect, robots, site_in_thread
from support.killing import typed

PAGES: Pages = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
    "/": page(
        "<title>Home</title><meta name=description content='All about &lt;bees&gt;'>"
        "<link rel=canonical href='../a'><h1>Bees\n <i>and</i> &amp; roses</h1><h1>no</h1>"
        "<p>one two three <a href=/a>to a</a> <a href=/moved>m</a> <a href=/gone>g</a>"
        "<a href=/private>p</a> <a href=/plain>t</a> <a href=/broken>b</a>",
        headers={"last-modified": "Sat, 31 Jan 2026 12:00:00 GMT"},
    ),
    "/a": page('<title>A "q" <b>&</title>蜂 bees <a href=/>home</a>'),
    "/moved": redirect("/a"),
    "/gone": page("<h1>Gone</h1>", "404 Not Found"),
    "/broken": page("<h1>Broken</h1>", "500 Internal Server Error"),
    "/plain": answer(b"plain words here", headers={"content-type": "text/plain"}),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("pages") / "collection"
    with site_in_thread(PAGES) as site:
        crawl(folder, [site.url()], fetch__types=("html", "text"))
        yield site.url().rstrip("/"), folder


@pytest.fixture
def reader(crawled: tuple[str, Path]) -> Iterator[CollectionReader]:
    with CollectionReader.open(crawled[1]) as opened:
        yield opened


def rows_of(reader: CollectionReader, choice: Choice | None = None) -> dict[str, dict[str, Any]]:
    """By path."""
    found = pa.Table.from_batches(list(batches(reader, "pages", "page", choice or Choice())))
    return {f"/{row['url'].split('/', 3)[3]}": row for row in found.to_pylist()}


def asked(sql: str) -> list[Any]:
    """What DuckDB answers."""
    with duckdb.connect() as connection:
        return connection.execute(sql).fetchall()


def columns_of(glob: Path) -> list[str]:
    return [row[0] for row in asked(f"describe from {quoted(glob)}")]


def test_pages_have_what_they_say_of_themselves(
    reader: CollectionReader, crawled: tuple[str, Path]
) -> None:
    root, rows = crawled[0], rows_of(reader)

    home = rows["/"]
    assert home["h1"] == "Bees and & roses"
    assert home["description"] == "All about <bees>"
    assert home["canonical"] == f"{root}/a"
    assert home["words"] == 13  # Bees and roses no one two three to a m gp t b
    assert home["took_ms"] > 0
    assert home["redirect_to"] is None
    assert rows["/moved"]["redirect_to"] == f"{root}/a"
    assert rows["/a"]["words"] == 3
    assert rows["/plain"]["words"] == 3
    assert rows["/gone"]["h1"] == "Gone"
    for path in ("/private", "/moved"):
        assert [rows[path][name] for name in READ_AGAIN] == [None] * 4


def test_a_rebuilt_collection_gives_the_same_pages(
    reader: CollectionReader, crawled: tuple[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(crawled[1], tmp_path / "copy")
    rebuild(CollectionPaths(tmp_path / "copy"), "all", SystemClock(), lambda _text: None)

    with CollectionReader.open(tmp_path / "copy") as again:
        assert rows_of(again) == rows_of(reader)


@pytest.mark.parametrize(
    ("outcomes", "statuses", "paths"),
    [
        (["fetched"], ["404"], {"/gone"}),
        ([], ["4xx", "500-599"], {"/gone", "/broken"}),
        ([], ["200-299, 3XX"], {"/", "/a", "/plain", "/moved"}),
        (["refused"], [], {"/private"}),
        (["refused,failed"], [], {"/private"}),
        (["queued"], [], set()),
        (["refused"], ["200"], set()),
    ],
)
def test_pages_are_chosen_by_outcome_and_status(
    reader: CollectionReader, outcomes: list[str], statuses: list[str], paths: set[str]
) -> None:
    every, chosen = rows_of(reader), rows_of(reader, Choice.of(outcomes, statuses))

    assert set(chosen) == paths
    assert chosen == {path: every[path] for path in paths}


def test_copies_are_found_among_all_pages_whatever_is_chosen(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<a href=/b>b</a>"), "/b": page("<a href=/b>b</a>")}) as site:
        crawl(tmp_path / "c", [site.url()])
    with CollectionReader.open(tmp_path / "c") as reader:
        every = rows_of(reader)
        quick = rows_of(reader, Choice.of(["fetched"], columns=["url", "duplicate_of"]))

    assert every["/b"]["duplicate_of"] == quick["/b"]["duplicate_of"] == site.url()


@pytest.mark.parametrize(
    ("outcomes", "statuses", "columns", "says"),
    [
        (["lost"], [], [], "queued, fetched, failed, refused"),
        ([], ["4x"], [], "404, a class such as 4xx or a range such as 200-299"),
        ([], ["299-200"], [], "smaller number"),
        ([], [], ["titel"], "did you mean title"),
    ],
)
def test_a_choice_that_cannot_be_is_told_with_what_can(
    reader: CollectionReader,
    outcomes: list[str],
    statuses: list[str],
    columns: list[str],
    says: str,
) -> None:
    with pytest.raises(UsageError, match=says):
        rows_of(reader, Choice.of(outcomes, statuses, columns))


def test_only_pages_are_chosen_by_status(reader: CollectionReader, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="only with pages"):
        export(reader, "hosts", tmp_path / "h.csv", choice=Choice.of([], ["404"]))
    with pytest.raises(UsageError, match="only with tables"):
        export(reader, "warc", tmp_path / "a.warc.gz", choice=Choice.of([], ["404"]))


def test_in_parquet_times_are_timestamps_and_counts_whole_numbers(
    reader: CollectionReader, tmp_path: Path
) -> None:
    for what, schema in SCHEMAS.items():
        export(reader, what, tmp_path / f"{what}.parquet")
        assert pq.read_schema(tmp_path / f"{what}.parquet").types == schema.types, what
    pages = pq.read_table(tmp_path / "pages.parquet")
    assert pages.schema.field("fetched_at").type == MOMENT == pa.timestamp("us", "UTC")
    assert pages.schema.field("words").type == pages.schema.field("status").type == pa.int64()
    modified = {row["url"]: row["modified_at"] for row in pages.to_pylist()}
    assert datetime(2026, 1, 31, 12, tzinfo=UTC) in modified.values()


def test_in_text_times_stay_as_they_were(reader: CollectionReader, tmp_path: Path) -> None:
    export(reader, "pages", tmp_path / "p.jsonl")
    export(reader, "pages", tmp_path / "p.csv")

    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert "2026-01-31T12:00:00Z" in {row["modified_at"] for row in rows}
    assert '"2026-01-31T12:00:00Z"' in (tmp_path / "p.csv").read_text()


def test_chosen_columns_come_in_their_order(reader: CollectionReader, tmp_path: Path) -> None:
    export(reader, "pages", tmp_path / "p.csv", choice=Choice.of(columns=["title,url", "words"]))
    export(reader, "hosts", tmp_path / "h.csv", choice=Choice.of(columns=["fetched", "host"]))

    assert (tmp_path / "p.csv").read_text().splitlines()[0] == '"title","url","words"'
    assert (tmp_path / "h.csv").read_text().splitlines()[0] == '"fetched","host"'


def test_pages_are_exported_though_the_archive_is_damaged(
    reader: CollectionReader, crawled: tuple[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(crawled[1], tmp_path / "copy")
    for file in (tmp_path / "copy" / "archive").glob("*.warc.gz"):
        file.write_bytes(b"\0" * file.stat().st_size)

    with CollectionReader.open(tmp_path / "copy") as damaged:
        rows = rows_of(damaged)

    known = [name for name in SCHEMAS["pages"].names if name not in READ_AGAIN]
    for path, row in rows_of(reader).items():
        assert {name: rows[path][name] for name in known} == {name: row[name] for name in known}
        assert {rows[path][name] for name in READ_AGAIN} == {None}


def test_a_look_at_a_table_reads_no_page(crawled: tuple[str, Path], tmp_path: Path) -> None:
    shutil.copytree(crawled[1], tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "archive")

    with gossamer.open(tmp_path / "copy") as reader:
        assert len(reader.pages) == 7
        assert "7 rows" in repr(reader.pages)
        (row,) = reader.sql("select count(*) as n, max(fetched_at) as at from pages")

    assert row["n"] == 7
    assert row["at"].tzinfo is not None


def test_sql_asks_for_days_and_for_what_pages_say(crawled: tuple[str, Path]) -> None:
    with gossamer.open(crawled[1]) as reader:
        rows = list(
            reader.sql(
                "select date_trunc('day', modified_at) as day, h1 from pages "
                "where modified_at < timestamptz '2026-02-01 00:00:00Z'"
            )
        )
        whole = list(reader.sql("from pages where h1 = 'Gone'"))
        at = whole[0]["fetched_at"]
        stored = reader.page(whole[0]["url"], at=at)

    assert [(row["day"].isoformat()[:10], row["h1"]) for row in rows] == [
        ("2026-01-31", "Bees and & roses")
    ]
    assert stored.at_us == round(at.timestamp() * 1_000_000)


def test_a_folder_is_read_by_duckdb_with_one_glob(reader: CollectionReader, tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "pages-00009.parquet").write_text("of an earlier export")
    (folder / ".pages-00000.parquet.999999999.part").write_text("of a killed one")

    (written,) = export_folder(reader, "pages", folder, part_rows=2)

    glob = quoted(folder / "pages-*.parquet")
    found = asked(f"select url, typeof(fetched_at) from {glob} order by url")
    assert [row[0] for row in found] == sorted(row.url for row in reader.url_rows())
    assert {row[1] for row in found} == {"TIMESTAMP WITH TIME ZONE"}
    assert written.rows == len(found) == 7
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["mine.txt", *(f"pages-{n:05d}.parquet" for n in range(written.parts))]


def test_every_table_is_in_the_folder_of_all(crawled: tuple[str, Path], tmp_path: Path) -> None:
    ended = typed("export", "all", "-c", crawled[1], "-o", f"{tmp_path}/out/")

    assert ended.code == 0
    assert "rows of pages to 1 file" in ended.err
    for what, schema in SCHEMAS.items():
        assert columns_of(tmp_path / "out" / f"{what}-*.parquet") == schema.names, what


def test_a_table_without_rows_is_a_file_too(reader: CollectionReader, tmp_path: Path) -> None:
    (written,) = export_folder(reader, "pages", tmp_path, choice=Choice.of(["queued"]))

    assert (written.rows, written.parts) == (0, 1)
    assert columns_of(tmp_path / "pages-*.parquet") == SCHEMAS["pages"].names


def test_a_folder_that_cannot_be_is_told(crawled: tuple[str, Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    for words, says in (
        (["all", "-o", str(tmp_path / "file")], "is a file"),
        (["all", "-o", f"{tmp_path}/x/", "--level", "host"], "one table"),
        (["nothing", "-o", f"{tmp_path}/x/"], "cannot be exported"),
        (["pages", "-o", str(tmp_path / "noending")], "unknown file format"),
    ):
        ended = typed("export", "-c", crawled[1], *words)
        assert (ended.code, says in ended.err) == (2, True), ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_flags_choose_pages_on_the_command_line(crawled: tuple[str, Path], tmp_path: Path) -> None:
    ended = typed(
        "export", "pages", "-c", crawled[1], "-o", tmp_path / "p.jsonl",
        "--status", "4xx", "--status", "500", "--outcome", "fetched", "--columns", "status,h1",
    )  # fmt: skip

    assert ended.code == 0
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert rows == [{"status": 500, "h1": "Broken"}, {"status": 404, "h1": "Gone"}]


@pytest.mark.parametrize(
    ("ending", "read"), [(".gexf", nx.read_gexf), (".graphml", nx.read_graphml)]
)
def test_nodes_of_networks_say_what_they_are(
    reader: CollectionReader, crawled: tuple[str, Path], tmp_path: Path, ending: str, read: Any
) -> None:
    export(reader, "graph", tmp_path / f"g{ending}")
    export(reader, "graph", tmp_path / f"s{ending}", "site")

    nodes = dict(read(tmp_path / f"g{ending}").nodes(data=True))
    rows = rows_of(reader)
    told = nodes[f"{crawled[0]}/a"]
    assert told["title"] == 'A "q" <b>&'
    assert (told["status"], told["depth"]) == (200, 1)
    assert (told["in_degree"], told["out_degree"]) == (2, 1)
    assert told["rank"] == pytest.approx(rows["/a"]["rank"])
    assert "title" not in nodes[f"{crawled[0]}/private"]
    assert nodes[f"{crawled[0]}/gone"]["status"] == 404
    sites = dict(read(tmp_path / f"s{ending}").nodes(data=True))
    assert sites["127.0.0.1"]["in_degree"] == 0


def test_nodes_in_python_are_the_same(crawled: tuple[str, Path]) -> None:
    with gossamer.open(crawled[1]) as reader:
        nodes = {row["name"]: row for row in reader.graph().nodes}
        hosts = list(reader.graph("host").nodes)

    assert nodes[f"{crawled[0]}/gone"]["status"] == 404
    assert nodes[f"{crawled[0]}/a"]["in_degree"] == 2
    assert [(row["number"], row["name"], row["title"]) for row in hosts] == [(1, "127.0.0.1", None)]
