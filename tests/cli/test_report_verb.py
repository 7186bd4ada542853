"""`gossamer report` as people and their builds use it."""

import json
from pathlib import Path

import pytest

from support.a_site import Pages, page, site_in_thread
from support.killing import typed

PAGES: Pages = {
    "/": page("<title>Home</title><a href=/gone>history</a><a href=/a>a</a>"),
    "/a": page("<title>A</title>"),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    collection = tmp_path_factory.mktemp("report") / "collection"
    with site_in_thread(PAGES) as site:
        typed("crawl", "-c", collection, "--delay", "0", "--workers", "0", site.url())
    return collection


def test_figures_go_to_stdout(stored: Path) -> None:
    ended = typed("report", "-c", stored)

    assert ended.code == 0
    assert "2 pages, 3 URLs known." in ended.out
    assert any(line.split()[:2] == ["1", "dead"] for line in ended.out.splitlines())


def test_a_gate_ends_with_ten_and_a_sentence(stored: Path) -> None:
    assert typed("report", "-c", stored, "--fail-on", "dead>1").code == 0

    ended = typed("report", "-c", stored, "--fail-on", "pages<1", "--fail-on", "dead>0")

    assert ended.code == 10
    assert "--fail-on dead>0: dead is 1" in ended.err
    assert "pages<1" not in ended.err


def test_programs_get_one_object(stored: Path) -> None:
    found = json.loads(typed("report", "-c", stored, "--json").out)

    assert found["schema"] == 1
    assert found["figures"]["dead"] == 1
    (row,) = found["tables"]["dead"]["rows"]
    assert row["answer"] == "404"
    assert row["linked_from"][0]["words"] == "history"


def test_a_page_is_written_whole(stored: Path, tmp_path: Path) -> None:
    ended = typed("report", "-c", stored, "-o", tmp_path / "report.html")

    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ended.code == 0
    assert html.startswith("<!doctype html>")
    assert html.rstrip().endswith("</html>")
    assert ended.out == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fail-on", "ded>0"), "did you mean dead?"),
        (("--fail-on", "dead"), "is not a condition"),
        (("--quick", "--fail-on", "mixed>0"), "remove --quick"),
        (("-o", "report.pdf"), "must end in .html"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    ended = typed("report", "-c", tmp_path / "none", *arguments)

    assert ended.code == 2
    assert said in ended.err
