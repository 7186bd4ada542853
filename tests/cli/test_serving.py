"""A browser is opened for somebody who sits at this machine, and the demo ends with the offer."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.cli.run.browser import has_screen
from support.killing import until
from support.rows import each_row


@each_row(
    ("environment", "platform", "has"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"BROWSER": "firefox"}, "linux", True),
        ({}, "darwin", True),
        ({}, "win32", True),
        ({}, "linux", False),
        ({"DISPLAY": ":0", "CI": "true"}, "linux", False),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, "linux", False),
        ({"SSH_TTY": "/dev/pts/1"}, "darwin", False),
    ],
)
def test_a_screen_is_needed(environment: dict[str, str], platform: str, has: bool) -> None:
    assert has_screen(environment, platform) is has


def on_terminal(
    words: list[str], browser: Path, is_done: Callable[[bytes], bool], typed: bytes = b""
) -> bytes:
    """What a program says on a terminal until it is done; then it is ended."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in os.environ.items() if not name.startswith("SSH_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "gossamer", *words], stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True, env={**env, "CI": "", "BROWSER": f"{browser} %s"},
    )  # fmt: skip
    os.close(theirs)
    said = bytearray()

    def goes_on() -> bool:
        nonlocal typed
        while select.select([ours], [], [], 0)[0]:
            said.extend(os.read(ours, 65536))
        if typed and b"[Y/n]" in said:
            os.write(ours, typed)
            typed = b""
        assert process.poll() is None, bytes(said)
        return is_done(bytes(said))

    try:
        until(goes_on)
    finally:
        process.terminate()
        process.wait(30)
        os.close(ours)
    return bytes(said)


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A program that notes what it was told to open."""
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\necho "$1" >> {tmp_path}/opened.new\n'
        f"mv {tmp_path}/opened.new {tmp_path}/opened\n"
    )
    script.chmod(0o755)
    return script


@pytest.mark.slow
def test_serve_opens_the_page_unless_told_not_to(tmp_path: Path, browser: Path) -> None:
    words, opened = ["serve", "-c", str(tmp_path / "none"), "--port", "0"], tmp_path / "opened"

    told = on_terminal([*words, "--no-open"], browser, lambda said: b"token " in said)
    assert b"in your browser" not in told
    assert not opened.exists()

    told = on_terminal(words, browser, lambda _: opened.exists())
    link = re.search(rb"Open (\S+)", told)
    assert link
    assert opened.read_text().split() == [link[1].decode()]


@pytest.mark.slow
def test_the_demo_ends_by_offering_the_page(tmp_path: Path, browser: Path) -> None:
    words, opened = ["demo", "-c", str(tmp_path / "demo")], tmp_path / "opened"

    told = on_terminal(words, browser, lambda _: opened.exists(), typed=b"y\n")

    assert b"Open the collection in the web interface? [Y/n]" in told
    assert b"serve -c " in told
    assert "/login?ticket=" in opened.read_text()
