"""pywb, an archive reader of other authors, in its own environment.

It is installed once, into a cache, and only run as a program, never imported.
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

_ENVIRONMENT: Final = dict(os.environ)  # unchanged by tests: it has the configuration of pip
_WANTED: Final = "pywb==2.10.0"
_INSTALL_S: Final = 300


def need_pywb() -> Path:
    """The folder of its programs. If it cannot be installed the test skips, or fails under `CI`."""
    home = Path(_ENVIRONMENT.get("HOME", "~")).expanduser()
    folder = home / ".cache" / "gossamer-test" / _WANTED
    programs = folder / "bin"
    done = folder / "installed"
    if not done.exists():
        try:
            _run(sys.executable, "-m", "venv", "--clear", str(folder))
            # Below 81: it needs pkg_resources of setuptools, which newer ones lack.
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
    """Run pywb over the collections in `folder`. Yields its URL once it listens."""
    port = free_port()
    command = [str(programs / "wayback"), "-p", str(port), "-b", "127.0.0.1", "-d", str(folder)]
    with running(command, "127.0.0.1", port):
        yield f"http://127.0.0.1:{port}"
