"""A unit as a process, with a hub over TLS and a site: what happens when something goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gossamer.base.clock import SystemClock
from gossamer.fleet.protocol import BannedLines, SharedPace, UnitOrder
from gossamer.fleet.unit.idle.probes import process_tree
from support.a_fake_hub import FakeHub, a_hub
from support.a_site import Site, page, site_in_thread
from support.killing import started, until

pytestmark = pytest.mark.slow

WAIT_S: Final = 90.0
PAGES: Final = 20
SETTINGS: Final = """
when = "always"
allow_private = ["127.0.0.0/8"]
min_free_bytes = 0
page_port = 0
nice = 0
"""


def pages_of(count: int) -> Mapping[str, bytes]:
    links = "".join(f"<a href=/{number}>page {number}</a> " for number in range(count))
    return {
        "/": page(f"<title>start</title>{links}"),
        **{
            f"/{number}": page(f"<title>{number}</title><p>text {number}")
            for number in range(count)
        },
    }


@dataclass
class Fleet:
    """A hub, a site and the folder of a unit that has joined."""

    hub: FakeHub
    site: Site
    home: Path

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[str]]:
        with started("unit", "run", "-d", self.home) as unit:
            yield unit
            for pid in reversed(process_tree(unit.pid)):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue

    def give(self, name: str, **more: object) -> None:
        self.hub.to_give.append(self.hub.job(name, self.site.url("/"), **more))

    def do(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gossamer", "unit", *words, "-d", str(self.home)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def set(self, min_delay_s: float = 0.0) -> None:
        (self.home / "unit.toml").write_text(f"{SETTINGS}min_delay_s = {min_delay_s}\n")


def job_pid(unit: subprocess.Popen[str]) -> int:
    """The process of its job, once there is one."""
    until(lambda: len(process_tree(unit.pid)) > 1)
    return process_tree(unit.pid)[1]


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with a_hub(tmp_path / "hub") as hub, site_in_thread(pages_of(PAGES)) as site:
        fleet = Fleet(hub, site, tmp_path / "unit")
        joined = fleet.do("join", hub.url, hub.code)
        assert joined.returncode == 0, joined.stderr
        fleet.set()
        yield fleet


def slow(fleet: Fleet) -> None:
    """Let a crawl take long enough to be interrupted: 0.2 s for each page."""
    fleet.set(min_delay_s=0.2)


def fetched(fleet: Fleet, job: str = "j") -> int:
    told = fleet.hub.last(job)
    return told.fetched if told is not None else 0


def until_done(fleet: Fleet, job: str = "j") -> None:
    until(lambda: (job, "done") in fleet.hub.endings)


def pages_asked(fleet: Fleet) -> list[str]:
    return [path for path in fleet.site.asked if path != "/robots.txt"]


def test_a_job_is_done_and_the_next_is_asked_for_in_the_same_poll(fleet: Fleet) -> None:
    fleet.give("j")
    with fleet.running():
        until_done(fleet)

    [told] = [poll for poll in fleet.hub.polls if any(one.ending for one in poll.progress)][:1]
    assert told.wants_job
    assert told.progress[0].fetched == PAGES + 1
    assert sorted(pages_asked(fleet)) == sorted(pages_of(PAGES))
    assert [(one.pages, one.is_last) for one in fleet.hub.packages] == [(PAGES + 1, True)]
    assert any(poll.robots for poll in fleet.hub.polls)


def test_a_killed_job_process_is_started_again_and_no_page_is_fetched_twice(fleet: Fleet) -> None:
    slow(fleet)
    fleet.give("j")
    with fleet.running() as unit:
        until(lambda: fetched(fleet) > 4)
        os.kill(job_pid(unit), signal.SIGKILL)
        until_done(fleet)

    repeated = len(pages_asked(fleet)) - len(set(pages_asked(fleet)))
    assert repeated <= 1, "the request in flight"
    assert fleet.hub.packages[-1].pages == PAGES + 1


def test_a_killed_unit_takes_its_job_up_again(fleet: Fleet) -> None:
    slow(fleet)
    fleet.give("j")
    with fleet.running() as unit:
        until(lambda: fetched(fleet) > 4)
        job = job_pid(unit)
        os.kill(unit.pid, signal.SIGKILL)
        until(lambda: not Path(f"/proc/{job}").exists() or _is_zombie(job))
    fleet.hub.polls.clear()
    with fleet.running():
        until_done(fleet)

    assert len(pages_asked(fleet)) - len(set(pages_asked(fleet))) <= 1
    assert fleet.hub.polls[0].progress[0].job == "j"
    assert fleet.hub.packages[-1].pages == PAGES + 1


def _is_zombie(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


@pytest.mark.parametrize("which", ["all", "job"])
def test_a_unit_that_was_frozen_longer_than_its_lease_sends_no_request(
    fleet: Fleet, which: str
) -> None:
    slow(fleet)
    fleet.hub.lease_s = 3.0
    fleet.give("j")
    with fleet.running() as unit:
        until(lambda: fetched(fleet) > 2)
        job_pid(unit)
        pids = process_tree(unit.pid)
        for pid in pids if which == "all" else pids[1:]:
            os.kill(pid, signal.SIGSTOP)
        fleet.hub.stop.append("j")  # by now another unit has the job
        frozen_s = SystemClock().now_s()
        until(lambda: SystemClock().now_s() > frozen_s + 3.5)
        before = len(fleet.site.log)
        for pid in pids:
            _go_on(pid)
        until(lambda: fleet.hub.polls[-1].state == "idle" and not fleet.hub.polls[-1].progress)

        assert len(fleet.site.log) == before
    assert fleet.hub.endings == []


def _go_on(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def test_a_hub_that_is_away_is_waited_for_and_requests_stop_meanwhile(
    fleet: Fleet, tmp_path: Path
) -> None:
    slow(fleet)
    fleet.hub.lease_s = 3.0
    fleet.give("j")
    with fleet.running():
        until(lambda: fetched(fleet) > 2)
        fleet.hub.refuse = (503, b"")
        until(lambda: _is_quiet(fleet, 3.0))
        paused_at = len(fleet.site.log)
        assert paused_at < PAGES + 1
        fleet.hub.refuse = None
        until_done(fleet)

    assert len(pages_asked(fleet)) == len(set(pages_asked(fleet)))


def _is_quiet(fleet: Fleet, for_s: float) -> bool:
    """Whether the site was not asked for so long."""
    return fleet.site.was_asked(len(fleet.site.log), ago_s=for_s)


def test_a_revoked_unit_stops_and_says_so(fleet: Fleet) -> None:
    slow(fleet)
    fleet.give("j")
    with fleet.running() as unit:
        until(lambda: fetched(fleet) > 1)
        fleet.hub.refuse = (401, b'{"error": "the token was revoked"}')
        _, err = unit.communicate(timeout=WAIT_S)

    assert unit.returncode == 1
    assert "does not know this unit any more" in err
    assert fleet.home.exists()


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_unit_leaves_without_a_trace(fleet: Fleet, tmp_path: Path) -> None:
    fleet.do("stop")
    before = [name for name in files_below(tmp_path) if not name.startswith("unit")]
    slow(fleet)
    fleet.give("j")
    with fleet.running() as unit:
        until(lambda: fetched(fleet) > 1)
        job = job_pid(unit)
        deleted = fleet.do("delete", "--yes")
        unit.communicate(timeout=WAIT_S)

    assert deleted.returncode == 0, deleted.stderr
    assert files_below(tmp_path) == before
    assert not Path(f"/proc/{job}").exists()
    assert unit.returncode == 0
    assert fleet.hub.endings == [("j", "released")]


def test_a_second_visit_of_a_site_is_a_revisit(fleet: Fleet) -> None:
    fleet.give("one")
    with fleet.running():
        until_done(fleet, "one")
        fleet.give("two")
        until_done(fleet, "two")

    assert len(pages_asked(fleet)) == 2 * (PAGES + 1)
    assert fleet.hub.last("two").unchanged >= PAGES  # type: ignore[union-attr]


def test_a_ban_reaches_a_running_job(fleet: Fleet) -> None:
    slow(fleet)
    fleet.give("j")
    with fleet.running():
        until(lambda: fetched(fleet) > 2)
        fleet.hub.bans = BannedLines(version=1, lines=(f"{fleet.site.url('/')}19*",))
        until_done(fleet)

    assert "/19" not in fleet.site.asked
    assert fleet.hub.polls[-1].bans_version == 1


def test_orders_of_the_hub_and_the_owner_end_jobs_and_the_unit(fleet: Fleet) -> None:
    slow(fleet)
    fleet.give("j")
    with fleet.running() as unit:
        until(lambda: fetched(fleet) > 1)
        fleet.hub.pace = (SharedPace(address="127.0.0.1", factor=2.0),)
        fleet.hub.orders.append(UnitOrder(order=1, kind="stop_job", job="j"))
        until(lambda: ("j", "stopped") in fleet.hub.endings)
        fleet.give("k")
        until(lambda: fetched(fleet, "k") > fetched(fleet, "j"))  # it goes on with these pages
        assert fleet.do("stop", "--after").returncode == 0
        unit.communicate(timeout=WAIT_S)

    assert unit.returncode == 0
    assert ("k", "done") in fleet.hub.endings
    assert len(pages_asked(fleet)) - len(set(pages_asked(fleet))) <= 1
    assert not fleet.hub.orders


def test_a_private_site_that_the_owner_does_not_allow_is_not_requested(fleet: Fleet) -> None:
    (fleet.home / "unit.toml").write_text(SETTINGS.replace("127.0.0.0/8", "10.0.0.0/8"))
    fleet.give("j")
    with fleet.running():
        until(lambda: bool(fleet.hub.endings))

    assert fleet.site.log == []


def test_a_job_with_a_forbidden_option_fails_with_its_reason(fleet: Fleet) -> None:
    job = fleet.hub.job("j", fleet.site.url("/"))
    job.spec.options["header"] = ["A: b"]
    fleet.hub.to_give.append(job)
    with fleet.running():
        until(lambda: bool(fleet.hub.endings))

    assert fleet.hub.endings[0] == ("j", "failed")
    assert "'header' is not an option of a job" in fleet.hub.last("j").reason  # type: ignore[union-attr]
    assert fleet.site.log == []
