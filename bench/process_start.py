"""What does it cost to start the workers of a crawl? Three ways compared.

    python -m bench.process_start [--rounds 7]

Each way starts in a new process that has loaded what `gossamer crawl` loads, and is over when all
workers have loaded their modules and answered. One line of JSON for each way and number of workers:
CPU time of all processes, wall time, and the memory of all of them together (PSS). Linux only.
`docs/adr/0014-child-processes.md` has a run of it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

from gossamer.base import processes

MODULE = "bench.process_start"
PARENT = ("gossamer.cli.main", "gossamer.cli.run.run_crawl")
WORKER = ("uvloop", "gossamer.workers.worker_main", "pyarrow.parquet", "gossamer.graph.part_table")
COUNTS = (1, 2, 4)
ROOT = Path(__file__).parents[1]
SERVER: Any = vars(forkserver)["_forkserver"]  # what the library keeps to itself
TRACKER: Any = vars(resource_tracker)["_resource_tracker"]


def load(names: tuple[str, ...]) -> None:
    for name in names:
        importlib.import_module(name)


def be_worker(theirs: socket.socket) -> None:
    load(WORKER)
    theirs.sendall(b"!")
    theirs.recv(1)


def start_by_fork(theirs: socket.socket, others: list[socket.socket]) -> int:
    load(WORKER)
    return processes.fork(lambda: be_worker(theirs), others).pid


def start_by_fork_server(theirs: socket.socket, _others: list[socket.socket]) -> int:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([MODULE, *WORKER])
    target = importlib.import_module(MODULE).be_worker  # not __main__, which it would load as well
    process = context.Process(target=target, args=(theirs,))
    process.start()
    assert process.pid is not None
    return process.pid


def start_by_subprocess(theirs: socket.socket, _others: list[socket.socket]) -> int:
    return processes.start(MODULE, "--worker", str(theirs.fileno()), inherit=[theirs]).pid


WAYS: dict[str, Callable[[socket.socket, list[socket.socket]], int]] = {
    "fork": start_by_fork,
    "fork server": start_by_fork_server,
    "subprocess": start_by_subprocess,
}


def measure(way: str, count: int) -> dict[str, float]:
    """In a process of its own: nothing is loaded yet."""
    load(PARENT)
    began_cpu_s, began_s = cpu_s(), time.monotonic()
    ends: list[socket.socket] = []
    pids = [os.getpid()]
    for _ in range(count):
        ours, theirs = socket.socketpair()
        ends.append(ours)
        pids.append(WAYS[way](theirs, ends))
        theirs.close()
    assert all(ours.recv(1) for ours in ends)
    took_s = time.monotonic() - began_s
    if way == "fork server":
        pids += [SERVER._forkserver_pid, TRACKER._pid]
    memory_mb = sum(map(pss_mb, pids))
    for ours in ends:
        ours.close()
    if way == "fork server":
        SERVER._stop()
        TRACKER._stop()
    else:
        for pid in pids[1:]:
            os.waitpid(pid, 0)
    return {
        "cpu_ms": (cpu_s() - began_cpu_s) * 1e3,
        "wall_ms": took_s * 1e3,
        "memory_mb": memory_mb,
    }


def cpu_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def pss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def main(rounds: int) -> None:
    found: dict[tuple[str, int], list[dict[str, float]]] = {}
    for _ in range(rounds):
        for count in COUNTS:
            for way in WAYS:
                command = [sys.executable, "-m", MODULE, "--measure", way, str(count)]
                output = subprocess.run(command, capture_output=True, check=True).stdout
                found.setdefault((way, count), []).append(json.loads(output))
    for (way, count), rows in found.items():
        middle = {key: round(statistics.median(row[key] for row in rows)) for key in rows[0]}
        print(json.dumps({"bench": "process_start", "way": way, "workers": count, **middle}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        processes.use_one_blas_thread(os.environ)
        os.environ["PYTHONPATH"] = str(ROOT)  # children do not look into the current directory
        print(json.dumps(measure(given.measure[0], int(given.measure[1]))))
    elif given.worker is not None:
        be_worker(socket.socket(fileno=given.worker))
    else:
        main(given.rounds)
