"""A plain command line means to us what it means to typer; what is not plain is left to it."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
import typer.models
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli import plain
from gossamer.cli.commands.crawl import crawl
from gossamer.cli.plain import FLAGS, FlagType, name_of, plain_values
from support.rows import each_row


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

    ours = plain_values(words)

    if ours is not None:
        assert told(ours) == told(by_typer(words))


def test_a_plain_line_needs_no_typer() -> None:
    words = ["-c", "x", "--delay", "0", "--json", "--include=/a", "--include", "/b", "http://a/"]

    values = plain_values(words)

    assert values is not None
    assert told(values) == {
        "seeds": ["http://a/"],
        "collection": Path("x"),
        "delay": 0.0,
        "json": True,
        "include": ["/a", "/b"],
    }


@each_row(
    "words",
    [
        ["--help"], ["-h"], ["--nonsense"], ["--delay"], ["--delay", "x"], ["--depth", "1.5"],
        ["--depth", "-1"], ["--json=yes"], ["--", "http://a/"], ["-cx"], ["-c=x"], ["--max", "3"],
        ["--scope", "host", "--scope", "site"], ["--scope="], [""], ["--include", ""],
        ["http://a/\udcff"], ["--depth", "٣"], ["--depth", "9" * 16],
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(words: list[str]) -> None:
    assert plain_values(words) is None


def test_the_table_has_every_flag_of_a_crawl_as_typer_has_it() -> None:
    kinds: dict[object, FlagType] = {
        bool: FlagType.SWITCH, str | None: FlagType.TEXT, list[str] | None: FlagType.TEXTS,
        Path | None: FlagType.FOLDER, int | None: FlagType.WHOLE, float | None: FlagType.DECIMAL,
    }  # fmt: skip
    known: dict[str, tuple[str, FlagType]] = {}
    words: list[str] = []
    for name, hint in get_type_hints(crawl, include_extras=True).items():
        match get_args(hint):
            case (kind, typer.models.OptionInfo() as info):
                # typer takes the first name for a default until it reads it.
                flags = map(str, (info.default, *(info.param_decls or ())))
                known |= dict.fromkeys(flags, (name, kinds[kind]))
            case (kind, typer.models.ArgumentInfo()):
                assert kinds[kind] is FlagType.TEXTS
                words.append(name)

    assert known == {flag: (name_of(flag), kind) for flag, kind in FLAGS.items()}
    assert words == [plain.WORDS]


def test_a_plain_crawl_loads_no_parser() -> None:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gossamer", "crawl", "--scope", "nowhere"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert said.returncode == 2
    assert "gossamer.cli.run.run_crawl" in said.stderr
    assert "typer" not in said.stderr
