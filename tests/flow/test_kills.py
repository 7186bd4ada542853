"""Killed at any moment, a crawl ends as if it had not been: no kill loses or repeats anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from flow.outcomes import outcomes
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from support.a_site import Pages, Request, Site, page, redirect, robots, site_in_thread, too_many
from support.killing import Campaign, archived, gossamer, lines_of, started, typed, until

PAGES = 1_100
FLAGS = ("--json", "--delay", "0", "--per-host", "8", "--set", "node.commit_every_s=0.1")


async def big_page(request: Request) -> bytes:
    """Page n names 2n and its neighbours, a redirect now and then, and some that are gone."""
    number = int(request.target[1:])
    await asyncio.sleep(0.002)
    if number >= PAGES:
        return page("gone", "404 Not Found")
    names = [2 * number + 1, 2 * number + 2, number + 1, number - 1]
    links = "".join(f"<a href=/{name}>page {name}</a>" for name in names if 0 <= name < PAGES + 20)
    if number % 50 == 0:
        links += f"<a href=/to/{number}>x</a><a href=/private/{number}>x</a>"
    return page(f"<title>{number}</title>{links}" + "words " * 200)


def big_site() -> Pages:
    rules = robots("User-agent: *\nDisallow: /private/")
    moved: Pages = {f"/to/{number}": redirect(f"/{number + 7}") for number in range(0, PAGES, 50)}
    return {"/robots.txt": rules, **moved, "*": big_page}


def statuses(collection: Path) -> dict[str, tuple[str, int, str]]:
    return {
        url.rpartition("127.0.0.1:")[2].partition("/")[2]: (
            row.outcome.value,
            row.status,
            row.reason,
        )
        for url, row in outcomes(collection).items()
    }


def assert_whole(collection: Path) -> None:
    """One line for each outcome, one capture for each fetched URL, and sound files."""
    rows = outcomes(collection)
    lines = [line for line in lines_of(collection / "log" / "crawl.jsonl") if "purpose" not in line]
    assert Counter(line["url"] for line in lines) == dict.fromkeys(rows, 1)
    assert {line["url"]: line["outcome"] for line in lines} == {
        url: row.outcome.value for url, row in rows.items()
    }
    with CollectionReader.open(collection) as reader:
        captures = Counter(key[:16] for key, _ in reader.scan(StateTable.CAPTURE))
        counts = reader.counts()
    fetched = [row for row in rows.values() if row.outcome == "fetched"]
    assert set(captures.values()) == {1}
    assert len(captures) == len(fetched) == counts.fetched + counts.redirects
    assert counts.known == len(rows)
    files = sorted((collection / "archive").glob("*.warc.gz"))
    check = [sys.executable, "-m", "warcio.cli", "check", *map(str, files)]
    checked = subprocess.run(check, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert typed("verify", "-c", collection).code == 0


def repeats(site: Site, campaign: Campaign) -> list[str]:
    """What was asked after a kill though it was whole in the archive by then."""
    root = site.url("")
    return [
        asked.path
        for requests, known in campaign.moments
        for asked in site.log[requests:]
        if root + asked.path in known
    ]


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path: Path) -> None:
    with site_in_thread(big_site()) as site:
        undisturbed = gossamer("crawl", "-c", tmp_path / "calm", *FLAGS, site.url("/0"))
    assert undisturbed.code == 0

    with site_in_thread(big_site()) as site:
        home = tmp_path / "killed"
        command = ("crawl", "-c", home, *FLAGS, site.url("/0"))
        commands = [(*command, "--workers", workers) for workers in ("0", "2")]
        campaign = Campaign(commands, home, lambda: len(site.log))
        campaign.kill_times(20, requests=(20, 60))
        ended = campaign.finish()

    assert ended.code == 0, ended.err
    assert ended.summary["stopped"] == "done"
    assert statuses(home) == statuses(tmp_path / "calm")
    assert repeats(site, campaign) == []
    assert_whole(home)
    assert ended.summary["fetched"] == undisturbed.summary["fetched"]
    assert ended.summary["links"] == undisturbed.summary["links"]


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--no-graph",)])
def test_kills_lose_nothing_of_a_crawl_by_value(tmp_path: Path, flags: tuple[str, ...]) -> None:
    with site_in_thread(big_site()) as site:
        home = tmp_path / "killed"
        command: list[str | Path] = ["crawl", "-c", home, *FLAGS, *flags, "--order", "best"]
        commands = [[*command, "--workers", workers, site.url("/0")] for workers in ("0", "2")]
        campaign = Campaign(commands, home, lambda: len(site.log))
        campaign.kill_times(6, requests=(20, 120))
        ended = campaign.finish()

    assert ended.code == 0, ended.err
    assert ended.summary["stopped"] == "done"
    assert ended.summary["fetched"] >= PAGES
    assert repeats(site, campaign) == []
    assert_whole(home)


@pytest.mark.slow
def test_a_host_rests_its_full_delay_after_a_kill(tmp_path: Path) -> None:
    pages: Pages = {"/": page("".join(f"<a href=/{n}>x</a>" for n in range(30))), "*": page("x")}
    flags = ("--json", "--delay", "0.4", "--max-pages", "8")

    with site_in_thread(pages) as site:
        command = ("crawl", "-c", tmp_path / "study", *flags, site.url())
        for goal in (3, 5, 7):
            with started(*command) as running:
                until(lambda goal=goal: len(site.log) >= goal, running)  # type: ignore[misc]
                running.kill()
                running.wait()
        ended = gossamer(*command)

    assert ended.code == 0
    assert ended.summary["fetched"] == 8
    assert min(site.gaps_s()) >= 0.38


@pytest.mark.slow
def test_a_retry_after_is_kept_across_a_kill(tmp_path: Path) -> None:
    pages: Pages = {"/": page("<a href=/busy>x</a><a href=/a>x</a>"), "/busy": too_many("5")}
    flags = ("--json", "--delay", "0.05", "--max-pages", "2", "--set", "node.commit_every_s=60")

    with site_in_thread({**pages, "*": page("x")}) as site:
        command = ("crawl", "-c", tmp_path / "study", *flags, site.url())
        with started(*command) as running:
            until(lambda: "/busy" in site.asked and site.log[-1].ended_s is not None, running)
            until(lambda: site.url("/busy") in archived(tmp_path / "study"), running)
            running.kill()
            running.wait()
        ended = gossamer(*command)

    assert ended.code == 0
    at = site.asked.index("/busy")
    assert site.gaps_s()[at] >= 4.9
