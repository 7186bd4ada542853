"""`gossamer crawl` on a real terminal (a pseudo terminal): the view, Ctrl-C, and NO_COLOR."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.a_site import Pages, page, site_in_thread
from support.killing import WAIT_S, typed

LINKS = "".join(f"<a href=/{number}>x</a>" for number in range(200))
MANY: Pages = {"/": page(LINKS), "*": page("x")}
PACE = ("--delay", "0.05", "--set", "politeness.address_delay_s=0", "--workers", "0")


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, master: int, process: subprocess.Popen[bytes]) -> None:
        self._master = master
        self.process = process
        self.shown = ""

    def until(self, words: str) -> None:
        """Read until the program has shown these words."""
        deadline_s = time.monotonic() + WAIT_S
        while words not in self.shown:
            assert time.monotonic() < deadline_s, self.shown
            if not self._read():
                break
        assert words in self.shown, self.shown

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.process.wait(WAIT_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], WAIT_S)
        try:
            got = os.read(self._master, 65_536) if ready else b""
        except OSError:  # the other side is closed
            got = b""
        self.shown += got.decode("utf-8", "replace")
        return bool(got)


@contextmanager
def on_a_terminal(
    words: Sequence[str | Path], *, columns: int = 80, **variables: str
) -> Iterator[Terminal]:
    master, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    left_out = ("NO_COLOR", "COLUMNS", "LINES")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    process = subprocess.Popen(
        [sys.executable, "-m", "gossamer", *map(str, words)],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # one thread
        env={**env, "TERM": "xterm-256color", **variables},
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def test_ctrl_c_is_answered_on_a_line_of_its_own(collection: Path) -> None:
    with (
        site_in_thread(MANY) as site,
        on_a_terminal(["crawl", "-c", collection, *PACE, site.url()]) as terminal,
    ):
        terminal.until("2xx 3")
        terminal.press("\x03")
        terminal.until("Stopping: waiting for requests in flight.")
        code = terminal.end()

    before, _, _ = terminal.shown.partition("Stopping: waiting")
    assert re.search(r"(\x1b\[2K|\r|\n)(\x1b\[[0-9;?]*[a-zA-Z])*$", before), before[-80:]
    assert code == 11
    assert "Stopped. Run the same command to resume." in terminal.shown
    assert "\x1b[32m" in terminal.shown  # green
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")  # the cursor


def test_a_pause_is_shown(collection: Path) -> None:
    with (
        site_in_thread(MANY) as site,
        on_a_terminal(["crawl", "-c", collection, *PACE, site.url()], columns=50) as terminal,
    ):
        terminal.until("2xx 3")
        assert typed("pause", "-c", collection).code == 0
        terminal.until("PAUSED")


def test_no_color_is_honoured(collection: Path) -> None:
    words: list[str | Path] = ["crawl", "-c", collection, *PACE, "--max-pages", "10"]
    with (
        site_in_thread(MANY) as site,
        on_a_terminal([*words, site.url()], NO_COLOR="1") as terminal,
    ):
        terminal.until("Stopped: --max-pages 10 reached.")
        code = terminal.end()

    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", terminal.shown)
    assert "of 10 pages" in terminal.shown
