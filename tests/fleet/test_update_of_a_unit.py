"""A unit in its single file changes to the version that a real hub offers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.fleet.hub.package_store import PackageStore
from gossamer.fleet.protocol import JobSpec
from gossamer.fleet.update.bundle import UnitFile
from gossamer.fleet.update.versions import UpdateFolder
from support.a_hub import ServedHub, hub_server
from support.a_site import Pages, Request, page, robots, site_in_thread
from support.killing import WAIT_S, until
from support.unit_file import bare_command, bare_environment, built, restamped
from support.updates import UpdateLab

pytestmark = pytest.mark.slow
SETTINGS = 'when = "always"\npage_port = 0\nmin_free_bytes = 0\nallow_private = ["127.0.0.0/8"]\n'


@pytest.fixture(scope="module")
def unit_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnitFile]:
    yield built(tmp_path_factory.mktemp("built"))
    built.cache_clear()


@pytest.fixture
def lab(tmp_path: Path) -> UpdateLab:
    return UpdateLab(tmp_path)


@contextmanager
def running_unit(served: ServedHub, file: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A unit that has joined and works, until the block ends."""
    unit, environment = home / "unit", bare_environment(home)
    unit.mkdir(parents=True)
    (unit / "unit.toml").write_text(SETTINGS)
    code, _ = served.hub.invite()
    subprocess.run(
        bare_command(file, "unit", "join", served.origin, "-", "-d", unit),
        input=code.encode(),
        env=environment,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    with (home / "said").open("wb") as said:
        process = subprocess.Popen(
            bare_command(file, "unit", "run", "-d", unit), env=environment, stderr=said
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(WAIT_S)
        finally:
            process.kill()
            process.wait()


def version_at(served: ServedHub) -> str:
    """The version that the unit told in its last poll as a unit, not as a trial."""
    polls = [poll for poll in served.hub.unit_states.values() if poll.why != "trying an update"]
    return polls[0].version if polls else ""


def log_of(home: Path) -> str:
    return (home / "unit" / "log").read_text()


def test_a_unit_goes_to_the_new_version_and_stays_with_it_if_the_next_is_broken(
    unit_file: UnitFile, lab: UpdateLab, tmp_path: Path
) -> None:
    first = restamped(unit_file, tmp_path / "first.pyz", "1.0")
    home = tmp_path / "home"
    with (
        hub_server(lab.hub.parent, poll_s=0.2, wait_s=0.2) as served,
        running_unit(served, first, home) as process,
    ):
        until(lambda: version_at(served) == "1.0")
        lab.repository.offer(restamped(unit_file, tmp_path / "second.pyz", "1.1"))
        until(lambda: version_at(served) == "1.1")

        broken = {"fleet/update/health_main.py": "raise SystemExit('it is broken')"}
        lab.repository.offer(restamped(unit_file, tmp_path / "third.pyz", "1.2", **broken))
        until(lambda: "it is broken" in log_of(home))
        broken = {"fleet/unit/running.py": "raise SystemExit(5)"}
        lab.repository.offer(restamped(unit_file, tmp_path / "fourth.pyz", "1.3", **broken))
        folder = UpdateFolder(home / "unit" / "update")
        until(lambda: [bad.version for bad in folder.read().bad] == ["1.2", "1.3"])
        served.hub.unit_states.clear()
        until(lambda: version_at(served) == "1.1")
        assert process.poll() is None

    current = folder.read().current
    assert current is not None
    assert (current.version, folder.read().is_trial) == ("1.1", False)
    assert "Version 1.1 is ready; it starts after this job." in log_of(home)
    assert "Version 1.2 does not work here: it is broken." in log_of(home)
    kept = sorted(path.name for path in (folder.path / "versions").iterdir())
    assert kept == ["1.1"]


def test_an_update_that_is_forged_leaves_the_unit_at_work(
    unit_file: UnitFile, lab: UpdateLab, tmp_path: Path
) -> None:
    first = restamped(unit_file, tmp_path / "first.pyz", "1.0")
    home = tmp_path / "home"
    with (
        hub_server(lab.hub.parent, poll_s=0.2, wait_s=0.2) as served,
        running_unit(served, first, home),
    ):
        until(lambda: version_at(served) == "1.0")
        lab.repository.offer(restamped(unit_file, tmp_path / "second.pyz", "1.1"))
        (target,) = (lab.hub / "repository" / "targets").glob("*/*")
        with target.open("r+b") as file:  # it is offered only when the hub looks at it again
            file.seek(-100, os.SEEK_END)
            file.write(b"forged")
        until(lambda: "the file differs from the one that was signed" in log_of(home))

    assert version_at(served) == "1.0"
    assert log_of(home).count("differs from the one that was signed") == 1


def test_a_unit_ends_its_job_before_it_goes_to_the_new_version(
    unit_file: UnitFile, lab: UpdateLab, tmp_path: Path
) -> None:
    first = restamped(unit_file, tmp_path / "first.pyz", "1.0")
    home, may_continue = tmp_path / "home", threading.Event()

    async def slow(request: Request) -> bytes:
        await asyncio.to_thread(may_continue.wait)
        return page("<p>text")

    pages: Pages = {"/robots.txt": robots(""), "/": page("<a href=/b>b</a>"), "/b": slow}
    with (
        site_in_thread(pages) as site,
        hub_server(lab.hub.parent, poll_s=0.2, wait_s=0.2) as served,
        running_unit(served, first, home),
    ):
        store = PackageStore(lab.hub.parent, tmp_path / "collection", SystemClock())
        store.attach(served.hub)
        spec = JobSpec(kind="site", seeds=(site.url(),), options={"delay": 0})
        (job,) = served.hub.add_jobs([spec])
        try:
            until(lambda: "/b" in site.asked)
            lab.repository.offer(restamped(unit_file, tmp_path / "second.pyz", "1.1"))
            until(lambda: "Version 1.1 is ready; it starts after this job." in log_of(home))
            until(lambda: version_at(served) == "1.0")  # the trial of 1.1 may have polled last
            assert job.state == "allocated"
            may_continue.set()
            until(lambda: version_at(served) == "1.1")
        finally:
            may_continue.set()
            store.close()

    assert (job.state, job.fence) == ("done", 1)
    assert [site.asked.count(path) for path in ("/", "/b")] == [1, 1]
