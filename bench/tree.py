"""What does a program cost, with everything that it starts?

    python -m bench.tree RESULT.json PROGRAM [ARGUMENT...]

Runs the program and writes its wall time, and the CPU time and exit code of its whole process tree.
A process of its own, because it must be the one that reaps: with the sub-reaper flag (prctl(2))
also children whose parents have gone come to us, so that no worker's time is lost. What a child
itself has waited for is in its own figures already (wait4(2)).

Left out: what the program asks of servers that run already.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run of a program and all its processes."""

    exit: int
    wall_s: float
    cpu_s: float
    peak_mb: float  # of the largest process, not their sum


def run(command: list[str]) -> Cost:
    """Run a command to the end of its last process."""
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError("the kernel gives us no children of children")
    began_s = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    cpu_s = peak_mb = 0.0
    code = 0
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return Cost(code, time.perf_counter() - began_s, cpu_s, peak_mb)
        cpu_s += usage.ru_utime + usage.ru_stime
        peak_mb = max(peak_mb, usage.ru_maxrss / 1024)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(asdict(run(sys.argv[2:]))), encoding="utf-8")
