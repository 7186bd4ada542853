"""`gossamer top` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed

LINKED = {
    "/": page('<a href="/a">a</a><a href="/b">b</a>'),
    "/a": page('<a href="/b">b</a>'),
    "*": page("x"),
}


@pytest.mark.parametrize(("by", "column"), [("backlinks", "backlinks"), ("pagerank", "pagerank")])
def test_the_page_most_linked_comes_first(collection: Path, by: str, column: str) -> None:
    with site_in_thread(LINKED) as site:
        crawl(collection, [site.url()])

        ended = typed("top", "-c", collection, "--by", by, "--limit", "2", "--json")

    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 0
    assert [row["url"].rpartition("/")[2] for row in rows] == ["b", "a"]
    assert rows[0]["schema"] == 1
    assert rows[0][column] > rows[1][column]


def test_a_table_for_people_has_its_columns_named(collection: Path) -> None:
    with site_in_thread(LINKED) as site:
        crawl(collection, [site.url()])

    ended = typed("top", "-c", collection, "--by", "hubs", "--level", "site")

    assert ended.out.split()[:4] == ["url", "hub", "authority", "pagerank"]
    assert "127.0.0.1" in ended.out


def test_a_crawl_without_links_says_so(collection: Path) -> None:
    with site_in_thread(LINKED) as site:
        crawl(collection, [site.url()], node__graph=False)

    for by in ("backlinks", "pagerank"):
        ended = typed("top", "-c", collection, "--by", by)
        assert (ended.code, ended.out) == (0, "")
        assert "no links" in ended.err


@pytest.mark.parametrize(
    ("args", "code", "word"),
    [
        (["--by", "pagernak"], 2, "did you mean pagerank?"),
        (["--level", "host"], 2, "page and site"),
        (["--limit", "0"], 2, "--limit"),
        ([], 1, "no collection"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    collection: Path, args: list[str], code: int, word: str
) -> None:
    ended = typed("top", "-c", collection, *args)

    assert (ended.code, ended.out) == (code, "")
    assert word in ended.err
    assert "Traceback" not in ended.err
