"""What does a crawl take while it runs, process by process?

Runs `gossamer crawl` in a session of its own, with no settings of whoever runs us, and reads
/proc(5) now and then: CPU, memory, open files and threads of the node and of each worker. What
`bench/tree.py` says of the whole at the end, this says of the parts on the way.

Left out: processes that live for less than one look.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE_MB: Final = os.sysconf("SC_PAGE_SIZE") / 2**20
_LOOK_EVERY_S: Final = 0.1
_LONGEST_S: Final = 7200.0


@dataclass(frozen=True, slots=True)
class Vitals:
    """One process at one moment."""

    pid: int
    cpu_s: float  # without those it has waited for
    rss_mb: float
    handles: int
    threads: int


@dataclass(frozen=True, slots=True)
class Look:
    """A crawl at one moment: its node, the workers that the node has, and what merges links."""

    at_s: float
    node: Vitals
    workers: tuple[Vitals, ...]
    others: tuple[Vitals, ...] = ()

    @property
    def rss_mb(self) -> float:
        return sum(one.rss_mb for one in self._all)

    @property
    def lasting_mb(self) -> float:
        """Memory of the processes that live as long as the crawl."""
        return sum(one.rss_mb for one in (self.node, *self.workers))

    @property
    def handles(self) -> int:
        return sum(one.handles for one in self._all)

    @property
    def threads(self) -> int:
        return sum(one.threads for one in self._all)

    @property
    def _all(self) -> tuple[Vitals, ...]:
        return (self.node, *self.workers, *self.others)


@dataclass(frozen=True, slots=True)
class Crawled:
    """A crawl that has ended."""

    exit: int
    wall_s: float
    cpu_s: float  # of all its processes
    node_cpu_s: float  # of the node alone, at the last look
    summary: dict[str, Any]  # what `crawl --json` says

    @property
    def peak_mb(self) -> float:
        """The most memory that the node has had."""
        return float(self.summary["peak_rss_mb"])


def crawl(
    arguments: Sequence[str],
    log: Path,
    see: Callable[[Look], None] | None = None,
    every_s: float = _LOOK_EVERY_S,
) -> Crawled:
    """Run `gossamer crawl ARGUMENTS --json` to its end; `see` is shown each look."""
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "gossamer", "crawl", *arguments, "--json"]
    began_s = time.perf_counter()
    with log.open("wb") as talk:
        node = subprocess.Popen(
            command,
            env=own_environment(log.parent),
            stdout=subprocess.PIPE,
            stderr=talk,
            start_new_session=True,
        )
        try:
            node_cpu_s = _watch(node.pid, began_s, see, every_s)
            assert node.stdout is not None, "it is a pipe"
            told = node.stdout.read()
            _, status, usage = os.wait4(node.pid, 0)
        except BaseException:
            os.killpg(node.pid, signal.SIGKILL)
            raise
    node.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - began_s
    if not told:
        sys.exit(f"the crawl said nothing and ended with {node.returncode}; see {log}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Crawled(node.returncode, wall_s, cpu_s, node_cpu_s, json.loads(told))


def _watch(pid: int, began_s: float, see: Callable[[Look], None] | None, every_s: float) -> float:
    """Look until the process has ended and only waits to be reaped; its CPU at the last look."""
    cpu_s = 0.0
    look_at_s = time.perf_counter()
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        node = vitals_of(pid)
        if node is not None:
            cpu_s = max(cpu_s, node.cpu_s)
            if see is not None:
                see(Look(time.perf_counter() - began_s, node, *_children(pid)))
        if time.perf_counter() - began_s > _LONGEST_S:
            raise TimeoutError(f"the crawl did not end within {_LONGEST_S:.0f} s")
        look_at_s = max(look_at_s + every_s, time.perf_counter() + every_s / 2)
        time.sleep(look_at_s - time.perf_counter())
    return cpu_s


def _children(pid: int) -> tuple[tuple[Vitals, ...], tuple[Vitals, ...]]:
    """A node's workers, and its other processes, which come and go."""
    found: tuple[list[Vitals], list[Vitals]] = ([], [])
    for child in children_of(pid):
        vitals = vitals_of(child)
        if vitals is not None:
            found[_is_of_the_graph(child)].append(vitals)
    return tuple(found[0]), tuple(found[1])


def _is_of_the_graph(pid: int) -> bool:
    try:
        return b"gossamer.graph" in (Path("/proc") / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False


def vitals_of(pid: int) -> Vitals | None:
    """A process as /proc has it; None when it is gone, or has ended and waits to be reaped."""
    home = Path("/proc") / str(pid)
    try:
        stat = (home / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        handles = sum(1 for _ in (home / "fd").iterdir())
    except OSError:
        return None
    if stat[0] == "Z":
        return None
    # proc_pid_stat(5), fields counted from the third: 14 utime, 15 stime, 20 threads, 24 rss
    cpu_s = (int(stat[11]) + int(stat[12])) / _TICKS
    return Vitals(pid, cpu_s, int(stat[21]) * _PAGE_MB, handles, int(stat[17]))


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and not yet reaped."""
    found: list[int] = []
    try:
        for task in (Path("/proc") / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text(encoding="utf-8").split())
    except OSError:
        return found
    return found


def own_environment(home: Path) -> dict[str, str]:
    """The environment without settings, proxies and the home of whoever runs us."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GOSSAMER_", "XDG_")) and not name.lower().endswith("_proxy")
    }
    return {**kept, "HOME": str(home)}


class LineCount:
    """How many lines a growing file has; each is an outcome."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._lines = 0

    def now(self) -> int:
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            self._read += len(new)
            self._lines += new.count(b"\n")
        return self._lines
