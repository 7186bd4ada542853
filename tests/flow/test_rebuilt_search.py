"""What is searched after everything was made again is what was searched before."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from gossamer.demo.server import serve
from gossamer.demo.web import SETTINGS
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from support.a_crawl import crawl
from support.killing import gossamer

pytestmark = pytest.mark.slow

QUERIES = 60
DEEP = 500  # more than any query finds here
Answers = dict[str, tuple[set[str], list[str]]]


def queries_for(collection: Path) -> list[str]:
    """Words, pairs and phrases of titles."""
    with CollectionReader.open(collection) as reader:
        rows = [UrlRow.decode(row) for _, row in reader.scan(StateTable.URL)]
    titles = [re.findall(r"\w+", row.title) for row in rows if row.title]
    chosen = random.Random(7).sample(sorted(titles), QUERIES)
    forms = ("{0}", "{0} {1}", '"{0} {1}"', "title:{0} {1}", "anchor:{0}", "{0}*")
    pairs = [(*words, *words)[:2] for words in chosen if words]
    return [forms[n % len(forms)].format(*pair) for n, pair in enumerate(pairs)]


def answers(collection: Path, queries: list[str]) -> Answers:
    engine = Engine(collection)
    found: Answers = {}
    for query in queries:
        urls = [hit.url for hit in engine.search(Request(query=query, limit=DEEP))]
        found[query] = set(urls), urls[:10]
    return found


def links_into(collection: Path, url: str) -> str:
    ended = gossamer("backlinks", url, "-c", collection, "--json")
    assert ended.code == 0
    return ended.out


def test_searches_find_the_same_after_a_rebuild_and_the_same_again(tmp_path: Path) -> None:
    collection = tmp_path / "demo"
    with serve() as web:
        crawl(collection, web.seeds, **{key.replace(".", "__"): SETTINGS[key] for key in SETTINGS})
    queries = queries_for(collection)
    live = answers(collection, queries)
    linked = links_into(collection, web.seeds[0])
    assert sum(len(found) for found, _ in live.values()) > 5 * QUERIES

    rebuilt = []
    for _ in range(2):
        assert gossamer("rebuild", "all", "-c", collection).code == 0
        rebuilt.append(answers(collection, queries))
        assert links_into(collection, web.seeds[0]) == linked

    assert rebuilt[0] == rebuilt[1]
    assert {query: found for query, (found, _) in rebuilt[0].items()} == {
        query: found for query, (found, _) in live.items()
    }
    shared = [
        len(set(first) & set(rebuilt[0][query][1])) / len(first)
        for query, (_, first) in live.items()
        if first
    ]
    assert sum(shared) / len(shared) >= 0.95
