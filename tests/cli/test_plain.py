"""A plain command line means to us what it means to typer; what is not plain is left to it."""

import functools
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.crawl import crawl
from gossamer.cli.plain import plain_values


@functools.cache
def parser() -> tuple[typer.Typer, list[dict[str, Any]]]:
    """typer with the flags of `crawl`, and what it would have called that with."""
    called: list[dict[str, Any]] = []

    @functools.wraps(crawl)
    def noted(**values: Any) -> None:
        called.append(values)

    app = typer.Typer()
    app.command()(noted)
    return app, called


def by_typer(words: list[str]) -> dict[str, Any]:
    app, called = parser()
    app(words, standalone_mode=False)
    return called[-1]


def told(values: dict[str, Any]) -> dict[str, Any]:
    """What differs from nothing: typer has an empty list where we have none."""
    return {n: value for n, value in values.items() if repr(value) not in {"None", "False", "[]"}}


WORDS = st.sampled_from(["http://a/", "http://ä.example/?q=1&r=2", "-", "a b", "0", "a=b", "é"])
TYPED = st.one_of(
    WORDS.map(lambda word: [word]),
    st.tuples(st.sampled_from(["--depth", "--max-pages", "--workers"]), st.integers(0, 99)).map(
        lambda pair: [pair[0], str(pair[1])]
    ),
    st.tuples(
        st.sampled_from(["--delay", "--max-time"]),
        st.sampled_from(["0", "1.5", "007", "1e3", "-1", "x", ".5", "1_000", " 1"]),
    ).map(list),
    st.tuples(st.sampled_from(["--include", "--header", "--set", "--scope"]), WORDS).map(list),
    st.tuples(st.sampled_from(["--include", "--scope", "--delay"]), WORDS).map(
        lambda pair: [f"{pair[0]}={pair[1]}"]
    ),
    st.tuples(st.sampled_from(["-c", "--collection", "-f"]), WORDS).map(list),
    st.sampled_from(["--json", "--no-index", "--dry-run", "--ascend"]).map(lambda flag: [flag]),
)


@given(typed=st.lists(TYPED, max_size=5))
def test_what_is_plain_is_read_as_typer_reads_it(typed: list[list[str]]) -> None:
    words = [word for some in typed for word in some]

    ours = plain_values(crawl, words)

    if ours is not None:
        assert told(ours) == told(by_typer(words))


def test_a_plain_line_needs_no_typer() -> None:
    words = ["-c", "x", "--delay", "0", "--json", "--include=/a", "--include", "/b", "http://a/"]

    values = plain_values(crawl, words)

    assert values is not None
    assert told(values) == {
        "seeds": ["http://a/"],
        "collection": Path("x"),
        "delay": 0.0,
        "json": True,
        "include": ["/a", "/b"],
    }


@pytest.mark.parametrize(
    "words",
    [
        ["--help"], ["-h"], ["--nonsense"], ["--delay"], ["--delay", "x"], ["--depth", "1.5"],
        ["--depth", "-1"], ["--json=yes"], ["--", "http://a/"], ["-cx"], ["-c=x"], ["--max", "3"],
        ["--scope", "host", "--scope", "site"], ["--scope="], [""], ["--include", ""],
        ["http://a/\udcff"], ["--depth", "٣"], ["--depth", "9" * 16],
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(words: list[str]) -> None:
    assert plain_values(crawl, words) is None


def test_a_verb_that_asks_for_more_than_types_is_left_to_typer() -> None:
    def verb(count: int = typer.Option(1, "--count", min=1)) -> None: ...

    assert plain_values(verb, []) is None
