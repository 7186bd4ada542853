"""What is found is what a search by hand finds, for any query over any small collection."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.index.entry import Entry
from gossamer.index.reader import IndexReader
from gossamer.search.engine import Engine
from gossamer.search.lexicon import Lexicon
from gossamer.search.query import read
from gossamer.search.results import Request, as_json
from search.oracle import finds
from search.small_collection import DAY_US, NEW_YEAR_US, build, entry

# Few words, so that they meet; some of one stem, some that begin alike, one that says nothing.
WORDS = [
    "red",
    "reds",
    "redder",
    "blue",
    "blues",
    "green",
    "connect",
    "connected",
    "the",
    "中",
    "国",
]
HOSTS = ["a.example", "b.a.example", "c.test"]
word = st.sampled_from(WORDS)
texts = st.lists(word, max_size=9).map(" ".join)
short = st.lists(word, max_size=3).map(" ".join)


@st.composite
def pages(draw: st.DrawFn) -> list[Entry]:
    """Some pages with words in every field."""
    found = []
    for number in range(draw(st.integers(1, 12))):
        path = f"{draw(word)}-{draw(word)}/{number}"
        page = entry(path, draw(texts), host=draw(st.sampled_from(HOSTS)), title=draw(short))
        found.append(
            replace(
                page,
                headings=tuple(draw(st.lists(short, max_size=2))),
                anchors=tuple(draw(st.lists(short, max_size=2))),
                language=draw(st.sampled_from(["en", "de", ""])),
                type=draw(st.sampled_from(["text/html", "application/pdf"])),
                at_us=NEW_YEAR_US + draw(st.integers(-3, 3)) * DAY_US,
                changed_us=draw(
                    st.sampled_from([0, NEW_YEAR_US - DAY_US, NEW_YEAR_US, NEW_YEAR_US + DAY_US])
                ),
            )
        )
    return found


phrase = st.builds(
    lambda words, slop: f'"{" ".join(words)}"' + (f"~{slop}" if slop else ""),
    st.lists(word, min_size=1, max_size=4),
    st.sampled_from([0, 0, 1, 2, 3, 5]),
)
prefix = st.sampled_from(["re*", "red*", "b*", "conn*", "red-bl*", "中*"])
compound = st.builds(lambda one, other: f"{one}-{other}", word, word)
fielded = st.builds(
    lambda field, what: f"{field}:{what}",
    st.sampled_from(["title", "anchor", "url"]),
    st.one_of(word, compound, phrase, prefix),
)
has = st.sampled_from([
    "site:a.example", "site:c.test", "type:pdf", "type:text/html", "lang:de", "since:2026-01-01",
    "changed:2026-01-01",
])  # fmt: skip
leaf = st.one_of(word, word, phrase, prefix, compound, fielded, has)


def grown(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(part, min_size=2, max_size=3)
    return st.one_of(
        several.map(lambda parts: f"({' '.join(parts)})"),
        several.map(lambda parts: f"({' OR '.join(parts)})"),
        part.map(lambda one: one if one.startswith("-") else f"-{one}"),
        st.builds(lambda one: f"title:({one})", part),
    )


queries = st.lists(st.recursive(leaf, grown, max_leaves=5), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages(), st.lists(queries, min_size=8, max_size=8))
def test_the_same_pages_are_found_as_by_hand(entries: list[Entry], asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = build(Path(folder), entries)
        engine = Engine(home)
        variants = Lexicon(IndexReader(home / "index").view.searcher).variants
        for query in asked:
            results = engine.search(Request(query=query, limit=100))

            found = {hit.url for hit in results}
            wanted = {page.url for page in entries if finds(read(query), page, variants)}
            assert found == wanted, query
            assert results.total == len(wanted)


syntax = st.lists(
    st.sampled_from([
        *'ab "()-~*:5|^$[]{}+?.', "\\", "\x00", "OR ", "title:", "url:", "site:", "type:", "lang:",
        "since:2026", "since:9999", "red ", '"red blue"~2', "中", "\ud800",
    ]),
    max_size=80,
).map("".join)  # fmt: skip
anything = st.one_of(syntax, st.text(st.characters(), max_size=120))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pages(), st.lists(anything, min_size=12, max_size=12))
def test_any_string_is_searched_without_an_error(entries: list[Entry], asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(build(Path(folder), entries))
        for query in asked:
            request = Request(query=query, limit=100, explain=True)
            results = engine.search(request)

            assert len(results) == results.total
            assert results.hint.isprintable()
            assert as_json(results, request)
