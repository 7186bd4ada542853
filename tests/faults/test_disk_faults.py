"""A disk that is full, or that fails, at any write: a clear word, nothing corrupt, and it goes on.

Each point is a crawl of its own: one act of it fails (`failing_disk.py`), it ends and says why, it
is started again on a sound disk and ends like a crawl that nothing happened to. The quick form
takes points spread over the first acts; `FAULTS_LONG=1` takes every one of them.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from faults.failing_disk import Act, Fault, with_faults
from flow.outcomes import outcomes
from support.a_site import Pages, Request, Site, page, site_in_thread
from support.killing import Ended, archived, gossamer, started, typed, until

IS_LONG: Final = os.environ.get("FAULTS_LONG") == "1"
PAGES: Final = 75  # of each host
HOSTS: Final = ("a.localhost", "b.localhost")
OFTEN: Final = ("--set", "node.commit_every_s=0.05", "--set", "node.part_every_s=1")
FLAGS: Final = ("--json", "--delay", "0", "--per-host", "4")

# RocksDB can do without some of what it writes, and links need not be merged today.
_CAN_DO_WITHOUT: Final = re.compile(r"/state|-merged-")

WRITE: Final = frozenset({"write", "room"})
SYNC: Final = frozenset({"sync"})
NAME: Final = frozenset({"name", "rename"})


def numbered(request: Request) -> bytes:
    number = int(request.target[1:])
    names = [name for name in (2 * number + 1, 2 * number + 2) if name < PAGES]
    return page("".join(f"<a href=/{name}>page {name}</a>" for name in names) + "words " * 50)


WEB: Final[Pages] = {"/robots.txt": page(""), "*": numbered}


def spread(first: int, last: int, quick: int) -> list[int]:
    """All numbers from the first to the last, or a few that lie as far apart as can be."""
    if IS_LONG:
        return list(range(first, last + 1))
    return [first + (last - first) * n // (quick - 1) for n in range(quick)]


def ends(home: Path) -> dict[str, str]:
    """What became of each URL."""
    return {url: f"{row.outcome} {row.status}" for url, row in outcomes(home).items()}


@dataclass(frozen=True)
class Case:
    """A web, and how a crawl of it ends when nothing happens to it."""

    site: Site
    workers: int
    calm: dict[str, str]

    def crawl(self, home: Path) -> tuple[str | Path, ...]:
        return crawl_of(self.site, home, self.workers)

    def wrong_at(self, fault: Fault, home: Path) -> list[str]:
        """What is wrong with what came of one fault."""
        ended, actions = with_faults(fault, home, *self.crawl(home))
        wrong = [*wrong_with_end(ended, actions, fault), *wrong_sums(ended, home)]
        wrong += self._wrong_after(home)
        where = [f"{act.call} {act.path}" for act in actions if act.is_failed][:1]
        return [f"{fault} ({', '.join(where)}): {'; '.join(wrong)}\n{ended.err}"] if wrong else []

    def _wrong_after(self, home: Path) -> Iterator[str]:
        """There is room again, and the crawl goes on."""
        known, asked = archived(home), len(self.site.log)
        again = gossamer(*self.crawl(home))
        if again.code != 0:
            yield f"it does not go on: {again.code} {again.err}"
            return
        if ends(home) != self.calm:
            yield "it ends otherwise than undisturbed"
        twice = known & {self.site.url(one.path, one.host) for one in self.site.log[asked:]}
        if twice:
            yield f"it asks for what it has: {sorted(twice)}"
        verified = typed("verify", "-c", home)
        if verified.code != 0:
            yield f"verify says {verified.out}"


def crawl_of(site: Site, home: Path, workers: int) -> tuple[str | Path, ...]:
    seeds = [site.url("/0", host) for host in HOSTS]
    return ("crawl", "-c", home, *FLAGS, *OFTEN, "--workers", str(workers), *seeds)


def wrong_with_end(ended: Ended, actions: list[Act], fault: Fault) -> Iterator[str]:
    """What is wrong with how a crawl ended after a fault."""
    failed = next((act for act in actions if act.is_failed), None)
    wanted = 11 if fault.is_full or fault.is_read_only else 1
    # What the threads of the index met they do not say. The room on the disk does, which here is
    # not really gone.
    may_be_unknown = failed is not None and "/index/" in failed.path
    if failed is None:
        yield f"the crawl had no such act, of {Counter(act.kind for act in actions)}"
    elif ended.code == 0 and not _CAN_DO_WITHOUT.search(failed.path):
        yield "it saw nothing"
    elif ended.code not in (0, wanted) and not (ended.code == 1 and may_be_unknown):
        yield f"it ended with {ended.code}, not {wanted}"
    elif ended.code and "disk" not in ended.err:
        yield "it does not say that it is the disk"
    if "Traceback" in ended.err:
        yield "it ended in a trace"


def wrong_sums(ended: Ended, home: Path) -> Iterator[str]:
    """What a full disk left must be what the summary counts."""
    if ended.code == 11 and "fetched" in ended.summary:  # else it never began
        stored = typed("status", "-c", home, "--json").summary
        if stored["fetched"] != ended.summary["fetched"]:
            yield f"it counts {ended.summary['fetched']} pages, and {stored['fetched']} are kept"


@pytest.fixture(scope="module", params=[0, 2], ids=["alone", "two workers"])
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Case]:
    workers, home = request.param, tmp_path_factory.mktemp("calm") / "c"
    with site_in_thread(hosts=dict.fromkeys(HOSTS, WEB)) as site:
        ended = gossamer(*crawl_of(site, home, workers))
        assert ended.code == 0, ended.err
        calm = ends(home)
        assert Counter(calm.values()) == {"fetched 200": PAGES * len(HOSTS)}
        yield Case(site, workers, calm)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "error", "numbers"),
    [
        pytest.param(WRITE, errno.ENOSPC, spread(1, 260, 3), id="full at a write"),
        pytest.param(WRITE, errno.EIO, spread(20, 260, 2), id="error at a write"),
        pytest.param(SYNC, errno.EIO, spread(1, 95, 2), id="error at a sync"),
        pytest.param(NAME, errno.ENOSPC, spread(1, 80, 2), id="full at a new name"),
        pytest.param(NAME, errno.EIO, spread(6, 80, 2), id="error at a new name"),
        pytest.param(WRITE, errno.EROFS, spread(1, 260, 3), id="read-only from a write on"),
        pytest.param(NAME, errno.EROFS, spread(12, 80, 2), id="read-only from a new name on"),
    ],
)
def test_a_disk_that_fails_costs_nothing_but_time(
    kinds: frozenset[str], error: int, numbers: list[int], case: Case, tmp_path: Path
) -> None:
    wrong: list[str] = []
    for number in numbers:
        home = tmp_path / f"c{number}"
        wrong += case.wrong_at(Fault(kinds, number, error), home)
        shutil.rmtree(home)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "error", "numbers"),
    [
        pytest.param(WRITE, errno.ENOSPC, spread(1, 100, 2), id="full at a write"),
        pytest.param(WRITE, errno.EIO, spread(40, 100, 2), id="error at a write"),
        pytest.param(SYNC, errno.EIO, spread(4, 20, 2), id="error at a sync"),
        pytest.param(WRITE, errno.EROFS, spread(1, 100, 2), id="read-only from a write on"),
    ],
)
def test_a_disk_that_fails_after_a_kill_costs_nothing_either(
    kinds: frozenset[str], error: int, numbers: list[int], case: Case, tmp_path: Path
) -> None:
    killed = tmp_path / "killed"
    asked = len(case.site.log)
    with started(*case.crawl(killed)) as running:
        until(lambda: len(case.site.log) > asked + 40, running)
    wrong: list[str] = []
    for number in numbers:
        home = tmp_path / f"c{number}"
        shutil.copytree(killed, home, ignore=shutil.ignore_patterns("control"))  # a socket
        wrong += case.wrong_at(Fault(kinds, number, error), home)
        shutil.rmtree(home)
    assert not wrong, "\n".join(wrong)
