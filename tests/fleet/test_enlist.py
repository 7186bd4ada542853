"""A unit comes to a machine by SSH, works, and leaves without trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.errors import StoreError, UsageError
from gossamer.fleet.update.bundle import UnitFile
from gossamer.fleet.update.enlist import Invitation, enlist, remove
from gossamer.fleet.update.ssh import SshHost
from support.a_hub import ServedHub, hub_server
from support.an_sshd import PROGRAM, ServedMachine, an_sshd
from support.killing import until
from support.unit_file import bare_python, built
from support.updates import small_file

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM, reason="the program sshd is missing (openssh-server)"),
]


@pytest.fixture(scope="module")
def unit_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnitFile]:
    yield built(tmp_path_factory.mktemp("built"))
    built.cache_clear()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[ServedMachine]:
    with an_sshd(tmp_path / "machine") as served:
        yield served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedHub]:
    with hub_server(tmp_path / "hub", poll_s=0.2, wait_s=0.2) as served:
        yield served


def by_ssh(
    machine: ServedMachine, identity: Path | None = None, known_hosts: Path | None = None
) -> SshHost:
    return SshHost(
        "127.0.0.1", machine.user, machine.port, identity or machine.identity,
        known_hosts or machine.known_hosts,
    )  # fmt: skip


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def nobody() -> Invitation:
    raise AssertionError("no code is needed")


def test_a_machine_is_enlisted_and_left_without_trace(
    unit_file: UnitFile, machine: ServedMachine, served: ServedHub
) -> None:
    (machine.home / "own").write_text("of somebody")
    before = files_in(machine.home)
    host = by_ssh(machine)

    done = enlist(host, unit_file.path, lambda: Invitation(served.origin, served.hub.invite()[0]))

    assert "Joined https://127.0.0.1" in done.said
    until(lambda: len(served.hub.unit_states) == 1)
    with pytest.raises(UsageError, match=r"has a unit in \.gossamer-unit; remove it first"):
        enlist(host, unit_file.path, nobody)
    (unit,) = served.hub.unit_states
    assert files_in(machine.home) - before >= {".gossamer-unit/unit.json"}

    assert remove(host) == "127.0.0.1 has nothing of the unit any more."

    assert files_in(machine.home) == before
    until(lambda: served.hub.unit_states[unit].state == "stopped")
    until(lambda: no_process_of(machine.home))
    assert remove(host) == "127.0.0.1 has nothing of the unit any more."  # again: nothing to do


def no_process_of(home: Path) -> bool:
    """Whether no process has a file of this home in its command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return not any(os.fsencode(home / ".gossamer-unit") in command for command in found)


def test_a_machine_that_cannot_join_is_left_as_it_was(
    unit_file: UnitFile, machine: ServedMachine, served: ServedHub
) -> None:
    with pytest.raises(StoreError, match=r"^127\.0\.0\.1: .*code"):
        enlist(by_ssh(machine), unit_file.path, lambda: Invitation(served.origin, "wrong"))

    assert files_in(machine.home) == set()


def test_a_file_for_another_python_is_refused_before_it_is_copied(
    machine: ServedMachine, tmp_path: Path
) -> None:
    file = small_file(tmp_path, "1.0", python="3.99")

    with pytest.raises(UsageError, match=r"and the file is for Python 3\.99 on"):
        enlist(by_ssh(machine), file, nobody)

    assert files_in(machine.home) == set()
    assert bare_python()


def test_files_of_others_are_not_touched(machine: ServedMachine, tmp_path: Path) -> None:
    (machine.home / ".gossamer-unit" / "update").mkdir(parents=True)
    (machine.home / ".gossamer-unit" / "update" / "own").write_text("of somebody")
    before = files_in(machine.home)

    with pytest.raises(UsageError, match="has other files; choose a new one"):
        enlist(by_ssh(machine), small_file(tmp_path, "1.0"), nobody)
    assert "has other files in .gossamer-unit, which were left" in remove(by_ssh(machine))

    assert files_in(machine.home) == before


def test_an_unknown_machine_and_a_wrong_key_are_refused(
    machine: ServedMachine, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(StoreError, match="its key is unknown or has changed"):
        remove(by_ssh(machine, known_hosts=tmp_path / "empty"))
    other = tmp_path / "machine" / "host"  # a key that is not allowed
    with pytest.raises(StoreError, match="it accepts no key of yours"):
        remove(by_ssh(machine, identity=other))
