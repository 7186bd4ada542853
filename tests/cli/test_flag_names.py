"""Messages name what was typed: a flag as a flag, a key of a file as that key."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed
from support.rows import each_row

HERE = "http://127.0.0.1:8/"


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@each_row(
    ("words", "named", "not_named"),
    [
        (["--scope", "world"], "--scope is 'world'", "scope.kind"),
        (["--depth", "-7"], "--depth is -7", "scope.depth"),
        (["--type", "hmtl"], "--type names 'hmtl'", "fetch.types"),
        (["--hours", "never"], "--hours is 'never'", "node.hours"),
        (["--header", "no colon"], "--header has", "fetch.headers"),
        (["--proxy", "nowhere"], "--proxy is 'nowhere'", "fetch.proxy "),
        (["--user-agent-contact", "x y"], "--user-agent-contact is 'x y'", "fetch.contact"),
        (["--set", "scope.depth=-7"], "--set scope.depth is -7", "--depth"),
        (["--set", "scope.depth=two"], "--set scope.depth is 'two'", "--depth"),
    ],
)
def test_a_value_of_a_flag_is_named_by_the_flag(
    words: list[str], named: str, not_named: str
) -> None:
    ended = typed("crawl", *words, HERE)

    assert ended.code == 2
    assert named in ended.err
    assert not_named not in ended.err


def test_a_value_of_a_file_is_named_by_its_key(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("[scope]\nkind = 'world'\n")

    ended = typed("crawl", HERE)

    assert "gossamer.toml, line 2: scope.kind is 'world'" in ended.err
    assert "--scope" not in ended.err


def test_a_value_of_a_variable_is_named_by_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_SCOPE_KIND", "world")

    assert "GOSSAMER_SCOPE_KIND: scope.kind is 'world'" in typed("crawl", HERE).err


def test_a_scope_that_differs_from_the_stored_one_is_named_by_its_flag(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()])
        flagged = typed("crawl", "-c", collection, "--scope", "any", site.url())
        (Path.cwd() / "gossamer.toml").write_text("[scope]\nkind = 'any'\n")
        filed = typed("crawl", "-c", collection, site.url())

    assert flagged.code == filed.code == 2
    assert "--scope is 'any'" in flagged.err
    assert "--change" in flagged.err
    assert "scope.kind is 'any'" in filed.err


def test_a_change_is_told_by_the_flag_that_made_it(collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        crawl(collection, [site.url()], politeness__host_delay_s=0.0)
        ended = typed("crawl", "-c", collection, "--delay", "0.5", site.url())

    assert "Changed since the last run: --delay is 0.5 (was 0.0)." in ended.err
