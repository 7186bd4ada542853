"""What people type wrongly: one sentence on stderr, the right exit code, and nothing on disk."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.frontier.meta_keys import VERSION_KEY
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable
from support.a_crawl import crawl
from support.a_site import Pages, Request, page, site_in_thread
from support.killing import Ended, finish, gossamer, started, typed, until


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names without a folder are below the test's own."""
    monkeypatch.chdir(tmp_path)


HERE = "http://127.0.0.1:8/"  # nobody is asked: each of these is refused before
PUBLIC = "http://93.184.216.34/"


def is_one_sentence(ended: Ended) -> bool:
    """Of ours: `gossamer: ...`; or, for flags, the parser's usage line and its one."""
    lines = ended.err.strip().splitlines()
    is_ours = len(lines) == 1 and lines[0].startswith("gossamer: ")
    is_parsers = lines[0].startswith("Usage: ") and lines[-1].startswith("Error: ")
    return (is_ours or is_parsers) and "Traceback" not in ended.err


WRONG: dict[str, tuple[list[str], str]] = {
    "unknown flag": (["--dpeth", "2", HERE], "--depth"),
    "not a whole number": (["--depth", "two", HERE], "'--depth': it must be a whole number"),
    "not a number": (["--delay", "long", HERE], "'--delay': it must be a number"),
    "a number out of range": (["--depth", "-7", HERE], "at least -1"),
    "not a scope": (["--scope", "world", HERE], "page, prefix, host"),
    "no key": (["--set", "depth", HERE], "KEY=VALUE"),
    "unknown key": (["--set", "politeness.host_dealy_s=1", HERE], "politeness.host_delay_s"),
    "wrong value": (["--set", "node.graph=perhaps", HERE], "true or false"),
    "nan": (["--set", "politeness.host_delay_s=nan", HERE], "finite"),
    "not a url": (["not a url"], "is not a URL (http:// or https:// expected)"),
    "another scheme": (["ftp://127.0.0.1/"], "is not a URL (http:// or https:// expected)"),
    "one word": (["example"], "'example' is not a URL (http:// or https:// expected)"),
    "a bad port": (["http://127.0.0.1:99999/"], "99999"),
    "a port of mail": (["http://127.0.0.1:25/"], "port 25"),
    "a bad pattern": (["--include", "re:(", HERE], "re:("),
    "a bad network": (["--allow-private", "10.0.0.0/99", HERE], "10.0.0.0/99"),
    "a bad header": (["--header", "no colon", HERE], "Name: value"),
    "a header of the connection": (["--header", "Host: x", HERE], "Host"),
    "a header with a line end": (["--header", "A: b\r\nC: d", HERE], "Name: value"),
    "a contact with a line end": (["--user-agent-contact", "a\nb", HERE], "one line"),
    "a contact that reaches nobody": (["--user-agent-contact", "x y", HERE], "mail address"),
    "a bad type": (["--type", "hmtl", HERE], "hmtl"),
    "no type": (["--type", ",", HERE], "is empty"),
    "no seed file": (["-f", "nowhere.txt"], "nowhere.txt"),
    "no ban file": (["--ban", "nowhere.txt", HERE], "nowhere.txt"),
    "no list of domains": (["--scope", "list", "--domains", "nowhere.txt", HERE], "nowhere.txt"),
    "no contact for others' sites": ([PUBLIC], "--user-agent-contact"),
    "no contact, and no such name": (["http://nobody.example.org/"], "--user-agent-contact"),
    "a refresh policy without visits": (["--refresh", "uniform", HERE], "add --forever"),
    "no seeds and no collection": ([], "add a start URL"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_named_and_nothing_is_made(name: str, tmp_path: Path) -> None:
    args, word = WRONG[name]

    ended = typed("crawl", "-c", "study", *args)

    assert ended.code == 2
    assert is_one_sentence(ended), ended.err
    assert word in ended.err
    assert ended.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_nobody_knows_is_nothing_fetched(tmp_path: Path) -> None:
    ended = typed("crawl", "-c", "study", "http://x.invalid/")

    assert ended.code == 3
    assert is_one_sentence(ended)
    assert "x.invalid" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_nobody_knows_is_said_to_who_can_be_reached(tmp_path: Path) -> None:
    asked = ("crawl", "-c", "study", "http://x.invalid/", "--user-agent-contact", "me@example.org")

    ended = typed(*asked)

    assert ended.code == 3
    assert "the host x.invalid cannot be resolved" in ended.err


def test_a_port_that_nobody_listens_at_is_nothing_fetched(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        seed = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        ended = gossamer("crawl", "-c", "study", seed, cwd=tmp_path)

    assert ended.code == 3
    assert "Traceback" not in ended.err
    assert seed in ended.err
    assert seed in (tmp_path / "study" / "log" / "crawl.jsonl").read_text()


def test_a_crawl_in_vain_leaves_what_is_not_its_own(tmp_path: Path) -> None:
    own = tmp_path / "study" / "gossamer.toml"
    own.parent.mkdir()
    own.write_text("[scope]\ndepth = 3\n")

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        seed = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        ended = typed("crawl", "-c", "study", seed)

    assert ended.code == 3
    assert own.read_text() == "[scope]\ndepth = 3\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"http://127.0.0.1:8/\n\n# fine\nnot a url\n", "line 4"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"", "add a start URL"),
        (b"# nothing\n", "add a start URL"),
    ],
)
def test_a_seed_file_that_cannot_be_used_is_named_with_its_line(
    content: bytes, words: str, tmp_path: Path
) -> None:
    (tmp_path / "seeds.txt").write_bytes(content)

    ended = typed("crawl", "-c", "study", "-f", "seeds.txt")

    assert ended.code == 2
    assert is_one_sentence(ended)
    assert words in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["seeds.txt"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[scope]\n\ndpeth = 2\n", ["gossamer.toml, line 3", "scope.depth"]),
        ("[scope]\ndepth = 'two'\n", ["gossamer.toml, line 2", "whole number"]),
        ("[scop]\ndepth = 2\n", ["gossamer.toml, line"]),
        ("[scope\n", ["gossamer.toml"]),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_named_with_its_line(
    text: str, words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "gossamer.toml").write_text(text)

    ended = typed("crawl", "-c", "study", HERE)

    assert ended.code == 2
    assert is_one_sentence(ended)
    assert [word for word in words if word not in ended.err] == []
    assert not (tmp_path / "study").exists()


def test_an_unknown_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_SCOPE_DPETH", "2")

    ended = typed("crawl", "-c", "study", HERE)

    assert ended.code == 2
    assert "GOSSAMER_SCOPE_DEPTH" in ended.err
    assert is_one_sentence(ended)


def test_a_file_is_no_collection(tmp_path: Path) -> None:
    (tmp_path / "study").write_text("mine")

    ended = typed("crawl", "-c", "study", HERE)

    assert ended.code == 2
    assert is_one_sentence(ended)
    assert (tmp_path / "study").read_text() == "mine"


def test_a_directory_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "thesis.txt").write_text("mine")

    ended = typed("crawl", "-c", "study", HERE)

    assert ended.code == 2
    assert is_one_sentence(ended)
    assert "thesis.txt" in ended.err
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["thesis.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    ended = typed("crawl", "-c", tmp_path / "study", HERE)

    assert ended.code == 2
    assert is_one_sentence(ended)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file but RocksDB's own notes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(("LOG", "LOCK", "lock"))
    }


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    home = tmp_path_factory.mktemp("crawled") / "collection"
    with site_in_thread({"/": page("x")}) as site:
        crawl(home, [site.url()])
        return home, site.url()


@pytest.fixture
def small(crawled: tuple[Path, str], collection: Path) -> tuple[Path, str]:
    """A collection of one page, and its seed."""
    shutil.copytree(crawled[0], collection)
    return collection, crawled[1]


def another_version(home: Path) -> None:
    store = RocksStore.open(home / "state")
    store.write({StateTable.META: {VERSION_KEY: b"99"}})
    store.close()


def no_manifest(home: Path) -> None:
    for path in (home / "state").glob("MANIFEST-*"):
        path.write_bytes(path.read_bytes()[:10])


def no_current(home: Path) -> None:
    (home / "state" / "CURRENT").write_bytes(b"")


@pytest.mark.parametrize("verb", [["crawl"], ["status"], ["export", "pages", "-o", "pages.csv"]])
@pytest.mark.parametrize(
    ("damage", "word"),
    [(another_version, "format 99"), (no_manifest, "state"), (no_current, "state")],
)
def test_a_state_that_cannot_be_read_is_said_and_left_as_it_is(
    damage: Callable[[Path], None],
    word: str,
    verb: list[str],
    small: tuple[Path, str],
    tmp_path: Path,
) -> None:
    home, _ = small
    damage(home)
    before = snapshot(home)

    ended = typed(*verb, "-c", home)

    assert ended.code == 1
    assert is_one_sentence(ended), ended.err
    assert word in ended.err
    assert {name for name in before if snapshot(home).get(name) != before[name]} == set()


def test_a_collection_in_use_is_left_to_who_uses_it(collection: Path) -> None:
    is_seen = threading.Event()

    async def in_the_end(_: Request) -> bytes:
        while not is_seen.is_set():  # noqa: ASYNC110  # another thread's
            await asyncio.sleep(0.005)
        return page("x")

    pages: Pages = {
        "/": page("<a href=/a>x</a><a href=/b>x</a>"),
        "/a": in_the_end,
        "/b": page("x"),
    }
    flags = ("--delay", "0", "--workers", "0")

    with (
        site_in_thread(pages) as site,
        started("crawl", "-c", collection, "--json", *flags, site.url()) as first,
    ):
        until(lambda: len(site.log) > 2, first)
        second = typed("crawl", "-c", collection, *flags, site.url())
        cleared = typed("clear", "-c", collection, "--yes")
        is_seen.set()
        whole = finish(first)

    for ended in (second, cleared):
        assert ended.code == 1
        assert is_one_sentence(ended)
        assert f"process {first.pid}" in ended.err
    assert whole.code == 0
    assert whole.summary["fetched"] == 3
    assert len(site.asked) == len(set(site.asked)) == 4


def test_another_scope_needs_to_be_said(small: tuple[Path, str]) -> None:
    home, seed = small
    log = (home / "log" / "acts.jsonl").read_bytes()

    ended = typed("crawl", "-c", home, "--scope", "any", seed)

    assert ended.code == 2
    assert is_one_sentence(ended)
    assert "--change" in ended.err
    assert (home / "log" / "acts.jsonl").read_bytes() == log


def test_clear_asks_before_it_deletes(small: tuple[Path, str]) -> None:
    home, _ = small

    refused = typed("clear", "-c", home)

    assert refused.code == 2
    assert is_one_sentence(refused)
    assert "--yes" in refused.err
    assert (home / "archive").exists()
    assert typed("clear", "-c", home, "--yes").code == 0
    assert not home.exists()


def test_clear_leaves_files_of_the_operator(small: tuple[Path, str]) -> None:
    home, _ = small
    (home / "gossamer.toml").write_text("")

    assert typed("clear", "-c", home, "--yes").code == 0

    assert [path.name for path in home.iterdir()] == ["gossamer.toml"]


def test_a_demo_does_not_delete_a_crawl(small: tuple[Path, str]) -> None:
    home, _ = small
    before = snapshot(home)

    ended = typed("demo", "-c", home)

    assert ended.code == 2
    assert is_one_sentence(ended)
    assert snapshot(home) == before


@pytest.mark.parametrize("verb", ["status", "stop", "pause", "resume", "clear"])
def test_there_must_be_a_collection(verb: str, tmp_path: Path) -> None:
    ended = typed(verb, "-c", "nowhere")

    assert ended.code == 1
    assert is_one_sentence(ended)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", ["stop", "pause", "resume"])
def test_orders_need_a_running_crawl(order: str, small: tuple[Path, str]) -> None:
    ended = typed(order, "-c", small[0])

    assert ended.code == 1
    assert is_one_sentence(ended)
    assert "no crawl is running" in ended.err


def test_a_missing_argument_is_named_with_its_choices(tmp_path: Path) -> None:
    ended = gossamer("rebuild", cwd=tmp_path)

    assert ended.code == 2
    assert "Missing argument 'WHAT'. Expected: archive, graph, index, state or all." in ended.err
