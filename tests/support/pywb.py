"""pywb, a reader of archives that others wrote: a program in an environment of its own.

It is installed once, into a cache, and only ever run beside the test, never imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from support.programs import free_port, running

_ENVIRONMENT: Final = dict(os.environ)  # as it was before a test changed it: pip is set up there
_WANTED: Final = "pywb==2.10.0"
_INSTALL_S: Final = 300


def need_pywb() -> Path:
    """The folder of its programs. Where it cannot be had the test skips, or fails under `CI`."""
    home = Path(_ENVIRONMENT.get("HOME", "~")).expanduser()
    folder = home / ".cache" / "gossamer-test" / _WANTED
    programs = folder / "bin"
    done = folder / "installed"
    if not done.exists():
        try:
            _run(sys.executable, "-m", "venv", "--clear", str(folder))
            # Below 81: it asks setuptools for pkg_resources, which newer ones lack.
            _run(str(programs / "pip"), "install", "-q", _WANTED, "setuptools<81")
        except (subprocess.SubprocessError, OSError) as fault:
            _miss(f"pywb cannot be had ({fault}); by hand: {programs}/pip install {_WANTED}")
        done.touch()
    return programs


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, env=_ENVIRONMENT, timeout=_INSTALL_S)


def _miss(what: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


@contextmanager
def replaying(folder: Path, programs: Path) -> Iterator[str]:
    """pywb over the collections in `folder`, from the moment it listens; its URL."""
    port = free_port()
    command = [str(programs / "wayback"), "-p", str(port), "-b", "127.0.0.1", "-d", str(folder)]
    with running(command, "127.0.0.1", port):
        yield f"http://127.0.0.1:{port}"
