"""Bans that come while a crawl runs, or while it rests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.node.bans import bans_in, bans_of, change_bans, changed_lines
from gossamer.node.build import open_node
from gossamer.reader.collection_reader import CollectionReader
from gossamer.settings import Settings, with_values
from gossamer.upkeep.rebuild import rebuild
from gossamer.workers.process import ProcessedPage
from support.a_crawl import QUICK, crawl
from support.a_site import Site, page, site_in_thread

MANY = "".join(f"<a href=/good{n}>good</a><a href=/bad{n}>bad</a>" for n in range(40))
PAGES = {"/": page(MANY)} | {
    f"/{kind}{n}": page(kind) for kind in ("good", "bad") for n in range(40)
}


async def _crawl_and_ban(home: Path, site: Site, lines: Sequence[str]) -> None:
    """A crawl that is told of bans when its first page has come."""
    settings = with_values(Settings(), QUICK)
    with ExitStack() as stack:
        node = open_node(
            CollectionPaths(home), lambda _stored: settings, [site.url()], SystemClock(), stack
        ).node

        def ban(_harvest: ProcessedPage) -> None:
            node.bans.change(lines, ())

        node.on_processed = ban
        try:
            await node.run()
        finally:
            await node.aclose()


def _became(home: Path) -> dict[str, list[str]]:
    """Paths by what became of them."""
    became: dict[str, list[str]] = {}
    with CollectionReader.open(home) as reader:
        for row in reader.url_rows():
            became.setdefault(row.reason or row.outcome.value, []).append(row.url)
    return became


def test_a_ban_holds_at_once_for_what_is_queued(tmp_path: Path) -> None:
    with site_in_thread(PAGES) as site:
        asyncio.run(_crawl_and_ban(tmp_path / "c", site, ["*/bad*"]))

    became = _became(tmp_path / "c")
    assert not [path for path in site.asked if path.startswith("/bad")]
    assert len(became["banned"]) == 40
    assert len(became["fetched"]) == 41
    log = (tmp_path / "c/log/crawl.jsonl").read_text()
    assert log.count('"reason": "banned"') == 40


def test_a_stored_crawl_takes_bans_and_gives_them_up(tmp_path: Path) -> None:
    home = CollectionPaths(tmp_path / "c")
    with site_in_thread(PAGES) as site:
        crawl(home.path, [site.url()], limits__max_pages=1)
        change_bans(home, SystemClock(), added=["*/bad*  # noise", site.url("/good7")])
        crawl(home.path, [])
        first = _became(home.path)
        change_bans(home, SystemClock(), lifted=[site.url("/good7")])
        crawl(home.path, [])

    assert bans_of(home) == ("*/bad*",)
    assert len(first["banned"]) == 41
    assert len(_became(home.path)["banned"]) == 40
    actions = [json.loads(line) for line in home.actions.read_text().splitlines()]
    told = [(act["added"], act["lifted"]) for act in actions if act["act"] == "ban"]
    assert told == [(["*/bad*", site.url("/good7")], []), ([], [site.url("/good7")])]


def test_a_state_that_is_made_again_has_the_bans(tmp_path: Path) -> None:
    home = CollectionPaths(tmp_path / "c")
    with site_in_thread(PAGES) as site:
        crawl(home.path, [site.url()], limits__max_pages=1)
        change_bans(home, SystemClock(), added=["*/bad*"])
        crawl(home.path, [], limits__max_pages=5)

    rebuild(home, "state", SystemClock(), lambda _said: None)

    assert bans_of(home) == bans_in(home.actions) == ("*/bad*",)
    assert len(_became(home.path)["banned"]) == 40


def test_why_knows_of_a_ban_before_a_url_is_met(tmp_path: Path) -> None:
    home = CollectionPaths(tmp_path / "c")
    with site_in_thread(PAGES) as site:
        crawl(home.path, [site.url()], limits__max_pages=1)
        change_bans(home, SystemClock(), added=["*/never*"])

        with CollectionReader.open(home.path) as reader:
            judged = reader.story(site.url("/never/met")).judged

    assert judged is not None
    assert judged.reason == "banned"


@pytest.mark.parametrize("line", ["re:(", "ftp://a.example/", "a" * 3_000])
def test_what_is_no_ban_is_refused_with_a_sentence(line: str) -> None:
    with pytest.raises(UsageError):
        changed_lines((), [line], ())


def test_a_ban_that_is_not_there_cannot_be_lifted() -> None:
    with pytest.raises(UsageError, match="is not banned"):
        changed_lines(("a.example",), (), ["b.example"])
