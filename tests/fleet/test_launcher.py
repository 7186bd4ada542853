"""The launcher starts the version that works, and goes back to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gossamer.fleet.update.launcher import SWITCH, Launcher
from gossamer.fleet.update.versions import UpdateFolder, UpdateState, VersionFile
from support.killing import WAIT_S, until

UNIT = """
import os, sys, time
from pathlib import Path
from gossamer.fleet.update.versions import UpdateFolder, VersionFile

version, base = {version!r}, Path(sys.argv[1])
folder = UpdateFolder(base / "update")
with (base / "log").open("a") as log:
    print(version, os.environ["GOSSAMER_LAUNCHED"], os.environ.get("SHIV_ROOT", "-"), file=log)

def stage(other):
    file = VersionFile(version=other, sha256=other, file=str(base / f"{{other}}.pyz"))
    folder.write(folder.read().with_staged(file))
    sys.exit(75)

def confirm():
    folder.write(folder.read().confirmed())

def wait():
    while True:
        time.sleep(60)

{code}
"""


def a_file(folder: Path, version: str, code: str) -> Path:
    """A file that does this in the place of a unit."""
    path = folder / f"{version}.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.py", UNIT.format(version=version, code=code))
    return path


@pytest.fixture(autouse=True)
def keep_signals() -> object:
    """The launcher sets its own; this process is not one for good."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(folder: Path, own: Path, health_s: float = WAIT_S) -> tuple[int, list[str]]:
    """The exit code, and the versions that ran."""
    os.environ["SHIV_ROOT"] = "of the launcher"
    try:
        code = Launcher(folder / "update", own, [str(folder)], health_s).run()
    finally:
        del os.environ["SHIV_ROOT"]
    lines = (folder / "log").read_text().splitlines()
    assert all(line.split()[1:] == ["1", "-"] for line in lines), lines
    return code, [line.split()[0] for line in lines]


def state_in(folder: Path) -> UpdateState:
    return UpdateFolder(folder / "update").read()


def test_a_unit_that_ends_ends_the_launcher_with_its_code(tmp_path: Path) -> None:
    own = a_file(tmp_path, "1.0", "sys.exit(2)")

    assert run(tmp_path, own) == (2, ["1.0"])


def test_a_staged_version_is_started_and_confirmed(tmp_path: Path) -> None:
    own = a_file(tmp_path, "1.0", "stage('1.1')")
    a_file(tmp_path, "1.1", "confirm()")

    assert run(tmp_path, own) == (0, ["1.0", "1.1"])
    current = state_in(tmp_path).current
    assert current is not None
    assert (current.version, state_in(tmp_path).is_trial) == ("1.1", False)
    # The next start of the machine runs it at once.
    assert run(tmp_path, own) == (0, ["1.0", "1.1", "1.1"])


@pytest.mark.parametrize(
    ("code", "health_s", "why"),
    [
        ("sys.exit(1)", WAIT_S, "it did not poll the hub (exit code 1)"),
        ("os.kill(os.getpid(), 9)", WAIT_S, "it did not poll the hub (exit code -9)"),
        ("wait()", 0.5, "it did not poll the hub (exit code -9)"),
    ],
)
def test_a_version_that_does_not_work_is_rolled_back(
    tmp_path: Path, code: str, health_s: float, why: str
) -> None:
    own = a_file(tmp_path, "1.0", "sys.exit(0) if folder.read().bad else stage('1.1')")
    a_file(tmp_path, "1.1", code)

    ended, ran = run(tmp_path, own, health_s)

    # One that is killed for being late may not have come as far as writing its line.
    assert (ended, ran[0], ran[-1], len(ran) > 1) == (0, "1.0", "1.0", True)
    state = state_in(tmp_path)
    assert state.current is None
    assert [(bad.version, bad.why) for bad in state.bad] == [("1.1", why)]


def test_a_later_version_that_fails_goes_back_to_the_one_before(tmp_path: Path) -> None:
    own = a_file(tmp_path, "1.0", "stage('1.1')")
    a_file(tmp_path, "1.1", "confirm()\nsys.exit(0) if folder.read().bad else stage('1.2')")
    a_file(tmp_path, "1.2", "sys.exit(3)")

    assert run(tmp_path, own) == (0, ["1.0", "1.1", "1.2", "1.1"])


def test_a_version_whose_file_is_gone_gives_way_to_the_first_one(tmp_path: Path) -> None:
    own = a_file(tmp_path, "1.0", "")
    gone = VersionFile(version="1.1", sha256="x", file=str(tmp_path / "gone.pyz"))
    UpdateFolder(tmp_path / "update").write(UpdateState(current=gone))

    assert run(tmp_path, own) == (0, ["1.0"])


def test_a_unit_that_wants_to_switch_to_nothing_ends(tmp_path: Path) -> None:
    own = a_file(tmp_path, "1.0", "sys.exit(75)")

    assert run(tmp_path, own) == (SWITCH, ["1.0"])


@pytest.mark.slow
def test_the_launcher_ends_with_its_unit_on_a_signal(tmp_path: Path) -> None:
    own = a_file(tmp_path, "1.0", "wait()")
    code = (
        "import sys; from pathlib import Path; from gossamer.fleet.update.launcher import Launcher;"
        "path = Path(sys.argv[1]);"
        "sys.exit(Launcher(path / 'update', Path(sys.argv[2]), [str(path)]).run() + 100)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path, own])
    try:
        until((tmp_path / "log").exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 100 - signal.SIGTERM
    finally:
        process.kill()
        process.wait()


def test_only_versions_that_are_needed_are_kept(tmp_path: Path) -> None:
    folder = UpdateFolder(tmp_path / "update")
    files = {}
    for version in ("1.0", "1.1", "1.2", "1.3"):
        place = folder.folder_of(version)
        place.mkdir(parents=True)
        files[version] = VersionFile(
            version=version, sha256=version, file=str(place / "gossamer-unit.pyz")
        )
    folder.write(UpdateState(current=files["1.2"], previous=files["1.1"]))

    folder.tidy(Path(files["1.3"].file))

    kept = sorted(path.name for path in (folder.path / "versions").iterdir())
    assert kept == ["1.1", "1.2", "1.3"]


def test_a_state_that_cannot_be_read_is_a_new_one(tmp_path: Path) -> None:
    folder = UpdateFolder(tmp_path)
    (tmp_path / "state.json").write_text('{"current": 1')

    assert folder.read() == UpdateState()
