"""The program under strace: what it asks the kernel for, in which order, and faults on demand."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.killing import Ended
from support.need import need_program

WAIT_S: Final = 120.0
_CALL: Final = re.compile(r"(\d+) +(\w+)\((.*)")
_RESUMED: Final = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)")
_FILE: Final = re.compile(r"\d+<([^>]*)>|\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a thread. Positions in the trace: where it began and where it had ended."""

    thread: int
    name: str
    paths: tuple[str, ...]  # of the file, or of both files of a rename
    began: int
    ended: int
    result: int
    is_injected: bool

    @property
    def path(self) -> str:
        return self.paths[0] if self.paths else ""


def traced(
    trace: Path,
    calls: Sequence[str],
    *args: str | Path,
    inject: str = "",
    only: Path | None = None,
) -> tuple[Ended, list[Call]]:
    """`gossamer ARGS...` to its end, and the named calls of all its processes and threads.

    `inject` is what strace is to do to them: `error=ENOSPC:when=7` fails the seventh of each name
    in each thread. With `only`, calls for that file are meant and no others.
    """
    strace = need_program("strace")
    named = ",".join(calls)
    faults = ["-e", f"inject={named}:{inject}"] if inject else []
    if only is not None:
        faults += ["-P", str(only)]
    tracing = [str(strace), "-f", "-y", "-qq", "-s", "0", "-e", f"trace={named}", *faults, "-o"]
    ran = subprocess.run(
        [*tracing, str(trace), sys.executable, "-m", "gossamer", *map(str, args)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    return Ended(ran.returncode, ran.stdout, ran.stderr), list(calls_of(trace))


def calls_of(trace: Path) -> Iterator[Call]:
    """The calls of a trace, in the order in which they ended."""
    begun: dict[int, tuple[str, tuple[str, ...], int]] = {}
    for number, line in enumerate(trace.read_text(errors="replace").splitlines()):
        if found := _CALL.match(line):
            thread, name, rest = int(found[1]), found[2], found[3]
            paths = tuple(file or text for file, text in _FILE.findall(rest))
            if "<unfinished" in rest:
                begun[thread] = (name, paths, number)
            else:
                yield Call(thread, name, paths, number, number, *_result(rest))
        elif found := _RESUMED.match(line):
            thread = int(found[1])
            if thread in begun:
                name, paths, began = begun.pop(thread)
                yield Call(thread, name, paths, began, number, *_result(found[3]))


def _result(text: str) -> tuple[int, bool]:
    """What a call returned, and whether that is a lie of strace."""
    found = re.search(r"\) += (-?\d+)", text)
    return int(found[1]) if found else -1, "(INJECTED)" in text
