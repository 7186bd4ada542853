"""`gossamer lab focus`: focused crawls on stored pages, beside breadth first and an oracle."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.lab.focus.compare import BREADTH, FOCUS, ORACLE, FocusLab, TopicRow, compare
from gossamer.lab.focus.replay import breadth_first, known_first
from gossamer.lab.focus.stored_pages import StoredPages, read_pages
from gossamer.lab.focus.topics import read_topics
from support.killing import typed
from support.topical_webs import TOPICS, topical_web

LAB = FocusLab(examples=5, seed_sets=2, start_pages=3, fraction=0.2)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pages that tests only read."""
    folder = tmp_path_factory.mktemp("focus") / "site"
    topical_web().write(folder)
    return folder


@pytest.fixture(scope="module")
def rows(site: Path) -> list[TopicRow]:
    """What the lab says of all topics, and of one that has nine pages."""
    pages = read_pages(site)
    topics = read_topics(site.parent / "topics.tsv", pages)
    return compare(pages, {**topics, "tiny": frozenset(range(9))}, LAB)


def pages_in(folder: Path, **texts: str) -> StoredPages:
    folder.mkdir(exist_ok=True)
    for name, html in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".html").write_text(html, encoding="utf-8")
    return read_pages(folder)


def test_links_of_a_folder_are_resolved_as_on_a_server(tmp_path: Path) -> None:
    links = '<a href="b.html#x">b</a><a href="/sub/">index</a><a href="http://x.example/">out</a>'
    pages = pages_in(
        tmp_path / "s",
        a=links + '<a href="a.html">self</a><a href="b.html">again</a><a href="no.html">gone</a>',
        b="b",
        sub__index='<a href="../b.html">up</a>',
    )

    named = {
        name: [pages.names[to] for to in targets.tolist()]
        for name, targets in zip(pages.names, pages.targets, strict=True)
    }
    assert named == {
        "a.html": ["b.html", "sub/index.html"],
        "b.html": [],
        "sub/index.html": ["b.html"],
    }


def test_topics_are_found_by_path_with_or_without_ending(tmp_path: Path) -> None:
    pages = pages_in(tmp_path / "s", **{"a": "a", "b": "b", "caf%C3%A9": "c"})
    file = tmp_path / "t.tsv.gz"
    lines = "# comment\na\tx.y.z\nb.html\tx.y\n/b\tx.q\ncaf%C3%A9\tx.y\nnone\tx.y\n\nbad line\n"
    file.write_bytes(gzip.compress(lines.encode()))

    assert read_topics(file, pages) == {"x.q": {1}, "x.y": {0, 1, 2}}
    assert read_topics(file, pages, levels=1) == {"x": {0, 1, 2}}


def test_topics_of_other_pages_are_an_error(tmp_path: Path) -> None:
    pages = pages_in(tmp_path / "s", a="a")
    (tmp_path / "t.tsv").write_text("nobody\tx\n")

    with pytest.raises(UsageError, match="names no stored page"):
        read_topics(tmp_path / "t.tsv", pages)


def test_breadth_first_goes_level_by_level(tmp_path: Path) -> None:
    pages = pages_in(
        tmp_path / "s",
        a='<a href="b.html"></a><a href="c.html"></a>',
        b='<a href="d.html"></a>',
        c="c",
        d="d",
    )

    assert breadth_first(pages, [0], 10) == [0, 1, 2, 3]
    assert breadth_first(pages, [0], 3) == [0, 1, 2]
    assert known_first(pages, [0], 4, frozenset({2, 3})) == [0, 2, 1, 3]


def test_a_focused_crawl_is_between_breadth_first_and_the_oracle(rows: list[TopicRow]) -> None:
    assert [row.topic for row in rows] == sorted(f"kind.{topic}" for topic in TOPICS)
    for row in rows:
        assert row.pages == 55  # examples do not count
        assert row.mean(BREADTH) < row.mean(FOCUS) <= row.mean(ORACLE) + 1
        assert (row.multiple(FOCUS) or 0.0) > 1.5


def test_examples_are_not_counted_and_truth_is_not_fed_back(
    site: Path, rows: list[TopicRow]
) -> None:
    """A second topic with the same pages, under another name, changes nothing for the first."""
    pages = read_pages(site)
    topics = read_topics(site.parent / "topics.tsv", pages)
    alone = compare(pages, {"kind.music": topics["kind.music"]}, LAB)[0]
    beside = rows[2]

    assert beside.topic == "kind.music"
    assert beside.found == alone.found


def test_topics_with_too_few_pages_are_left_out(site: Path, rows: list[TopicRow]) -> None:
    pages = read_pages(site)

    assert "tiny" not in [row.topic for row in rows]
    with pytest.raises(UsageError, match="No topic has 10 pages"):
        compare(pages, {"tiny": frozenset(range(9))}, LAB)


def test_the_command_prints_one_object_that_repeats(site: Path) -> None:
    words: list[str | Path] = [
        "focus",
        site,
        "--topics",
        site.parent / "topics.tsv",
        "--examples",
        "5",
    ]
    words += ["--seeds", "2", "--crawls", "focus,without both", "--json"]
    ended = [typed("lab", *words) for _ in range(2)]

    assert [one.code for one in ended] == [0, 0]
    assert ended[0].out == ended[1].out
    told = json.loads(ended[0].out)
    results = told["results"]
    assert told["schema"] == 1
    assert results["geometric_mean"] > 1.2
    assert set(results["topics"]) == {f"kind.{topic}" for topic in TOPICS}
    assert results["topics"]["kind.music"]["multiple"] > 1.0
    assert 0.0 < results["common"] <= 1.0
    assert set(results["crawls"]) == {"focus", "without both", "oracle"}


def test_the_command_prints_tables_and_names_an_unknown_crawl(site: Path) -> None:
    words: list[str | Path] = [
        "focus",
        site,
        "--topics",
        site.parent / "topics.tsv",
        "--examples",
        "5",
    ]

    ended = typed("lab", *words, "--seeds", "1", "--crawls", "focus")
    refused = typed("lab", *words, "--crawls", "magic")

    assert "Wanted pages as a multiple of breadth first" in ended.out
    assert "kind.cheese" in ended.out
    assert refused.code == 2
    assert "'magic' is none of focus" in refused.err


def test_a_missing_site_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a folder"):
        read_pages(tmp_path / "none")
