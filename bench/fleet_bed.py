"""A hub and units as processes of this machine, for the benches and tests of the fleet.

    with fleet_bed(folder, network) as bed:
        bed.add_units(10)
        bed.add_jobs(["http://127.0.13.1:8000/"])
        bed.units[3].kill(); bed.units[3].start()

Only the command line is used, as an operator does. With a network of namespaces each unit is on a
machine of its own behind a firewall; without one all of them are on loopback.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.fleet_network import HUB_ADDRESS, UnitNetwork
from bench.fleet_sites import free_port

_READY_S: Final = 60.0
_JOIN_LINE: Final = re.compile(r"unit join (\S+) (\S+)")
_PROGRAM: Final = (sys.executable, "-m", "gossamer")


@dataclass(slots=True)
class BedUnit:
    """One unit: a directory, and a process while it runs."""

    number: int
    home: Path
    within: list[str]
    log: Path
    program: tuple[str, ...] = _PROGRAM
    process: subprocess.Popen[bytes] | None = None
    is_frozen: bool = False

    def run(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """A command on its machine, until it ends."""
        command = [*self.within, *self.program, *words, "-d", str(self.home)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = [*self.within, *self.program, "unit", "run", "-d", str(self.home)]
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self.is_frozen = False

    def _signal(self, which: signal.Signals) -> None:
        """To all its processes: the machine as a whole freezes or loses its power."""
        if self.process is not None and self.process.poll() is None:
            for group in self.groups():
                try:
                    os.killpg(group, which)
                except (ProcessLookupError, PermissionError):
                    continue

    def groups(self) -> set[int]:
        """The process groups of the unit and of everything that it started."""
        assert self.process is not None
        found = {os.getpgid(self.process.pid)}
        for pid in descendants(self.process.pid):
            try:
                found.add(os.getpgid(pid))
            except ProcessLookupError:
                continue
        return found

    def kill(self) -> None:
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
            self.process = None

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)
        self.is_frozen = False


@dataclass(slots=True)
class FleetBed:
    """A running hub with its units."""

    home: Path
    network: UnitNetwork | None
    hub: subprocess.Popen[bytes]
    hub_home: Path
    units: list[BedUnit] = field(default_factory=list)
    unit_settings: Mapping[str, object] = field(default_factory=dict)

    def ask(self, *words: str) -> Any:
        """The JSON answer of a `gossamer hub` command."""
        command = [*_within_hub(self.network), *_PROGRAM, "hub", *words]
        made = subprocess.run(
            [*command, "-d", str(self.hub_home), "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise RuntimeError(f"gossamer hub {' '.join(words)}: {made.stderr}")
        lines = [json.loads(line) for line in made.stdout.splitlines() if line.strip()]
        return lines[0] if len(lines) == 1 else lines

    def invite(self) -> tuple[str, str]:
        """The hub's URL and a code for one unit."""
        command = [*_within_hub(self.network), *_PROGRAM, "hub", "invite", "-d", str(self.hub_home)]
        made = subprocess.run(command, capture_output=True, text=True, check=True)
        found = _JOIN_LINE.search(made.stdout + made.stderr)
        assert found, made.stdout + made.stderr
        return found[1], found[2]

    def add_units(self, count: int, program: tuple[str, ...] = _PROGRAM) -> None:
        """Join so many units and start them."""
        for _ in range(count):
            number = len(self.units)
            within = self.network.of_unit(number) if self.network else []
            home = self.home / f"unit-{number}"
            unit = BedUnit(number, home, within, self.home / f"unit-{number}.log", program)
            url, code = self.invite()
            joined = unit.run("unit", "join", url, code)
            assert joined.returncode == 0, joined.stderr
            _write_toml(home / "unit.toml", {"name": f"unit-{number}", **self.unit_settings})
            unit.start()
            self.units.append(unit)

    def add_jobs(self, seeds: Sequence[str], *flags: str) -> Any:
        """One job for each line of seeds."""
        listed = self.home / f"jobs-{time.monotonic_ns()}.txt"
        listed.write_text("".join(f"{seed}\n" for seed in seeds), encoding="utf-8")
        return self.ask("add", str(listed), *flags)

    def until(self, is_so: Callable[[], bool], within_s: float, what: str) -> None:
        """Wait for a condition. Raises TimeoutError."""
        until_s = time.monotonic() + within_s
        while not is_so():
            if time.monotonic() > until_s:
                raise TimeoutError(f"{what}: not within {within_s:.0f} s")
            if self.hub.poll() is not None:
                raise RuntimeError(f"the hub ended: {self.hub_log()}")
            time.sleep(0.2)

    def hub_log(self) -> str:
        return (self.home / "hub.log").read_text(encoding="utf-8", errors="replace")[-2000:]

    def stop(self) -> None:
        for unit in self.units:
            unit.kill()
        self.hub.terminate()
        self.hub.wait()


@contextmanager
def fleet_bed(
    home: Path,
    network: UnitNetwork | None = None,
    *,
    hub: Mapping[str, object] | None = None,
    unit: Mapping[str, object] | None = None,
) -> Iterator[FleetBed]:
    """A hub while the block runs. `hub` and `unit` are settings of their files."""
    hub_home = home / "hub"
    hub_home.mkdir(parents=True)
    address = HUB_ADDRESS if network else "127.0.0.1"
    port = free_port()
    settings = {"host": address, "port": port, "names": [address], **(hub or {})}
    _write_toml(hub_home / "hub.toml", settings)
    secret = home / "token"
    secret.touch(mode=0o600)
    secret.write_text("a-token-of-the-fleet-bed\n", encoding="utf-8")
    command = [*_within_hub(network), *_PROGRAM, "hub", "serve", "-d", str(hub_home)]
    command += ["--token-file", str(secret)]
    with (home / "hub.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    bed = FleetBed(home, network, process, hub_home, unit_settings=unit or {})
    try:
        bed.until((hub_home / "run" / "access.json").exists, _READY_S, "start of the hub")
        yield bed
    finally:
        bed.stop()


def _within_hub(network: UnitNetwork | None) -> list[str]:
    return network.of_hub if network else []


def _write_toml(path: Path, values: Mapping[str, object]) -> None:
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    path.write_text("".join(lines), encoding="utf-8")


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            children = [c for t in tasks for c in (t / "children").read_text().split()]
        except OSError:
            continue
        found += map(int, children)
        waiting += map(int, children)
    return found
