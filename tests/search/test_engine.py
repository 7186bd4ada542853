"""Queries over small collections: who is found, who comes first, and what is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock
from gossamer.errors import CorruptFile, NoCollection, StoreError, UsageError
from gossamer.index.writer import IndexWriter
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from search.small_collection import DAY_US, NEW_YEAR_US, build, built_of, entry, paths

Built = Callable[[dict[str, str]], Engine]


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return lambda texts: built_of(tmp_path, texts)


def test_pages_with_all_words_come_first_then_those_with_most(built: Built) -> None:
    engine = built({
        "one": "garden " * 50,
        "two": "garden rose " * 20,
        "three": "a garden, and far away a single rose, and at the end of it all a tulip",
        "none": "nothing of the kind",
    })  # fmt: skip

    assert paths(engine, "garden rose tulip") == ["three", "two", "one"]


def test_a_word_that_says_nothing_counts_less_than_one_that_does(built: Built) -> None:
    engine = built({"the": "the " * 30 + "of", "rose": "rose", "both": "the rose is of the garden"})

    assert paths(engine, "the rose of") == ["both", "rose", "the"]
    assert paths(engine, "the of")[0] in {"both", "the"}


def test_a_page_with_all_words_of_a_sentence_comes_first(built: Built) -> None:
    words = "alpha beta gamma delta epsilon zeta eta theta"
    texts = {f"most{n}": f"{words.removesuffix('theta')} " * 5 for n in range(9)}
    engine = built({**texts, "all": words + " filler" * 300})

    found = engine.search(Request(query=words))

    assert found[0].url.endswith("/all")
    assert found.total == 10


def test_words_of_one_stem_are_found_and_the_word_itself_comes_first(built: Built) -> None:
    engine = built({"kin": "they were connecting things", "itself": "they did connect things"})

    assert paths(engine, "connect") == ["itself", "kin"]
    assert paths(engine, '"connect"') == ["itself"]
    assert paths(engine, "things -connect") == ["kin"]


def test_nearness_breaks_the_tie(built: Built) -> None:
    filler = "some other things that stand between them "
    engine = built({
        "far": f"open {filler * 3} access {filler}",
        "near": f"{filler * 3} open access {filler}",
    })  # fmt: skip

    assert paths(engine, "open access") == ["near", "far"]


def test_reversing_costs_two(built: Built) -> None:
    engine = built({"order": "white house", "reversed": "house white", "gap": "white big house"})

    assert set(paths(engine, '"white house"')) == {"order"}
    assert set(paths(engine, '"white house"~1')) == {"order", "gap"}
    assert set(paths(engine, '"white house"~2')) == {"order", "gap", "reversed"}


def test_a_loose_phrase_of_three_words_is_exact_too(built: Built) -> None:
    engine = built({"cab": "c a b", "abc": "a x b y c", "far": "a b 1 2 3 4 5 6 7 c"})

    assert set(paths(engine, '"a b c"~2')) == {"abc"}
    assert set(paths(engine, '"a b c"~3')) == {"abc", "cab"}
    assert set(paths(engine, '"a b a"~3')) == set()


def test_a_site_is_a_host_and_what_is_below_it(tmp_path: Path) -> None:
    pages = [
        entry("1", "word", host="python.example"),
        entry("2", "word", host="docs.python.example"),
        entry("3", "word", host="notpython.example"),
    ]
    engine = Engine(build(tmp_path, pages))

    assert set(paths(engine, "word site:python.example")) == {"1", "2"}
    assert set(paths(engine, "word", site="http://docs.python.example/x")) == {"2"}
    assert set(paths(engine, "-site:python.example")) == {"3"}
    assert set(paths(engine, "site:docs.python.example OR site:notpython.example")) == {"2", "3"}


def test_type_language_and_date_choose_pages(tmp_path: Path) -> None:
    pages = [
        replace(entry("pdf", "word"), type="application/pdf"),
        replace(entry("de", "word"), language="de"),
        replace(entry("old", "word"), at_us=NEW_YEAR_US - DAY_US),
    ]
    engine = Engine(build(tmp_path, pages))

    assert paths(engine, "type:pdf") == paths(engine, "word", type="application/pdf") == ["pdf"]
    assert paths(engine, "lang:de word") == paths(engine, "", lang="de-AT") == ["de"]
    assert set(paths(engine, "word since:2026-01-01")) == {"pdf", "de"}
    assert paths(engine, "word", sort="date")[2] == "old"


def test_changed_chooses_pages_whose_content_was_seen_to_change(tmp_path: Path) -> None:
    pages = [
        replace(entry("new", "word"), at_us=NEW_YEAR_US + DAY_US),
        replace(entry("edited", "word"), at_us=NEW_YEAR_US, changed_us=NEW_YEAR_US),
        # its last version differs only in noise, so it is newer than the change
        replace(entry("noisy", "word"), at_us=NEW_YEAR_US, changed_us=NEW_YEAR_US - DAY_US),
    ]
    engine = Engine(build(tmp_path, pages))

    assert paths(engine, "word changed:2026-01-01") == ["edited"]
    assert paths(engine, "", changed="2026-01-01") == ["edited"]
    assert set(paths(engine, "changed:2025")) == {"edited", "noisy"}
    assert set(paths(engine, "word -changed:2025")) == {"new"}
    assert set(paths(engine, "word since:2026-01-01")) == {"new", "edited", "noisy"}


def test_a_duration_counts_back_from_now(tmp_path: Path) -> None:
    pages = [
        replace(entry("hour", "word"), changed_us=NEW_YEAR_US - DAY_US // 24, at_us=NEW_YEAR_US),
        replace(entry("week", "word"), changed_us=NEW_YEAR_US - 8 * DAY_US, at_us=1),
    ]
    clock = ManualClock(wall_us=NEW_YEAR_US)
    engine = Engine(build(tmp_path, pages), clock=clock)

    assert paths(engine, "changed:1d") == paths(engine, "since:7d") == ["hour"]
    assert set(paths(engine, "changed:2w")) == {"hour", "week"}
    assert paths(engine, "changed:999999999w") == paths(engine, "changed:2W")


def test_address_and_anchors_are_searched(tmp_path: Path) -> None:
    pages = [
        replace(entry("guide/intro.html", "text"), anchors=("first steps", "begin here")),
        entry("tutorials/intro.html", "text"),
    ]
    engine = Engine(build(tmp_path, pages))

    assert paths(engine, "url:guide/intro") == ["guide/intro.html"]
    assert paths(engine, "url:tutor") == ["tutorials/intro.html"]
    assert paths(engine, "anchor:begin") == paths(engine, "steps") == ["guide/intro.html"]
    assert paths(engine, '"steps begin"') == []


def test_hits_of_one_site_are_collapsed_by_choice(tmp_path: Path) -> None:
    pages = [entry(f"{n}", "word " * (9 - n), host=f"{n % 2}.{'ab'[n % 2]}.org") for n in range(8)]
    engine = Engine(build(tmp_path, pages))

    assert len(paths(engine, "word")) == 8
    assert len(paths(engine, "word", per_site=1)) == 2
    assert engine.search(Request(query="word", per_site=3, limit=2)).total == 8


def test_pages_of_hits_join_without_gap_or_repeat(built: Built) -> None:
    engine = built({f"{n:03}": "same words" for n in range(250)})

    one = paths(engine, "words", limit=1000)
    pieces = [paths(engine, "words", limit=30, offset=start) for start in range(0, 250, 30)]

    assert [path for piece in pieces for path in piece] == one
    assert len(set(one)) == 250


def test_a_hit_says_what_it_is(tmp_path: Path) -> None:
    page = replace(entry("x", "Before it.\nThe  Garden & <b>rose</b>."), title=" A\n title ")
    hit = Engine(build(tmp_path, [page])).search(Request(query="gardens"))[0]

    assert (hit.url, hit.title, hit.fetched_at) == (page.url, "A title", "2026-01-01T00:00:00Z")
    assert hit.snippet == "Before it. The Garden & <b>rose</b>."
    assert hit.passage.as_html() == ("Before it. The <b>Garden</b> &amp; &lt;b&gt;rose&lt;/b&gt;.")
    assert 1 < hit.score < 2


def test_a_page_that_asks_for_no_snippet_has_none(tmp_path: Path) -> None:
    page = replace(entry("x", "secret garden"), has_snippet=False)

    hit = Engine(build(tmp_path, [page])).search(Request(query="garden"))[0]

    assert (hit.snippet, hit.passage.marks) == ("", ())


def test_scores_fall_with_the_order_and_are_explained(tmp_path: Path) -> None:
    pages = [
        replace(entry("a", "open access to the garden"), title="Open access", anchors=("access",)),
        entry("b", "open the gate, and much later access it"),
        entry("c", "open"),
    ]
    hits = Engine(build(tmp_path, pages)).search(Request(query="open access", explain=True))

    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    parts = {part.name: part.value for part in hits[0].parts}
    assert parts["words"] == 2
    assert parts["title"] > 0 < parts["body"]
    assert parts["anchors"] > 0 < parts["nearness"]
    assert {part.name: part.value for part in hits[2].parts}["nearness"] == 0


def test_a_phrase_in_the_text_does_not_hide_what_the_title_adds(tmp_path: Path) -> None:
    page = replace(entry("a", "the event loop of asyncio"), title="Asyncio")
    query = 'asyncio "event loop"'

    (hit,) = Engine(build(tmp_path, [page])).search(Request(query=query, explain=True))

    parts = {part.name: part.value for part in hit.parts}
    assert parts["title"] > 0 < parts["body"]
    assert parts["nearness"] == pytest.approx(0, abs=1e-3)


def test_a_typing_error_is_answered_with_what_was_meant(built: Built) -> None:
    engine = built({"a": "the botanical garden of the university", "b": "a garden"})

    assert engine.search(Request(query="botancial gardn")).suggestion == "botanical garden"
    assert engine.search(Request(query="garden")).suggestion == ""
    assert engine.search(Request(query="zzzzzz")).suggestion == ""


def test_what_is_committed_later_is_found_and_what_is_removed_is_not(tmp_path: Path) -> None:
    engine = Engine(build(tmp_path, [entry("one", "garden")]))
    writer = IndexWriter(tmp_path / "index", heap_bytes=15_000_000)
    writer.put(entry("two", "garden"))
    writer.commit({})
    both = paths(engine, "garden")
    writer.remove(entry("one").key)
    writer.commit({})
    writer.close()

    assert set(both) == {"one", "two"}
    assert paths(engine, "garden") == ["two"]


def test_eight_threads_get_the_answers_that_one_gets(built: Built) -> None:
    engine = built({f"{n}": f"garden {'rose ' * (n % 7)} number{n}" for n in range(60)})
    queries = ["garden rose", '"garden rose"', "gard*", "number7", '"rose garden rose"~4']
    alone = [paths(engine, query) for query in queries]
    found: list[list[list[str]]] = []

    threads = [
        threading.Thread(target=lambda: found.append([paths(engine, one) for one in queries]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [alone] * 8


@pytest.mark.parametrize("query", ["", "  ", "\\", "???", "- -- *", '"..."', "()", "-???"])
def test_a_query_without_a_word_is_told_so(built: Built, query: str) -> None:
    engine = built({"a": "text"})

    results = engine.search(Request(query=query))

    assert (results.total, results.hint) == (0, "The query has no word to search for.")


@pytest.mark.parametrize(
    "query",
    [
        "word " * 2000,
        "a* " * 20,
        " ".join(f'"a b c {n}"~90' for n in range(20)),
        " OR ".join(f"w{n}" for n in range(1000)),
        "(" * 20 + "a" + ")" * 20,
        "-a " * 2000,
        "a" * 10_000,
        "中" * 10_000,
        '"' + "a " * 4900 + '"~5',
        "x\x00\x1b[31m\ud800\uffff",
        "(?:a|b)+ [a-z]{1,9} .* \\d+ ^$",
        "title:(" + "a " * 1000 + ")",
        "url:" + "a/" * 4000,
        "since:1970 site:x.y type:z lang:q",
        "since:9999 a",
        "since:0001 a",
        "a" * 9_000 + "*",
        "url:" + "a" * 9_000,
        "a b c d e f g (url:- h) (title:? i)",
    ],
)
def test_hard_queries_are_answered(built: Built, query: str) -> None:
    engine = built({"a": "a b c a b c", "中": "中中中", "w": "w1 w2 word"})

    assert engine.search(Request(query=query[:10_000])).took_ms < 5_000


def test_where_there_is_nothing_to_search_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoCollection):
        Engine(tmp_path / "none")
    (tmp_path / "state").mkdir()
    with pytest.raises(StoreError, match="gossamer rebuild"):
        Engine(tmp_path)


def test_a_damaged_index_names_the_way_out(tmp_path: Path) -> None:
    home = build(tmp_path, [entry("a", "word")])
    (words,) = (home / "index").glob("g*/words")
    for path in words.glob("*.term"):
        path.write_bytes(b"\0" * path.stat().st_size)

    with pytest.raises(CorruptFile, match="gossamer rebuild index"):
        Engine(home).search(Request(query="word"))


def test_limits_that_cannot_be_used_are_refused() -> None:
    for wrong in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"per_site": -1}):
        with pytest.raises(UsageError):
            replace(Request(query="a"), **wrong)  # type: ignore[arg-type]
