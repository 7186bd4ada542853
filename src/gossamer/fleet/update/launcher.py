"""Starts the version of a unit that is current, and goes back if a new one does not work.

`unit run` of a single file is this small process; the unit is its child. When the unit ends with
SWITCH, the staged version is tried: it must poll the hub within `health_s`. If it ends before or is
too late, it is noted as bad, and the version before runs again. A unit that a signal killed is
started again after a while; every other end is the end of this process, with the same exit code.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from gossamer.base.clock import SystemClock
from gossamer.base.processes import Started, StillRunning, end, single_file, start_file
from gossamer.fleet.update.versions import UpdateFolder, UpdateState

SWITCH: Final = 75  # exit code of a unit that wants the staged version
LAUNCHED: Final = "GOSSAMER_LAUNCHED"  # variable: a launcher has started this process
_HEALTH_S: Final = 120.0
_AGAIN_S: Final = 10.0
_LOOK_S: Final = 0.2


class Launcher:
    """Of the unit in one directory."""

    def __init__(
        self, update: Path, own_file: Path, words: Sequence[str], health_s: float = _HEALTH_S
    ) -> None:
        self._folder = UpdateFolder(update)
        self._own_file = own_file
        self._words = words
        self._health_s = health_s
        self._child: Started | None = None
        self._ending = threading.Event()
        self._clock = SystemClock()

    def run(self) -> int:
        """Run units until one ends for good; its exit code."""
        self._forward_signals()
        while True:
            state = self._folder.read()
            problem = self._start(state)
            code = 1 if problem else self._wait(state)
            if self._ending.is_set() or code == 0:
                return code
            after = self._folder.read()
            if after.is_trial and state.is_trial:
                self._roll_back(after, problem or f"it did not poll the hub (exit code {code})")
            elif code == SWITCH and after.staged is not None:
                self._folder.write(after.tried())
            elif code > 0 or self._ending.wait(_AGAIN_S):
                return code

    def _start(self, state: UpdateState) -> str:
        """Start the current version; what went wrong, empty if nothing did."""
        file = self._own_file if state.current is None else Path(state.current.file)
        if not file.is_file():
            if state.current is None:
                return f"{file} is missing"
            self._folder.write(UpdateState(bad=state.bad))  # back to the file of the first start
            file = self._own_file
        try:
            self._child = start_file(file, *self._words, more={LAUNCHED: "1"})
        except OSError as fault:
            return f"it cannot be started ({fault.strerror})"
        if self._ending.is_set():  # the signal came while there was no unit
            self._child.terminate()
        return ""

    def _wait(self, state: UpdateState) -> int:
        """The exit code of the child. One on trial that does not poll in time is killed."""
        child = self._child
        assert child is not None, "it was started"
        until_s = self._clock.now_s() + self._health_s
        while True:
            try:
                return child.wait(_LOOK_S if state.is_trial else None)
            except StillRunning:
                pass
            if not self._folder.read().is_trial:
                return child.wait()
            if self._clock.now_s() >= until_s:
                end(child)

    def _roll_back(self, state: UpdateState, why: str) -> None:
        version = state.current.version if state.current is not None else ""
        self._folder.write(state.rolled_back(why))
        self._folder.tidy(self._own_file)
        print(f"gossamer: version {version} does not work here: {why}", file=sys.stderr, flush=True)

    def _forward_signals(self) -> None:
        signal.signal(signal.SIGTERM, self._forward)
        signal.signal(signal.SIGINT, self._forward)

    def _forward(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._ending.set()
        # A Ctrl-C on the terminal reaches the unit by itself.
        if self._child is not None and number == signal.SIGTERM:
            self._child.send_signal(number)


def must_launch(words: Sequence[str]) -> bool:
    """Whether this process of a single file is to be the launcher."""
    is_run = list(words[:2]) == ["unit", "run"] and not {"-h", "--help"} & set(words)
    return is_run and LAUNCHED not in os.environ and single_file() is not None


def launch(directory: Path, words: Sequence[str]) -> int:
    """Run the unit in a directory, in whichever version; its exit code."""
    own_file = single_file()
    assert own_file is not None, "only a single file can be replaced"
    return Launcher(directory / "update", own_file, words).run()
