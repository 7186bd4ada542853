"""Tables of a report and formats of an export that plug-ins bring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.analyse.report import make_report
from gossamer.analyse.report_page import report_page
from gossamer.errors import PluginError, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_plugin import export_by_plugin, format_named
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.plugins import example_installed, installed, run_gossamer

CHAIN = {
    "/": page("<a href=/1>1</a>"),
    **{f"/{n}": page(f"<a href=/{n + 1}>next</a>") for n in range(1, 6)},
    "/6": page("the end"),
}
ANALYSIS = """
class Analysis:
    heading = "A heading"
    advice = ""
    columns = ("URL", "many")
    sql = {sql!r}
"""
FORMAT = """
class Format:
    def write(self, file, columns, rows):
        for row in rows:
            file.write(repr(row).encode())
            {body}
"""


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    collection = tmp_path_factory.mktemp("chain") / "c"
    with site_in_thread(CHAIN) as site:
        crawl(collection, [site.url()])
        yield collection, site.url().rstrip("/")


def test_a_report_has_the_table_of_the_example(chain: tuple[Path, str], tmp_path: Path) -> None:
    collection, site = chain
    with example_installed(tmp_path), CollectionReader.open(collection) as reader:
        report = make_report(reader, analyses=["deep"])

    finding = report.findings[-1]
    assert finding.question.heading == "Pages far from the start"
    assert finding.rows == ((f"{site}/6", 6), (f"{site}/5", 5), (f"{site}/4", 4))
    assert report.figures["deep"] == 3
    assert "Pages far from the start" in report_page(report)


def test_the_command_shows_the_table_and_counts_it_in_gates(
    chain: tuple[Path, str], tmp_path: Path
) -> None:
    collection, site = chain
    with example_installed(tmp_path):
        ran = run_gossamer(
            tmp_path, "report", "-c", str(collection), "--analysis", "deep", "--json",
            "--fail-on", "deep>2",
        )  # fmt: skip

    assert ran.returncode == 10, ran.stderr
    told = json.loads(ran.stdout)
    assert told["figures"]["deep"] == 3
    assert f"{site}/6" in json.dumps(told["tables"]["deep"])


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("select no_such_column from pages", "failed to ask its query"),
        ("select url from pages", "names 2 columns, and its query has 1"),
    ],
)
def test_a_query_that_cannot_be_used_is_one_sentence_with_its_package(
    chain: tuple[Path, str], tmp_path: Path, sql: str, told: str
) -> None:
    groups = {"gossamer.analysis": {"odd": "a_table_package:Analysis"}}
    with (
        installed(tmp_path, "a-table-package", groups, ANALYSIS.format(sql=sql)),
        CollectionReader.open(chain[0]) as reader,
        pytest.raises(PluginError, match=f"'odd' of a-table-package 1.0 {told}"),
    ):
        make_report(reader, analyses=["odd"])


def test_cells_of_any_type_are_shown(chain: tuple[Path, str], tmp_path: Path) -> None:
    code = ANALYSIS.format(sql="select null, 1.5::decimal(3, 1) from pages limit 1")
    groups = {"gossamer.analysis": {"odd": "a_cell_package:Analysis"}}
    with (
        installed(tmp_path, "a-cell-package", groups, code),
        CollectionReader.open(chain[0]) as reader,
    ):
        assert make_report(reader, analyses=["odd"]).findings[-1].rows == (("", "1.5"),)


def test_a_plug_in_may_not_take_the_name_of_a_table_of_ours(
    chain: tuple[Path, str], tmp_path: Path
) -> None:
    groups = {"gossamer.analysis": {"dead": "a_dead_package:Analysis"}}
    with (
        installed(tmp_path, "a-dead-package", groups, ANALYSIS.format(sql="select 1, 2")),
        CollectionReader.open(chain[0]) as reader,
        pytest.raises(PluginError, match=r"'dead' of a-dead-package 1\.0 has the name of a table"),
    ):
        make_report(reader, analyses=["dead"])


def test_a_table_is_written_in_the_format_of_the_example(
    chain: tuple[Path, str], tmp_path: Path
) -> None:
    collection, site = chain
    with example_installed(tmp_path / "packages"):
        ran = run_gossamer(
            tmp_path / "packages", "export", "pages", "-c", str(collection), "--format", "urls",
            "-o", str(tmp_path / "urls.txt"),
        )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    urls = (tmp_path / "urls.txt").read_text().split()
    assert sorted(urls) == sorted([f"{site}/", *(f"{site}/{n}" for n in range(1, 7))])
    assert ran.stderr.startswith("7 rows of pages in ")


def test_a_format_that_fails_leaves_no_file(chain: tuple[Path, str], tmp_path: Path) -> None:
    groups = {"gossamer.export": {"odd": "a_format_package:Format"}}
    code = FORMAT.format(body="raise KeyError('gone')")
    target = tmp_path / "out" / "pages.odd"
    target.parent.mkdir()
    with (
        installed(tmp_path / "packages", "a-format-package", groups, code),
        CollectionReader.open(chain[0]) as reader,
    ):
        plugin = format_named("odd", "pages")
        with pytest.raises(
            PluginError, match=r"'odd' of a-format-package 1\.0 failed to write .*gone"
        ):
            export_by_plugin(reader, plugin, "pages", target)

    assert list(target.parent.iterdir()) == []


def test_a_format_is_for_tables_alone(tmp_path: Path) -> None:
    with example_installed(tmp_path):
        with pytest.raises(UsageError, match="--format is for tables, not for warc"):
            format_named("urls", "warc")
        with pytest.raises(UsageError, match="'pagse' cannot be exported; did you mean pages"):
            format_named("urls", "pagse")
