"""Fifty kills of the node or of a worker, at any moment, change nothing but the time it takes.

The quick form takes about a minute; `FAULTS_LONG=1` does it with many seeds.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from faults.processes import is_alive, workers_of
from flow.outcomes import fates, outcomes
from gossamer.archive.reader import iter_exchanges
from gossamer.archive.verify import check_file
from gossamer.errors import CorruptFile
from gossamer.graph import tables
from support.a_site import Pages, Request, Site, page, redirect, robots, site_in_thread
from support.killing import Running, finish, gossamer, lines_of, started, typed, until
from support.need import need_linux

IS_LONG: Final = os.environ.get("FAULTS_LONG") == "1"
PAGES: Final = 2_000
FLAGS: Final = ("--json", "--delay", "0", "--per-host", "8", "--set", "node.commit_every_s=0.2")


async def numbered(request: Request) -> bytes:
    """Page n names 2n and its neighbours, now and then a redirect and what robots.txt forbids."""
    number = int(request.target[1:])
    await asyncio.sleep(0.001)
    if number >= PAGES:
        return page("gone", "404 Not Found")
    names = {2 * number + 1, 2 * number + 2, number + 1, number - 1, number // 2}
    links = "".join(f"<a href=/{name}>page {name}</a>" for name in names if 0 <= name < PAGES + 9)
    if number % 40 == 0:
        links += f"<a href=/to/{number}>x</a><a href=/private/{number}>x</a>"
    return page(f"<title>{number}</title>{links}" + "<p>some words</p>" * 150)


def web() -> Pages:
    moved: Pages = {f"/to/{number}": redirect(f"/{number + 7}") for number in range(0, PAGES, 40)}
    return {"/robots.txt": robots("User-agent: *\nDisallow: /private/"), **moved, "*": numbered}


@dataclass
class Campaign:
    """One crawl that is killed again and again."""

    home: Path
    site: Site
    command: tuple[str | Path, ...]
    seed: int
    kills: Counter[str] = field(default_factory=Counter)
    moments: list[tuple[int, set[str]]] = field(default_factory=list)  # requests, archive before
    _archived: set[str] = field(default_factory=set)
    _ends: dict[str, int] = field(default_factory=dict)

    def run(self, times: int, requests: tuple[int, int]) -> dict[str, Any]:
        """Kill so many times, then let it end; what it says at the end."""
        rng = random.Random(self.seed)
        while self.kills.total() < times:
            with started(*self.command) as running:
                while self.kills.total() < times and self._kill(running, rng, requests) != "node":
                    pass
                if self.kills.total() == times and running.poll() is None:
                    ended = finish(running)
                    assert ended.code == 0, ended.err
                    return ended.summary
        ended = gossamer(*self.command)
        assert ended.code == 0, ended.err
        return ended.summary

    def _kill(self, running: Running, rng: random.Random, requests: tuple[int, int]) -> str:
        goal = len(self.site.log) + rng.randint(*requests)
        until(lambda: len(self.site.log) >= goal, running)
        workers = workers_of(running.pid)
        if rng.random() < 0.45 or not workers:
            os.kill(running.pid, signal.SIGKILL)
            running.wait()
            until(lambda: not any(map(is_alive, workers)))
            who = "node"
        else:
            os.kill(rng.choice(workers), signal.SIGKILL)
            who = "worker"
        self.kills[who] += 1
        self._read_archive()
        # The requests are counted afterwards: with a worker dead the others go on meanwhile.
        self.moments.append((len(self.site.log), set(self._archived)))
        return who

    def _read_archive(self) -> None:
        """Learn which URLs have whole exchanges in the archive, from where we had read before."""
        for file in (self.home / "archive").glob("*.warc.gz"):
            with suppress(CorruptFile):  # half an exchange
                for exchange in iter_exchanges(file, self._ends.get(file.name, 0)):
                    self._archived.add(exchange.lease.url)
                    self._ends[file.name] = exchange.stored.end

    def repeats(self) -> list[str]:
        """What was asked after a kill though it was whole in the archive by then."""
        return [
            asked.path
            for requests, known in self.moments
            for asked in self.site.log[requests:]
            if self.site.url(asked.path) in known
        ]


def links_in(home: Path) -> Counter[tuple[str, str, str]]:
    """Every link of the graph, from path to path."""
    found: Counter[tuple[str, str, str]] = Counter()
    for batch in tables.links(home / "graph"):
        found.update(
            (path_of(row["source"]), path_of(row["target"]), row["anchor"])
            for row in batch.to_pylist()
        )
    return found


def path_of(url: str) -> str:
    return "/" + url.partition("//")[2].partition("/")[2]


def assert_whole(home: Path) -> None:
    """One line for each outcome, sound files, and all of it agrees."""
    lines = [line for line in lines_of(home / "log" / "crawl.jsonl") if "purpose" not in line]
    rows = outcomes(home)
    assert Counter(line["url"] for line in lines) == dict.fromkeys(rows, 1)
    files = sorted((home / "archive").glob("*.warc.gz"))
    assert [fault for file in files for fault in check_file(file)] == []
    check = [sys.executable, "-m", "warcio.cli", "check", *map(str, files)]
    checked = subprocess.run(check, capture_output=True, text=True, check=False, timeout=120)
    assert checked.returncode == 0, checked.stdout
    verified = typed("verify", "-c", home)
    assert verified.code == 0, verified.out


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same crawl, undisturbed, and in one process."""
    need_linux("processes are looked up in /proc")
    home = tmp_path_factory.mktemp("calm") / "c"
    with site_in_thread(web()) as site:
        ended = gossamer("crawl", "-c", home, *FLAGS, "--workers", "0", site.url("/0"))
    assert ended.code == 0, ended.err
    return home


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20) if IS_LONG else [1])
def test_fifty_kills_of_node_or_worker_change_nothing(
    seed: int, calm: Path, tmp_path: Path
) -> None:
    home = tmp_path / "killed"
    with site_in_thread(web()) as site:
        command = ("crawl", "-c", home, *FLAGS, "--workers", "2", site.url("/0"))
        campaign = Campaign(home, site, command, seed)
        summary = campaign.run(50, requests=(5, 45))

    asked = Counter(site.asked)
    again = sum(asked.values()) - len(asked)
    print(f"seed {seed}: {dict(campaign.kills)}, {len(asked)} URLs, {again} asked again in flight")
    assert campaign.kills.total() == 50
    assert min(campaign.kills.values()) >= 10
    assert campaign.repeats() == []
    assert again <= 50 * 16, "no more than were under way"
    assert fates(home) == fates(calm)
    assert summary["stopped"] == "done"
    assert links_in(home) == links_in(calm)
    assert_whole(home)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10) if IS_LONG else [2])
def test_manners_hold_across_kills(seed: int, tmp_path: Path) -> None:
    need_linux("processes are looked up in /proc")
    delay_s, hosts = 0.2, ("a.localhost", "b.localhost", "c.localhost")
    pages: Pages = {"/": page("".join(f"<a href=/{n}>x</a>" for n in range(12))), "*": page("x")}
    home = tmp_path / "killed"
    with site_in_thread(hosts=dict.fromkeys(hosts, pages)) as site:
        seeds = [site.url("/", host) for host in hosts]
        flags = ("--json", "--delay", str(delay_s), "--workers", "2")
        campaign = Campaign(home, site, ("crawl", "-c", home, *flags, *seeds), seed)
        summary = campaign.run(8, requests=(1, 5))

    assert summary["fetched"] == 13 * len(hosts)
    for host in hosts:
        gaps_s = site.gaps_s(host)
        print(f"{host}: {len(gaps_s)} rests, the shortest {min(gaps_s):.3f} s")
        assert min(gaps_s) >= delay_s - 0.002, "a millisecond is the network's"
        assert site.most_at_once(host) == 1
