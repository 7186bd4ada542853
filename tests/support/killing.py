"""Run the program as a separate process, send it signals, kill it.

    with started("crawl", "-c", collection, site.url()) as running:
        until(lambda: len(site.log) > 20)
        running.send_signal(signal.SIGINT)
        ended = finish(running)
    assert ended.code == 11

No process outlives its block, whatever a test does.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gossamer.archive.reader import iter_exchanges
from gossamer.cli.main import run
from gossamer.errors import CorruptFile

WAIT_S: Final = 90.0  # far more than needed; after it the test has failed

Running = subprocess.Popen[str]


@dataclass(frozen=True, slots=True)
class Ended:
    """The exit code and the output of a process."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        """The object that `crawl --json` prints."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@contextmanager
def started(
    *args: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[Running]:
    """Run `gossamer ARGS...` in the background, without a terminal. It is killed when the block
    ends.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "gossamer", *map(str, args)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finish(running: Running) -> Ended:
    """Wait for the end."""
    out, err = running.communicate(timeout=WAIT_S)
    return Ended(running.returncode, out, err)


def gossamer(
    *args: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Ended:
    """Run `gossamer ARGS...` to its end."""
    with started(*args, env=env, cwd=cwd) as running:
        return finish(running)


def typed(*args: str | Path) -> Ended:
    """The same inside this process, a second faster: for commands that end before any request."""
    out, err, argv = io.StringIO(), io.StringIO(), sys.argv
    code = 0
    sys.argv = ["gossamer", *map(str, args)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = argv
    return Ended(code, out.getvalue(), err.getvalue())


def until(is_so: Callable[[], bool], running: Running | None = None) -> None:
    """Return when the condition holds; fail if it never does, or if the process ends before."""
    deadline_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline_s, "it never came to that"
        if running is not None and running.poll() is not None:
            out, err = running.communicate()
            raise AssertionError(f"it ended before, with {running.returncode}: {out}{err}")
        time.sleep(0.002)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """A file with one JSON object per line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def archived(collection: Path) -> set[str]:
    """The URLs whose exchanges are whole in the archive, without those that a kill cut off."""
    found: set[str] = set()
    for file in sorted((collection / "archive").glob("*.warc.gz")):
        try:
            found.update(exchange.lease.url for exchange in iter_exchanges(file))
        except CorruptFile:
            continue
    return found


@dataclass
class Campaign:
    """Kills of one crawl, at moments that a seed decides, until it is finished."""

    commands: Sequence[Sequence[str | Path]]  # used in turn; all of them resume one crawl
    collection: Path
    asked: Callable[[], int]  # number of requests that the server received
    seed: int = 0
    kills: int = 0
    # number of requests, archive by then
    moments: list[tuple[int, set[str]]] = field(default_factory=list)

    def kill_times(self, times: int, *, requests: tuple[int, int]) -> None:
        """Start and kill repeatedly: four times after some requests, then at the start."""
        rng = random.Random(self.seed)
        for number in range(times):
            with started(*self.commands[number % len(self.commands)]) as running:
                if number % 5 == 4:
                    self._wait(rng.uniform(0.1, 0.8), running)
                else:
                    goal = self.asked() + rng.randint(*requests)
                    until(lambda goal=goal: self.asked() >= goal, running)  # type: ignore[misc]
                    self._wait(rng.uniform(0.0, 0.03), running)
                running.kill()
                running.wait()
            self.kills += 1
            self.moments.append((self.asked(), archived(self.collection)))

    def finish(self) -> Ended:
        return gossamer(*self.commands[0])

    def _wait(self, seconds: float, running: Running) -> None:
        with suppress(subprocess.TimeoutExpired):
            running.wait(seconds)
        assert running.poll() is None, "it ended before it could be killed"
