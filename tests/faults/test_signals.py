"""Stopped, continued, told to end: a crawl takes signals at any moment."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Final

import pytest

from faults.processes import is_alive, workers_of
from flow.outcomes import fates
from support.a_site import Pages, Request, page, site_in_thread
from support.killing import finish, gossamer, started, typed, until
from support.need import need_linux

PAGES: Final = 400
FLAGS: Final = ("--json", "--delay", "0", "--per-host", "4")


async def numbered(request: Request) -> bytes:
    number = int(request.target[1:])
    await asyncio.sleep(0.005)
    names = [name for name in (2 * number + 1, 2 * number + 2, number + 1) if name < PAGES]
    return page("".join(f"<a href=/{name}>page {name}</a>" for name in names) + "words " * 50)


WEB: Final[Pages] = {"/robots.txt": page(""), "*": numbered}


@pytest.fixture(autouse=True)
def _linux() -> None:
    need_linux("processes are looked up in /proc")


def assert_sound(home: Path) -> None:
    checked = typed("verify", "-c", home)
    assert checked.code == 0, checked.out


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("whom", ["node", "all"])
def test_a_crawl_that_was_stopped_for_a_while_goes_on(
    workers: int, whom: str, tmp_path: Path
) -> None:
    home = tmp_path / "c"
    with site_in_thread(WEB) as site:
        crawl = ("crawl", "-c", home, *FLAGS, "--workers", str(workers), site.url("/0"))
        with started(*crawl) as running:
            until(lambda: len(site.log) > 60, running)
            stopped = [running.pid, *(workers_of(running.pid) if whom == "all" else ())]
            for process in stopped:
                os.kill(process, signal.SIGSTOP)
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(3.0)  # longer than a commit, a lease or a sign of life
            for process in reversed(stopped):
                os.kill(process, signal.SIGCONT)
            ended = finish(running)

    assert ended.code == 0, ended.err
    assert ended.summary["fetched"] == PAGES
    assert len(site.asked) == len(set(site.asked)) == PAGES + 1, "and asks nobody twice"
    assert_sound(home)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_stop_in_the_middle_of_a_commit_is_clean(workers: int, tmp_path: Path) -> None:
    home, rng = tmp_path / "c", random.Random(workers)
    often = ("--set", "node.commit_every_s=0.01", "--set", "node.part_every_s=1")
    with site_in_thread(WEB) as site:
        crawl = ("crawl", "-c", home, *FLAGS, *often, "--workers", str(workers), site.url("/0"))
        for _ in range(5):
            with started(*crawl) as running:
                goal = len(site.log) + rng.randint(5, 60)
                until(lambda goal=goal: len(site.log) >= goal, running)  # type: ignore[misc]
                running.send_signal(signal.SIGTERM)
                ended = finish(running)
            assert ended.code == 11, ended.err
            assert ended.summary["stopped"] == "signal"
            assert_sound(home)
        ended = gossamer(*crawl)

    assert ended.code == 0, ended.err
    assert len(fates(home)) == ended.summary["fetched"] == PAGES
    assert len(site.asked) == len(set(site.asked)) == PAGES + 1, "answers under way were waited for"
    assert_sound(home)


@pytest.mark.slow
@pytest.mark.parametrize("is_stopped", [False, True])
def test_workers_die_with_their_node(is_stopped: bool, tmp_path: Path) -> None:
    home = tmp_path / "c"
    with site_in_thread(WEB) as site:
        crawl = ("crawl", "-c", home, *FLAGS, "--workers", "2", site.url("/0"))
        with started(*crawl) as running:
            until(lambda: len(site.log) > 60, running)
            workers = workers_of(running.pid)
            if is_stopped:
                os.kill(workers[0], signal.SIGSTOP)
            running.kill()
            running.wait()
            until(lambda: not any(map(is_alive, workers)))
        asked = len(site.log)
        ended = gossamer(*crawl)

    assert len(workers) == 2
    assert ended.code == 0, ended.err
    assert ended.summary["fetched"] == PAGES
    assert len(site.log) - asked < PAGES, "the archive was read, not the web"
    assert_sound(home)
